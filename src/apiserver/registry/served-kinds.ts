import type { GroupVersionKind, KubeObject } from '#apimachinery/meta/types';

/** The present objects of one kind, in its version, read from the server's own cache. What it gives must not be changed. */
export interface KindObjects {
  readonly namespaced: boolean;
  /** Whether there is an answer at once; else `get` and `list` throw. */
  readonly ready: boolean;
  whenReady(): Promise<void>;
  get(namespace: string, name: string): KubeObject | undefined;
  /** Those of a namespace; of all of them for the empty one. */
  list(namespace: string): KubeObject[];
}

/** The kinds that are served now, built-in and custom ones. */
export interface ServedKinds {
  /** undefined for a kind that is not served, or has no objects of its own. */
  find(kind: GroupVersionKind): KindObjects | undefined;
}

export const ServedKinds = Symbol.for('kubenest.ServedKinds');
