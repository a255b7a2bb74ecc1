import { describe, expect, it } from 'vitest';
import type { DeviceClaim, ResourceClaim, ResourceClaimTemplate } from '#kubernetes/schema/resource_v1.gen';
import { validateDeviceClass } from './device-class.ts';
import {
  validateResourceClaim,
  validateResourceClaimTemplate,
  validateResourceClaimTemplateUpdate,
  validateResourceClaimUpdate,
} from './resource-claim.ts';

const claim = (devices: DeviceClaim): ResourceClaim => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaim',
  metadata: { name: 'c', namespace: 'n', resourceVersion: '1' },
  spec: { devices },
});
const exactly = { deviceClassName: 'x', allocationMode: 'ExactCount', count: 1 };
const requests = [{ name: 'a', exactly }];

describe('a claim', () => {
  it.each<[string, DeviceClaim, string[]]>([
    ['with a request', { requests }, []],
    [
      'with an empty request',
      { requests: [{ name: 'a' }] },
      ['spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required'],
    ],
    [
      'with a count and the mode All',
      { requests: [{ name: 'a', exactly: { ...exactly, allocationMode: 'All' } }] },
      ["spec.devices.requests[0].exactly.count: Invalid value: 1: must not be specified when allocationMode is 'All'"],
    ],
    ['with two requests of the same name', { requests: [...requests, ...requests] }, ['spec.devices.requests[1]: Duplicate value: "a"']],
    [
      'with a constraint on another request',
      { requests, constraints: [{ requests: ['b'], matchAttribute: 'd.x/y' }] },
      [
        `spec.devices.constraints[0].requests[0]: Invalid value: "b": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'`,
      ],
    ],
    [
      'with parameters that are not an object',
      { config: [{ opaque: { driver: 'd', parameters: [] } }] },
      ['spec.devices.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object'],
    ],
  ])('%s', (_, devices, want) => {
    expect(validateResourceClaim(claim(devices), {}).map(String)).toEqual(want);
  });

  it('a template is immutable and fully validated', () => {
    const template = (deviceClassName: string): ResourceClaimTemplate => ({
      apiVersion: 'resource.k8s.io/v1',
      kind: 'ResourceClaimTemplate',
      metadata: { name: 't', namespace: 'n', resourceVersion: '1' },
      spec: { spec: { devices: { requests: [{ name: 'a', exactly: { ...exactly, deviceClassName } }] } } },
    });
    const errors = validateResourceClaimTemplateUpdate(template(''), template('x'), {}).map(({ field, type }) => `${field}: ${type}`);
    expect(errors).toEqual(['spec.spec.devices.requests[0].exactly.deviceClassName: FieldValueRequired', 'spec: FieldValueInvalid']);
    expect(validateResourceClaimTemplateUpdate(template('x'), template('x'), {})).toEqual([]);
  });

  it('accepts only labels and annotations in the metadata of a template', () => {
    const spec = { metadata: { name: 'n', uid: 'u', labels: { a: 'b' } }, spec: { devices: { requests: [{ name: 'a', exactly }] } } };
    expect(validateResourceClaimTemplate({ spec } as unknown as ResourceClaimTemplate, {}).map(String)).toEqual([
      'spec.metadata.name: Forbidden: cannot be set',
      'spec.metadata.uID: Forbidden: cannot be set',
    ]);
  });

  it('is immutable', () => {
    expect(validateResourceClaimUpdate(claim({ requests: [] }), claim({ requests })).map(String)).toEqual([
      'spec: Invalid value: {"Devices":{"Requests":[],"Constraints":null,"Config":null}}: field is immutable',
    ]);
  });
});

it.each([
  ['device.driver == "x"', []],
  ['device.attributes["d.x"].a', []],
  ['device.driver', ['must evaluate to bool or the unknown type, not string']],
  ['device.', ['compilation failed: ERROR: <input>:1:8']],
])('selects a device by %s', (expression, want) => {
  const object = { apiVersion: 'resource.k8s.io/v1', kind: 'DeviceClass', metadata: {}, spec: { selectors: [{ cel: { expression } }] } };
  const found = validateDeviceClass(object).map(({ detail }) => detail);
  expect(found.map((detail, i) => detail.slice(0, want[i]?.length))).toEqual(want);
});
