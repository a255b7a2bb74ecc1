import type { GatedFields } from '#apiserver/registry/gated-fields';

/** Upstream: pkg/registry/resource/resourceslice/strategy.go. */
export const sliceFields: readonly GatedFields[] = [
  { gates: ['DRADeviceTaints'], fields: ['spec.devices[].taints'] },
  {
    gates: ['DRAPartitionableDevices'],
    fields: [
      'spec.sharedCounters',
      'spec.perDeviceNodeSelection',
      'spec.devices[].consumesCounters',
      'spec.devices[].nodeName',
      'spec.devices[].nodeSelector',
      'spec.devices[].allNodes',
    ],
  },
  {
    gates: ['DRADeviceBindingConditions', 'DRAResourceClaimDeviceStatus'],
    fields: ['spec.devices[].bindingConditions', 'spec.devices[].bindingFailureConditions', 'spec.devices[].bindsToNode'],
  },
  { gates: ['DRAConsumableCapacity'], fields: ['spec.devices[].allowMultipleAllocations', 'spec.devices[].capacity{}.requestPolicy'] },
  { gates: ['DRANodeAllocatableResources'], alpha: true, fields: ['spec.devices[].nodeAllocatableResourceMappings'] },
];

const ofClaim = (spec: string): readonly GatedFields[] => [
  { gates: ['DRAPrioritizedList'], fields: [`${spec}.devices.requests[].firstAvailable`] },
  {
    gates: ['DRADeviceTaints'],
    fields: [`${spec}.devices.requests[].exactly.tolerations`, `${spec}.devices.requests[].firstAvailable[].tolerations`],
  },
  {
    gates: ['DRAConsumableCapacity'],
    fields: [
      `${spec}.devices.constraints[].distinctAttribute`,
      `${spec}.devices.requests[].exactly.capacity`,
      `${spec}.devices.requests[].firstAvailable[].capacity`,
    ],
  },
];

/** Upstream: pkg/api/resourceclaimspec/util.go. */
export const claimFields = ofClaim('spec');
export const claimTemplateFields = ofClaim('spec.spec');

/** Upstream: pkg/registry/resource/resourceclaim/strategy.go. */
export const claimStatusFields: readonly GatedFields[] = [
  { gates: ['DRAResourceClaimDeviceStatus'], fields: ['status.devices'] },
  {
    gates: ['DRAConsumableCapacity'],
    fields: [
      'status.allocation.devices.results[].shareID',
      'status.allocation.devices.results[].consumedCapacity',
      'status.devices[].shareID',
    ],
  },
  {
    gates: ['DRADeviceBindingConditions'],
    fields: ['status.allocation.devices.results[].bindingConditions', 'status.allocation.devices.results[].bindingFailureConditions'],
  },
];

/** Upstream: pkg/registry/resource/deviceclass/strategy.go. */
export const classFields: readonly GatedFields[] = [{ gates: ['DRAExtendedResource'], fields: ['spec.extendedResourceName'] }];
