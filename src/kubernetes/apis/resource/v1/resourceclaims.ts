import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { stringColumn } from '#kubernetes/apis/columns';
import { withGatedFields } from '#apiserver/registry/gated-fields';
import { claimFields, claimStatusFields } from '#kubernetes/apis/resource/gated-fields';
import { validateResourceClaim, validateResourceClaimUpdate } from '#kubernetes/apis/resource/validation/resource-claim';
import { validateResourceClaimStatusUpdate } from '#kubernetes/apis/resource/validation/resource-claim-status';
import { statusSubresource, withoutStatus } from '#kubernetes/apis/strategy';
import type { AllocatedDeviceStatus, ResourceClaim } from '#kubernetes/schema/resource_v1.gen';
import { defaultResourceClaim } from './defaults.ts';

/** Drops the status of devices that are no longer allocated. */
function dropDeallocatedDevices(claim: ResourceClaim, old: ResourceClaim): void {
  const id = ({ driver, pool, device, shareID }: AllocatedDeviceStatus) => JSON.stringify([driver, pool, device, shareID]);
  const deallocated = new Set((old.status?.allocation?.devices?.results ?? []).map(id));
  for (const result of claim.status?.allocation?.devices?.results ?? []) deallocated.delete(id(result));
  if (!claim.status?.devices) return;
  claim.status.devices = claim.status.devices.filter((device) => !deallocated.has(id(device)));
  if (claim.status.devices.length === 0) delete claim.status.devices;
}

export default defineResource<ResourceClaim>({
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'ResourceClaim',
  resource: 'resourceclaims',
  storageVersionHash: 'wgAZaHcZxUg=',
  schema: 'resource_v1.ResourceClaim',
  storagePath: 'resourceclaims',
  defaults: defaultResourceClaim,
  strategy: withoutStatus(
    withGatedFields(claimFields, {
      returnsDeletedObject: true,
      validate: validateResourceClaim,
      validateUpdate: validateResourceClaimUpdate,
    }),
  ),
  columns: [
    nameColumn,
    stringColumn('State', 'A summary of the current state (allocated, pending, reserved, etc.).', ({ metadata, status }) => {
      const deleted = metadata.deletionTimestamp !== undefined;
      const states = deleted ? ['deleted'] : [];
      if (status?.allocation) states.push('allocated', ...(status.reservedFor?.length ? ['reserved'] : []));
      else if (!deleted) states.push('pending');
      return states.join(',');
    }),
    ageColumn,
  ],
  subresources: {
    status: statusSubresource({
      metadata: 'keep',
      strategy: withGatedFields(claimStatusFields, {
        prepareForUpdate: dropDeallocatedDevices,
        validateUpdate: validateResourceClaimStatusUpdate,
      }),
    }),
  },
});
