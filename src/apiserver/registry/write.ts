/** The requests of writes to a store, their results, and the hooks of a resource. */
import type { Buffer } from 'node:buffer';
import type { KubeObject } from '#apimachinery/meta/types';
import type { Pace } from '#apimachinery/runtime/pace';
import type { FieldError } from '#apimachinery/validation/field';
import type { RequestSpan } from '#apiserver/request/request-span';
import type { Strategy, StrategyContext } from './resource-definition.ts';

/** Result of a write. */
export interface Stored {
  /** The object as stored, or as it would be stored in a dry run. */
  readonly object: KubeObject;
  /** The object's JSON in the storage version with a trailing newline. */
  readonly bytes: Buffer;
  readonly created: boolean;
}

export interface Deleted {
  /** The remaining object, or the last state of a removed one. */
  readonly stored: Stored;
  /** False if the object was only marked as being deleted, because of finalizers or a grace period. */
  readonly gone: boolean;
}

/** Properties of a write's request, including the two admission hooks at upstream's positions. */
export interface WriteRequest extends StrategyContext {
  /** Size of the request body, with what a patch copies; writes of large objects yield to the event loop. */
  readonly bodyBytes: number;
  /** The authorized verb, and the version of the request. undefined for the server's own writes. */
  readonly verb?: string;
  readonly apiVersion?: string;
  readonly warn: (text: string) => void;
  /** Deadline of the request in the time of `performance.now()`; 0 or undefined: none. */
  readonly deadline?: number;
  /** Set for requests that are sampled for tracing. */
  readonly span?: RequestSpan | undefined;
  /** Runs admission. `pace` is that of the larger of both objects; undefined: that of the body. */
  admit(operation: 'CREATE' | 'UPDATE', object: KubeObject, old: KubeObject | undefined, pace?: Pace): void | Promise<void>;
  validate(
    operation: 'CREATE' | 'UPDATE' | 'DELETE',
    object: KubeObject | undefined,
    old: KubeObject | undefined,
    pace?: Pace,
  ): void | Promise<void>;
}

export interface UpdateOptions {
  /** Strategy of a subresource. Default: the resource's own. */
  readonly strategy?: Strategy | undefined;
  /** True if a missing object is created even if the strategy forbids it (apply). */
  readonly forceAllowCreate?: boolean | undefined;
  /** Required uid of the stored object. */
  readonly uid?: string | undefined;
}

/** Called once after the decision about a write: with `true` if it was stored, `false` if it failed or was a dry run. */
export type Finish = (stored: boolean) => void | Promise<void>;

/**
 * Side effects of a resource's writes, such as the allocation and release of addresses and ports. The `begin…` hooks may
 * modify the object, and reject the write by throwing. Upstream: BeginCreate, BeginUpdate and AfterDelete of the generic
 * store.
 */
export interface StoreHooks {
  /** Called before the strategy prepares and validates a new object. */
  beginCreate?(object: KubeObject, request: WriteRequest): Finish | undefined | Promise<Finish | undefined>;
  /**
   * Called before the strategy prepares and validates a changed object; not for writes of subresources, which do not change
   * the spec.
   */
  beginUpdate?(object: KubeObject, old: KubeObject, request: WriteRequest): Finish | undefined | Promise<Finish | undefined>;
  /**
   * Asynchronous validation of a prepared object. Receives the errors of its strategy and returns all errors. Also called
   * for writes of subresources with the parent's object.
   */
  review?(
    object: KubeObject,
    old: KubeObject | undefined,
    request: WriteRequest,
    found: readonly FieldError[],
  ): Promise<readonly FieldError[]>;
  /** Called after an object was removed. */
  afterDelete?(object: KubeObject, request: WriteRequest): void | Promise<void>;
  /**
   * Resolves to true if the stored form differs from what a write would store now (custom resources), so that even a write
   * without changes is performed.
   */
  isStale?(key: string, object: KubeObject): Promise<boolean>;
  /**
   * Converts the encoded object of a dry run to its form after a round trip through the storage (custom resources with
   * several versions).
   */
  asStored?(bytes: Buffer): Promise<Buffer>;
}

/**
 * Returns the new object for the current one, which it must not modify; undefined stands for a missing object. `pace` is
 * that of the larger of both.
 */
export type Produce = (existing: KubeObject | undefined, pace: Pace) => KubeObject | Promise<KubeObject>;
