import { isForbidden, newForbidden, type StatusError } from '#apimachinery/api/errors';
import type { ObjectMeta } from '#apimachinery/meta/types';
import type { Attributes } from './attributes.ts';

/** Members of a request that its denial names. The options of a connection, such as PodExecOptions, are objects without metadata. */
export interface DeniedRequest extends Pick<Attributes, 'resource' | 'name'> {
  readonly object: object | undefined;
}

/**
 * Returns the denial of a request: `pods "web-1" is forbidden: message`. Upstream: apiserver/pkg/admission/errors.go
 * (NewForbidden).
 */
export function forbidden(request: DeniedRequest, message: string): StatusError {
  const { metadata } = (request.object ?? {}) as { readonly metadata?: ObjectMeta };
  const name = request.name || metadata?.name || metadata?.generateName || 'Unknown';
  return newForbidden({ group: request.resource.group, resource: request.resource.resource }, name, message);
}

/** Returns the denial for an error; a denial is returned unchanged. */
export function forbiddenBy(request: DeniedRequest, error: Error): Error {
  return isForbidden(error) ? error : forbidden(request, error.message);
}
