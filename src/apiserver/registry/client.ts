import type { GroupVersionResource, KubeObject } from '#apimachinery/meta/types';
import type { UserInfo } from '#apiserver/request/user-info';

export interface ClientTarget extends GroupVersionResource {
  /** Subresource. Default: the resource itself. */
  readonly subresource?: string;
}

/** Reads and writes objects in process. Returned objects belong to the caller. */
export interface ObjectClient {
  /** Returns the newest state; undefined if the object does not exist. */
  get(target: ClientTarget, namespace: string, name: string): Promise<KubeObject | undefined>;
  /** Creates an object and returns it as stored. Rejects with AlreadyExists. */
  create(target: ClientTarget, object: KubeObject): Promise<KubeObject>;
  /**
   * Updates an object to the result of `change`; undefined leaves it unchanged. After a conflict, `change` is called again
   * with the newer object; an exception from it ends the update. Returns the stored object; undefined if it was unchanged or
   * does not exist.
   */
  update(
    target: ClientTarget,
    namespace: string,
    name: string,
    change: (object: KubeObject) => KubeObject | undefined,
  ): Promise<KubeObject | undefined>;
  /** Deletes an object. Succeeds if it does not exist. */
  delete(target: ClientTarget, namespace: string, name: string): Promise<void>;
}

/**
 * Acts as the server itself: uses the same stores, strategies and validation as requests, without authorization and
 * admission.
 */
export interface Client extends ObjectClient {
  /**
   * Returns a client that acts as the user: with authorization, admission and audit, as for the user's own requests. Rejects
   * with the Status that the user would get.
   */
  asUser(user: UserInfo): ObjectClient;
}

export const Client = Symbol.for('kubenest.Client');
