import { expect, it } from 'vitest';
import type { Device, ResourceSlice } from '#kubernetes/schema/resource_v1.gen';
import { validateResourceSlice } from './resource-slice.ts';

const slice = (device: Device): ResourceSlice => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceSlice',
  metadata: { name: 's' },
  spec: { driver: 'd.x', pool: { name: 'p', resourceSliceCount: 1 }, allNodes: true, devices: [{ name: 'a', ...device }] },
});
const policy = (requestPolicy: object): Device => ({ allowMultipleAllocations: true, capacity: { c: { value: '10', requestPolicy } } });
const policyPath = 'spec.devices[0].capacity[c].requestPolicy';

it.each<[string, Device, string[]]>([
  ['only a name', {}, []],
  [
    'an attribute without a value',
    { attributes: { a: {} } },
    ['spec.devices[0].attributes[a]: Invalid value: "": exactly one value must be specified'],
  ],
  [
    'a policy without multiple allocations',
    { capacity: { c: { value: '1', requestPolicy: {} } } },
    [`${policyPath}: Forbidden: allowMultipleAllocations must be true`],
  ],
  [
    'a range without a default',
    policy({ validRange: { min: '1' } }),
    [`${policyPath}.default: Required value: required when validRange is defined`],
  ],
  [
    'a default that is not a multiple of the step',
    policy({ default: '4', validRange: { min: '1', step: '2' } }),
    [`${policyPath}.validRange.step: Invalid value: "4": value is not a multiple of a given step (2) from (1)`],
  ],
  [
    'its own node name',
    { nodeName: 'n' },
    [
      'spec.devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec',
    ],
  ],
])('a device with %s', (_, device, want) => {
  expect(validateResourceSlice(slice(device)).map(String)).toEqual(want);
});
