import { isForbidden, newForbidden, type StatusError } from '#apimachinery/api/errors';
import type { Attributes } from './attributes.ts';

/** The denial of a request: `pods "web-1" is forbidden: message`. Upstream: apiserver/pkg/admission/errors.go (NewForbidden). */
export function forbidden(request: Pick<Attributes, 'resource' | 'name' | 'object'>, message: string): StatusError {
  const name = request.name || request.object?.metadata.name || request.object?.metadata.generateName || 'Unknown';
  return newForbidden({ group: request.resource.group, resource: request.resource.resource }, name, message);
}

/** The denial for an error; one that is a denial already stays as it is. */
export function forbiddenBy(request: Pick<Attributes, 'resource' | 'name' | 'object'>, error: Error): Error {
  return isForbidden(error) ? error : forbidden(request, error.message);
}
