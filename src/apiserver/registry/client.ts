import type { GroupVersionResource, KubeObject } from '#apimachinery/meta/types';
import type { UserInfo } from '#apiserver/request/user-info';

export interface ClientTarget extends GroupVersionResource {
  /** Of the resource itself unless named. */
  readonly subresource?: string;
}

/** Reads and writes objects in process, without a connection. What it gives is the caller's own. */
export interface ObjectClient {
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

/** As the server itself: through the same stores, strategies and validation as requests, without authorization and admission. */
export interface Client extends ObjectClient {
  /** As somebody else: through authorization, admission and audit, as if the user had asked. Rejects with what the user would be told. */
  asUser(user: UserInfo): ObjectClient;
}

export const Client = Symbol.for('kubenest.Client');
