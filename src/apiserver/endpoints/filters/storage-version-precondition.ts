import { groupResourceString, newServiceUnavailable } from '#apimachinery/api/errors';
import type { GroupResource } from '#apimachinery/meta/types';
import { respondError } from '#apiserver/endpoints/handlers/responses';
import type { Filter } from '#apiserver/request/request-context';
import type { RequestInfo } from '#apiserver/request/request-info';

/** Resources whose StorageVersions this server has not written yet. */
export interface StorageVersionBarrier {
  /** True if nothing is pending, which is final. */
  readonly completed: boolean;
  isPending(resource: GroupResource): boolean;
  /** Error of the last attempt for a resource; undefined if none failed. */
  lastError(resource: GroupResource): string | undefined;
}

const reading = new Set(['get', 'list', 'watch']);

/**
 * Rejects writes of a resource until its StorageVersion is written for this server. The server's own writes do not pass the chain.
 * Upstream: endpoints/filters/storageversion.go.
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

/** True for StorageVersions and for the identity leases of servers. */
function isExempt({ apiGroup, resource, namespace }: RequestInfo): boolean {
  return (
    (apiGroup === 'internal.apiserver.k8s.io' && resource === 'storageversions') ||
    (apiGroup === 'coordination.k8s.io' && resource === 'leases' && namespace === 'kube-system')
  );
}
