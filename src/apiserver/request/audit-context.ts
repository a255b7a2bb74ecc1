import type { Buffer } from 'node:buffer';
import type { KubeObject, Status } from '#apimachinery/meta/types';
import type { StructType } from '#apimachinery/runtime/schema';

/** Audit record of one request, which handlers fill in. Upstream: apiserver/pkg/audit/context.go (AuditContext). */
export interface AuditContext {
  /** True if the policy records the object of the request. */
  readonly recordsRequest: boolean;
  /** True if the policy records the object of the response. */
  readonly recordsResponse: boolean;
  /** True while a response waits for its audit events to be written; no other response can follow. */
  readonly holdsAnswer: boolean;
  /** Records the decoded object in the version that the client sent. */
  requestObject(object: KubeObject, type: StructType): void;
  /** Records a parsed patch; called only if `recordsRequest`. */
  requestPatch(patch: unknown): void;
  responseStatus(status: Status): void;
  /** Records an object of the response as JSON; called only if `recordsResponse`. */
  responseObject(json: Buffer): void;
  /** Called before the head of the response is sent. */
  started(code: number): void;
  /** Calls `send`, which sends the whole response, after the events that precede it were handed over. */
  completedBy(send: () => void): void;
}
