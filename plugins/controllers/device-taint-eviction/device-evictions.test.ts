import type { Pod } from 'kubenest/types/core_v1';
import type { Device, DeviceTaint, DeviceToleration, ResourceClaim, ResourceSlice } from 'kubenest/types/resource_v1';
import type { DeviceTaintRule } from 'kubenest/types/resource_v1alpha3';
import { expect, it } from 'vitest';
import { partialObject } from '../common/testing/partial-object.ts';
import { evictionOfPod } from './device-evictions.ts';

const timeAdded = '2026-01-01T00:00:00Z';
const added = Date.parse(timeAdded);
const broken: DeviceTaint = { key: 'broken', effect: 'NoExecute', timeAdded };

const slice = (generation: number, ...devices: Device[]): ResourceSlice =>
  partialObject({ metadata: { name: `s${generation}` }, spec: { driver: 'd', pool: { name: 'p', generation }, devices } });
const claim = (tolerations: DeviceToleration[] = [], uid = 'pod'): ResourceClaim =>
  partialObject({
    metadata: { namespace: 'n', name: 'c' },
    status: {
      reservedFor: [{ resource: 'pods', name: 'p', uid }],
      allocation: { devices: { results: [{ request: 'r', driver: 'd', pool: 'p', device: 'a', tolerations }] } },
    },
  });
const rule = (deviceSelector: object | undefined, taint: DeviceTaint = broken): DeviceTaintRule =>
  partialObject({ metadata: { name: 'rule' }, spec: { ...(deviceSelector && { deviceSelector }), taint } });
const pod = (nodeName: string | undefined): Pod =>
  partialObject({
    metadata: { namespace: 'n', name: 'p', uid: 'pod' },
    spec: { ...(nodeName && { nodeName }), resourceClaims: [{ name: 'x', resourceClaimName: 'c' }] },
  });

interface Case {
  name: string;
  slices?: ResourceSlice[];
  rules?: DeviceTaintRule[];
  claim?: ResourceClaim;
  nodeName?: string | undefined;
  /** Milliseconds after the taint was added; undefined: never. */
  want: number | undefined;
}
const tainted = slice(1, { name: 'a', taints: [broken] });
const tolerating = (tolerationSeconds?: number): DeviceToleration => ({
  key: 'broken',
  operator: 'Exists',
  effect: 'NoExecute',
  ...(tolerationSeconds !== undefined && { tolerationSeconds }),
});

it.each<Case>([
  { name: 'a tainted device evicts at once', slices: [tainted], want: 0 },
  { name: 'a toleration without a time keeps the pod', slices: [tainted], claim: claim([tolerating()]), want: undefined },
  { name: 'the shortest toleration counts', slices: [tainted], claim: claim([tolerating(60), tolerating(20)]), want: 20_000 },
  { name: 'a negative time is none', slices: [tainted], claim: claim([tolerating(-5)]), want: 0 },
  {
    name: 'a toleration of another effect does not count',
    slices: [tainted],
    claim: claim([{ ...tolerating(), effect: 'NoSchedule' }]),
    want: 0,
  },
  { name: 'NoSchedule evicts nobody', slices: [slice(1, { name: 'a', taints: [{ ...broken, effect: 'NoSchedule' }] })], want: undefined },
  { name: 'another device does not matter', slices: [slice(1, { name: 'a' }, { name: 'b', taints: [broken] })], want: undefined },
  { name: 'an older generation does not count', slices: [tainted, slice(2, { name: 'a' })], want: undefined },
  { name: 'a claim that another pod has reserved does not count', slices: [tainted], claim: claim([], 'other'), want: undefined },
  { name: 'a pod without a node stays', slices: [tainted], nodeName: undefined, want: undefined },
  { name: 'a rule for the driver evicts', rules: [rule({ driver: 'd' })], want: 0 },
  { name: 'a rule for another pool does not', rules: [rule({ driver: 'd', pool: 'other' })], want: undefined },
  { name: 'a rule without a selector does not', rules: [rule(undefined)], want: undefined },
])('$name', ({ slices = [], rules = [], claim: used = claim(), want, ...more }) => {
  const state = { claim: () => used, slices: () => slices, rules: () => rules };
  const eviction = evictionOfPod(pod('nodeName' in more ? more.nodeName : 'node'), state);
  expect(eviction && eviction.dueMs - added).toBe(want);
  if (eviction) expect([...eviction.rules]).toEqual(rules);
});
