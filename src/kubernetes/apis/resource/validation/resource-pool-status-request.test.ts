import { expect, it } from 'vitest';
import type { ResourcePoolStatusRequest, ResourcePoolStatusRequestStatus } from '#kubernetes/schema/resource_v1alpha3.gen';
import { validateResourcePoolStatusRequest, validateResourcePoolStatusRequestStatusUpdate } from './resource-pool-status-request.ts';

const pool = { driver: 'd.example.com', poolName: 'a/b', generation: 1 };
const condition = { type: 'Complete', status: 'True', reason: 'R', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
const request = (status?: ResourcePoolStatusRequestStatus, spec: ResourcePoolStatusRequest['spec'] = {}): ResourcePoolStatusRequest => ({
  apiVersion: 'resource.k8s.io/v1alpha3',
  kind: 'ResourcePoolStatusRequest',
  metadata: { name: 'a' },
  spec: { driver: 'd.example.com', limit: 1, ...spec },
  ...(status && { status }),
});
const shown = '{"type":"Complete","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z","reason":"R","message":""}';
const immutable = (pools: string, conditions = 'null', poolCount = 1) =>
  `status: Invalid value: {"PoolCount":${poolCount},"Pools":${pools},"Conditions":${conditions}}: field is immutable`;

it.each<[string, string, string[]]>([
  ['segments', 'a/b.c', []],
  ['an empty name', '', ['spec.poolName: Invalid value: "": segment 0: must not be empty']],
  ['an empty segment', 'a//b', ['spec.poolName: Invalid value: "a//b": segment 1: must not be empty']],
  ['an overlong name', `${'a'.repeat(126)}/${'b'.repeat(127)}`, ['spec.poolName: Too long: may not be more than 253 bytes']],
])('a pool name: %s', (_, poolName, want) => {
  expect(validateResourcePoolStatusRequest(request(undefined, { poolName })).map(String)).toEqual(want);
});

it.each<[string, ResourcePoolStatusRequestStatus | undefined, ResourcePoolStatusRequestStatus | undefined, string[]]>([
  ['none, still', undefined, undefined, []],
  ['an answer', undefined, { poolCount: 1, pools: [pool, pool], conditions: [condition] }, []],
  ['an empty status', undefined, {}, ['status.poolCount: Required value']],
  [
    'a repeated condition',
    undefined,
    { poolCount: 1, conditions: [condition, condition] },
    ['status.conditions[1].type: Duplicate value: "Complete"', `status.conditions[1]: Duplicate value: ${shown}`],
  ],
  ['an unchanged status', { poolCount: 1, pools: [pool] }, { poolCount: 1, pools: [pool] }, []],
  ['another answer', { poolCount: 2 }, { poolCount: 1 }, [immutable('null')]],
  ['a removed status', { poolCount: 1 }, undefined, ['status: Invalid value: null: field is immutable']],
  [
    'a changed and invalid status',
    { poolCount: 1, conditions: [condition] },
    { poolCount: -1, conditions: [condition] },
    [immutable('null', `[${shown}]`, -1), 'status.poolCount: Invalid value: -1: must be greater than or equal to 0'],
  ],
])('a status: %s', (_, old, status, want) => {
  expect(validateResourcePoolStatusRequestStatusUpdate(request(status), request(old)).map(String)).toEqual(want);
});
