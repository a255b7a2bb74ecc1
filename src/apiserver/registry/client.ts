import type { GroupVersionResource, KubeObject } from '#apimachinery/meta/types';
import type { OfType } from './kind.ts';
import type { UserInfo } from '#apiserver/request/user-info';

export interface ClientTarget extends GroupVersionResource {
  /** Subresource. Default: the resource itself. */
  readonly subresource?: string;
}

/**
 * Reads and writes objects in process. Returned objects belong to the caller. If the target is a Kind, they have its type:
 * `client.get(Pod, 'shop', 'web')`.
 */
export interface ObjectClient {
  /** Returns the newest state; undefined if the object does not exist. */
  get<T extends KubeObject = KubeObject>(target: ClientTarget & OfType<T>, namespace: string, name: string): Promise<T | undefined>;
  /**
   * Returns the newest state of the objects of a namespace, or of all namespaces if it is empty. In a server, its informer of the
   * resource has them by then.
   */
  list<T extends KubeObject = KubeObject>(target: ClientTarget & OfType<T>, namespace: string): Promise<T[]>;
  /** Creates an object and returns it as stored. Rejects with AlreadyExists. */
  create<T extends KubeObject>(target: ClientTarget & OfType<T>, object: T): Promise<T>;
  /**
   * Updates an object to the result of `change`; undefined leaves it unchanged. After a conflict, `change` is called again
   * with the newer object; an exception from it ends the update. Returns the stored object; undefined if it was unchanged or
   * does not exist.
   */
  update<T extends KubeObject = KubeObject>(
    target: ClientTarget & OfType<T>,
    namespace: string,
    name: string,
    change: (object: T) => T | undefined,
  ): Promise<T | undefined>;
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

/** Options of a deletion. Upstream: meta/v1 DeleteOptions. */
export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  readonly preconditions?: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined };
}

export interface ListOptions {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface ApplyOptions {
  /** Takes over the fields of other managers. */
  readonly force?: boolean;
  /** Default: that of the client's other writes. */
  readonly fieldManager?: string;
}

/** A patch in one of the forms of the API. */
export type ObjectPatch =
  | { readonly type: 'json'; readonly patch: readonly object[] }
  | { readonly type: 'merge' | 'strategic'; readonly patch: object };

/**
 * Acts as one user by requests within the process: with authorization, admission and audit. Rejects with the Status that the user would
 * get. Returned objects belong to the caller.
 */
export interface RequestClient extends ObjectClient {
  /** Returns the objects of a namespace, or of all namespaces if it is empty, in chunks of the API. */
  list<T extends KubeObject = KubeObject>(target: ClientTarget & OfType<T>, namespace: string, options?: ListOptions): Promise<T[]>;
  /** Replaces an object by one request, without a retry. Rejects with Conflict unless it has the stored resourceVersion (or none). */
  replace<T extends KubeObject>(target: ClientTarget & OfType<T>, object: T): Promise<T>;
  /** Patches an object and returns it as stored. Rejects with NotFound if it does not exist. */
  patch<T extends KubeObject = KubeObject>(
    target: ClientTarget & OfType<T>,
    namespace: string,
    name: string,
    patch: ObjectPatch,
  ): Promise<T>;
  /** Applies an object (server-side apply). Rejects with Conflict if another manager owns a field, unless `force`. */
  apply<T extends KubeObject>(target: ClientTarget & OfType<T>, object: T, options?: ApplyOptions): Promise<T>;
  /** Returns the JSON of a path that is not an object's, such as discovery. `accept`: media type of the answer. */
  read<T>(path: string, accept?: string): Promise<T>;
  /** Deletes an object with options. Returns false if it does not exist. */
  remove(target: ClientTarget, namespace: string, name: string, options?: DeleteOptions): Promise<boolean>;
  /** Deletes the objects of a namespace that match. */
  removeAll(target: ClientTarget, namespace: string, options?: DeleteOptions & ListOptions): Promise<void>;
}
