import { expect, it } from 'vitest';
import type { ResourceClaim, ResourceClaimStatus } from '#kubernetes/schema/resource_v1.gen';
import { validateResourceClaimStatusUpdate } from './resource-claim-status.ts';

const result = { request: 'a', driver: 'd.example.com', pool: 'p', device: 'd' };
const device = { driver: 'd.example.com', pool: 'p', device: 'd' };
const consumer = { resource: 'pods', name: 'web', uid: 'u' };
const opaque = { driver: 'd.example.com', parameters: {} };
const allocated = (rest = {}, config: object[] = []) => ({ allocation: { devices: { results: [{ ...result, ...rest }], config } } });
const claim = (status: ResourceClaimStatus, metadata = {}): ResourceClaim => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaim',
  metadata: { name: 'c', ...metadata },
  spec: { devices: { requests: [{ name: 'a' }, { name: 'b', firstAvailable: [{ name: 'c' }] }] } },
  status,
});
const noRequest = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

it.each<[string, ResourceClaimStatus, string[]]>([
  ['an allocation', allocated(), []],
  ['for a subrequest', allocated({ request: 'b/c' }), []],
  [
    'for an unknown request',
    allocated({ request: 'x' }),
    [`status.allocation.devices.results[0].request: Invalid value: "x": ${noRequest}`],
  ],
  [
    'for an unknown subrequest',
    allocated({ request: 'b/x' }),
    [`status.allocation.devices.results[0].request: Invalid value: "b/x": ${noRequest}`],
  ],
  ['a share', allocated({ shareID: '3d57df76-60b6-4862-bad0-80cb41c6ad5d' }), []],
  [
    'a malformed share id',
    allocated({ shareID: 'x' }),
    ['status.allocation.devices.results[0].shareID: Invalid value: "x": error validating uid: invalid UUID length: 1'],
  ],
  [
    'an uppercase share id',
    allocated({ shareID: '3D57DF76-60B6-4862-BAD0-80CB41C6AD5D' }),
    [
      'status.allocation.devices.results[0].shareID: Invalid value: "3D57DF76-60B6-4862-BAD0-80CB41C6AD5D": uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters',
    ],
  ],
  ['its configuration', allocated({}, [{ source: 'FromClass', requests: ['a'], opaque }]), []],
  [
    'a configuration without a source',
    allocated({}, [{ source: 'X', opaque }]),
    ['status.allocation.devices.config[0].source: Unsupported value: "X": supported values: "FromClaim", "FromClass"'],
  ],
  ['reserved', { ...allocated(), reservedFor: [consumer] }, []],
  [
    'a reservation without an allocation',
    { reservedFor: [consumer] },
    ['status.reservedFor: Forbidden: may not be specified when `allocated` is not set'],
  ],
  ['reserved twice', { ...allocated(), reservedFor: [consumer, consumer] }, ['status.reservedFor[1]: Duplicate value: "u"']],
  ['a device', { ...allocated(), devices: [{ ...device, data: {}, networkData: { ips: ['10.0.0.1/24'] } }] }, []],
  [
    'a repeated device',
    { ...allocated(), devices: [device, device] },
    ['status.devices[1]: Duplicate value: {"Driver":"d.example.com","Pool":"p","Device":"d","ShareID":""}'],
  ],
  [
    'a device that is not allocated',
    { ...allocated(), devices: [{ ...device, device: 'x' }] },
    [
      'status.devices[0]: Invalid value: {"Driver":"d.example.com","Pool":"p","Device":"x","ShareID":""}: must be an allocated device in the claim',
    ],
  ],
  [
    'an overlong interface name',
    { ...allocated(), devices: [{ ...device, networkData: { interfaceName: 'x'.repeat(257) } }] },
    ['status.devices[0].networkData.interfaceName: Too long: may not be more than 256 bytes'],
  ],
])('%s', (_, status, errors) => {
  expect(validateResourceClaimStatusUpdate(claim(status), claim({})).map(String)).toEqual(errors);
});

it('rejects a change of an allocation until it is removed', () => {
  const changed = validateResourceClaimStatusUpdate(claim(allocated({ device: 'e' })), claim(allocated()));
  expect(changed.map(String)).toEqual([expect.stringMatching(/^status.allocation: Invalid value: .*: field is immutable$/)]);
  expect(validateResourceClaimStatusUpdate(claim({}), claim(allocated()))).toEqual([]);
});

it('rejects new consumers of a claim that is being deleted', () => {
  const deleted = { deletionTimestamp: '2026-11-21T12:00:00Z' };
  const reserved = claim({ ...allocated(), reservedFor: [consumer] }, deleted);
  expect(validateResourceClaimStatusUpdate(reserved, claim(allocated(), deleted)).map(String)).toEqual([
    'status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set',
  ]);
  expect(validateResourceClaimStatusUpdate(reserved, reserved)).toEqual([]);
});
