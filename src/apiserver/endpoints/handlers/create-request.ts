import { metaSchema } from '#apimachinery/meta/schema/schema';
import type { GroupVersionKind, KubeObject, Status } from '#apimachinery/meta/types';
import { encodeLine } from '#apimachinery/runtime/encode';
import type { RequestContext } from '#apiserver/request/request-context';
import type { WriteRequest } from '#apiserver/registry/write';
import { type Negotiated, negotiate } from './negotiation.ts';
import { respondObject } from './object-responses.ts';
import { dedupOwnerReferences } from './owner-references.ts';
import { parseWriteOptions, type WriteQuery } from './query-options.ts';
import { decodeBody } from './decode-body.ts';
import { applyFieldValidation } from './field-validation.ts';
import { inputMediaType, readRequestBody } from './request-body.ts';
import type { ResourceEndpoint } from './resource-endpoint.ts';
import { respondJson } from './responses.ts';
import { newWriteRequest } from './write-request.ts';
import { ensureNamespaceMatches } from '#apiserver/registry/namespace-scope';
import { wipeSystemFields } from '#apiserver/registry/system-fields';

/** A decoded POST whose object is not simply stored. */
export interface CreateRequest<T extends KubeObject> {
  readonly object: T;
  readonly negotiated: Negotiated;
  readonly options: WriteQuery;
  readonly request: WriteRequest;
}

export interface CreateRequestOptions<T extends KubeObject> {
  /** True for other accepted group versions of the kind. */
  readonly alsoAccepts?: (kind: GroupVersionKind) => boolean;
  /** True if system fields such as the uid are kept, because they are preconditions. */
  readonly keepsSystemFields?: boolean;
  readonly defaults?: (object: T) => void;
}

/**
 * Reads a POST up to the point at which upstream calls the storage: negotiation, decoding, defaults, managedFields and mutating
 * admission. The caller runs validating admission (`request.validate`).
 */
export async function readCreate<T extends KubeObject>(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  how: CreateRequestOptions<T> = {},
): Promise<CreateRequest<T>> {
  const negotiated = negotiate(context.header('accept'), endpoint.restrictions);
  const mediaType = inputMediaType(context, endpoint);
  const body = await readRequestBody(context);
  const options = parseWriteOptions(context.searchParams, 'CreateOptions');
  const decoded = await decodeBody(body, mediaType, { ...endpoint, alsoAccepts: how.alsoAccepts }, context.deadline);
  const object = decoded.object as T;
  applyFieldValidation(context, decoded, options.fieldValidation, endpoint);
  how.defaults?.(object);
  context.audit?.requestObject(object, endpoint.type);
  if (!how.keepsSystemFields) wipeSystemFields(object.metadata);
  ensureNamespaceMatches(endpoint.definition, context.info.namespace, object);
  dedupOwnerReferences(context, object);
  const request = newWriteRequest(context, endpoint, options, body.length);
  await request.admit('CREATE', object, undefined);
  return { object, negotiated, options, request };
}

/** Responds with an object that is not stored. */
export function respondValue(
  context: RequestContext,
  endpoint: ResourceEndpoint,
  status: number,
  object: KubeObject,
  negotiated: Negotiated,
): void | Promise<void> {
  return respondObject(context, endpoint, status, encodeLine(endpoint.type, object), negotiated);
}

/** Responds with success to a creation that returns no object. */
export function respondCreated(context: RequestContext, negotiated: Negotiated): void {
  const status: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
  context.audit?.responseStatus(status);
  const type = metaSchema.struct('meta_v1.Status');
  respondJson(context, 201, encodeLine(type, status), negotiated, type);
}
