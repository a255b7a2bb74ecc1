import { isForbidden, newForbidden, type StatusError } from '#apimachinery/api/errors';
import type { Attributes } from './attributes.ts';

/**
 * Returns the denial of a request: `pods "web-1" is forbidden: message`. Upstream: apiserver/pkg/admission/errors.go
 * (NewForbidden).
 */
export function forbidden(request: Pick<Attributes, 'resource' | 'name' | 'object'>, message: string): StatusError {
  const name = request.name || request.object?.metadata.name || request.object?.metadata.generateName || 'Unknown';
  return newForbidden({ group: request.resource.group, resource: request.resource.resource }, name, message);
}

/** Returns the denial for an error; a denial is returned unchanged. */
export function forbiddenBy(request: Pick<Attributes, 'resource' | 'name' | 'object'>, error: Error): Error {
  return isForbidden(error) ? error : forbidden(request, error.message);
}
