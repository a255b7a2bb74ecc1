import { newBadRequest } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import type { ResourceDefinition } from './resource-definition.ts';

/**
 * Checks an object's namespace against the namespace of the URL: fills in an empty one and rejects a different one;
 * cluster-scoped objects have none. Upstream: registry/rest/meta.go.
 */
export function ensureNamespaceMatches(
  { namespaced }: Pick<ResourceDefinition, 'namespaced'>,
  namespace: string,
  { metadata }: KubeObject,
): void {
  if (!namespaced) {
    delete metadata.namespace;
    return;
  }
  if (!metadata.namespace) metadata.namespace = namespace;
  else if (metadata.namespace !== namespace) {
    throw newBadRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}
