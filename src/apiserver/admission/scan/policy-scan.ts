import type { GroupVersionResource, KubeObject } from '#apimachinery/meta/types';
import type { PluginVerdict } from './object-scan.ts';

/** A stored object that was evaluated. */
export interface ScannedObject {
  readonly resource: GroupVersionResource;
  /** The object's identity: apiVersion, kind, name, namespace and uid. */
  readonly object: KubeObject;
  readonly verdicts: readonly PluginVerdict[];
}

/** Revisions up to which objects were evaluated, by storage path. Empty before the first scan. */
export type ScanProgress = Map<string, number>;

/** Evaluates the validating plugins of the server on its own stored objects. */
export interface PolicyScan {
  /**
   * Evaluates the objects that were written since `progress`, which it advances. Yields to the event loop every few milliseconds. Ends
   * early when the signal aborts.
   */
  objects(progress: ScanProgress, signal: AbortSignal): AsyncIterable<ScannedObject>;
  /** True if the object is still stored. */
  isStored(scanned: Pick<ScannedObject, 'resource' | 'object'>): boolean;
  /**
   * Returns a text that changes with whatever verdicts depend on besides the objects: plugins, policies, bindings, parameters, namespaces,
   * limits.
   */
  inputs(): string;
}

export const PolicyScan = Symbol.for('kubenest.PolicyScan');
