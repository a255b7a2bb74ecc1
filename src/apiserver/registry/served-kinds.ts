import type { GroupVersionKind, KubeObject } from '#apimachinery/meta/types';

/** The current objects of a kind in its version, read from the server's own cache. They must not be modified. */
export interface KindObjects {
  readonly namespaced: boolean;
  /** True if the cache is ready; otherwise `get` and `list` throw. */
  readonly ready: boolean;
  whenReady(): Promise<void>;
  get(namespace: string, name: string): KubeObject | undefined;
  /** Returns the objects of a namespace, or of all namespaces if it is empty. */
  list(namespace: string): KubeObject[];
}

/** The currently served kinds, built-in and custom. */
export interface ServedKinds {
  /** Returns the objects of a kind; undefined if it is not served or has no stored objects. */
  find(kind: GroupVersionKind): KindObjects | undefined;
}

export const ServedKinds = Symbol.for('kubenest.ServedKinds');
