import { groupResourceString, newServiceUnavailable } from '#apimachinery/api/errors';
import type { GroupResource } from '#apimachinery/meta/types';
import { respondError } from '#apiserver/endpoints/handlers/responses';
import type { Filter } from '#apiserver/request/request-context';
import type { RequestInfo } from '#apiserver/request/request-info';

/** Which resources' StorageVersions this server has yet to write. */
export interface StorageVersionBarrier {
  /** Nothing is pending, and never will be again. */
  readonly completed: boolean;
  isPending(resource: GroupResource): boolean;
  /** Why the last attempt failed; undefined if none did. */
  lastError(resource: GroupResource): string | undefined;
}

const reading = new Set(['get', 'list', 'watch']);

/**
 * Refuses writes of a resource until it is on record in which version this server stores it. What the server itself writes does not
 * come by the chain. Upstream: endpoints/filters/storageversion.go.
 */
export function withStorageVersionPrecondition(barrier: StorageVersionBarrier): Filter {
  return (next) => (context) => {
    const { info } = context;
    if (barrier.completed || !info.isResourceRequest || reading.has(info.verb) || isExempt(info)) return next(context);
    const resource = { group: info.apiGroup, resource: info.resource };
    if (!barrier.isPending(resource)) return next(context);
    const reason = barrier.lastError(resource) ?? '<nil>';
    const message = `wait for storage version registration to complete for resource: ${groupResourceString(resource)}, last seen error: ${reason}`;
    return respondError(context, newServiceUnavailable(message));
  };
}

/** StorageVersions themselves, and the leases by which servers know each other. */
function isExempt({ apiGroup, resource, namespace }: RequestInfo): boolean {
  return (
    (apiGroup === 'internal.apiserver.k8s.io' && resource === 'storageversions') ||
    (apiGroup === 'coordination.k8s.io' && resource === 'leases' && namespace === 'kube-system')
  );
}
