import type { GroupVersionResource, KubeObject } from '#apimachinery/meta/types';

export interface ClientTarget extends GroupVersionResource {
  /** Of the resource itself unless named. */
  readonly subresource?: string;
}

/**
 * Reads and writes objects in process as the server itself: through the same stores, strategies and validation as requests,
 * without a connection, authorization or admission. What it gives is the caller's own.
 */
export interface Client {
  /** undefined if there is none. Reads the newest state. */
  get(target: ClientTarget, namespace: string, name: string): Promise<KubeObject | undefined>;
  /** Returns what is stored. Rejects with AlreadyExists. */
  create(target: ClientTarget, object: KubeObject): Promise<KubeObject>;
  /**
   * Changes an object by what `change` makes of it; undefined leaves it. `change` is called again with the newer object where
   * another writer was faster; what it throws ends the update. Returns what is stored; undefined if it was left or is not there.
   */
  update(
    target: ClientTarget,
    namespace: string,
    name: string,
    change: (object: KubeObject) => KubeObject | undefined,
  ): Promise<KubeObject | undefined>;
  /** One that is gone already is fine. */
  delete(target: ClientTarget, namespace: string, name: string): Promise<void>;
}

export const Client = Symbol.for('kubenest.Client');
