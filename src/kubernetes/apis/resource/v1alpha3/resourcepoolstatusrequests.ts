import { defineResource } from '#apiserver/registry/resource-definition';
import { nameColumn, translateTimestampSince } from '#apiserver/registry/table-columns';
import { integerColumn, stringColumn } from '#kubernetes/apis/columns';
import {
  validateResourcePoolStatusRequest,
  validateResourcePoolStatusRequestStatusUpdate,
  validateResourcePoolStatusRequestUpdate,
} from '#kubernetes/apis/resource/validation/resource-pool-status-request';
import { keepField, statusSubresource } from '#kubernetes/apis/strategy';
import type { PoolStatus, ResourcePoolStatusRequest } from '#kubernetes/schema/resource_v1alpha3.gen';

const defaultLimit = 100;

/** Returns the condition that ended the request, the first one if there are several. */
function endOf({ status }: ResourcePoolStatusRequest) {
  return (status?.conditions ?? []).find(({ type, status: value }) => (type === 'Complete' || type === 'Failed') && value === 'True');
}

/** Returns the sum over all pools; a dash before a result and after a failure. */
function total(request: ResourcePoolStatusRequest, amount: (pool: PoolStatus) => number | undefined): string {
  if (!request.status || endOf(request)?.type === 'Failed') return '-';
  return String((request.status.pools ?? []).reduce((sum, pool) => sum + (amount(pool) ?? 0), 0));
}

function stateOf(request: ResourcePoolStatusRequest): string {
  const state = endOf(request)?.type ?? 'Pending';
  const { poolCount = 0, pools = [] } = request.status ?? {};
  return state === 'Complete' && poolCount > pools.length ? `Complete (${pools.length}/${poolCount} pools)` : state;
}

export default defineResource<ResourcePoolStatusRequest>({
  group: 'resource.k8s.io',
  version: 'v1alpha3',
  kind: 'ResourcePoolStatusRequest',
  resource: 'resourcepoolstatusrequests',
  namespaced: false,
  storageVersionHash: 'iy583CtMwdY=',
  schema: 'resource_v1alpha3.ResourcePoolStatusRequest',
  storagePath: 'resourcepoolstatusrequests',
  defaults: (request) => {
    request.spec = { ...request.spec, limit: request.spec?.limit ?? defaultLimit };
  },
  strategy: {
    allowUnconditionalUpdate: false,
    returnsDeletedObject: true,
    resetFields: [['status']],
    prepareForCreate(request) {
      delete request.status;
    },
    prepareForUpdate(request, old) {
      keepField(request, old, 'status');
    },
    validate: validateResourcePoolStatusRequest,
    validateUpdate: validateResourcePoolStatusRequestUpdate,
  },
  columns: [
    nameColumn,
    stringColumn('Driver', 'The driver to query pools for.', ({ spec }) => spec?.driver ?? ''),
    stringColumn('Total', 'Total number of devices across all pools.', (request) => total(request, (pool) => pool.totalDevices)),
    stringColumn('Available', 'Number of available devices across all pools.', (request) =>
      total(request, (pool) => pool.availableDevices),
    ),
    stringColumn('Allocated', 'Number of allocated devices across all pools.', (request) =>
      total(request, (pool) => pool.allocatedDevices),
    ),
    stringColumn('Unavailable', 'Number of unavailable devices across all pools.', (request) =>
      total(request, (pool) => pool.unavailableDevices),
    ),
    stringColumn('Errors', 'Number of pools with validation errors.', (request) =>
      total(request, (pool) => (pool.validationError === undefined ? 0 : 1)),
    ),
    integerColumn('Pools', 'Total number of matching pools.', ({ status }) => status?.poolCount ?? 0),
    stringColumn('Status', 'Processing status.', stateOf),
    stringColumn('Completed', 'Time since the observation completed.', (request, { now }) => {
      const end = endOf(request);
      return end?.type === 'Complete' ? translateTimestampSince(end.lastTransitionTime, now) : '<none>';
    }),
  ],
  subresources: {
    status: statusSubresource({ metadata: 'keep', strategy: { validateUpdate: validateResourcePoolStatusRequestStatusUpdate } }),
  },
});
