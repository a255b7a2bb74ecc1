import type { Pod } from 'kubenest/types/core_v1';
import type { PodDisruptionBudget } from 'kubenest/types/policy_v1';
import { describe, expect, it } from 'vitest';
import { desiredHealthy, disruptedPods, formatSelector, healthyPods, nextStatus } from './budget-status.ts';
import { staleInMs } from './disruption-controller.ts';

const at = '2026-01-01T00:00:00Z';
const now = Date.parse('2026-01-01T00:01:00Z');
const budget = (spec: PodDisruptionBudget['spec'] = {}, status: PodDisruptionBudget['status'] = {}): PodDisruptionBudget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'b', generation: 1 },
  spec,
  status,
});
const pod = (name: string, isReady = true, deletionTimestamp?: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...(deletionTimestamp && { deletionTimestamp }) },
  status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
});

it.each([
  { name: 'a number', spec: { minAvailable: 2 }, expected: 2 },
  { name: 'a share, rounded up', spec: { minAvailable: '50%' }, expected: 4 },
  { name: 'all but a number', spec: { maxUnavailable: 2 }, expected: 5 },
  { name: 'all but a share, rounded up', spec: { maxUnavailable: '30%' }, expected: 4 },
  { name: 'none if more may be unavailable than exist', spec: { maxUnavailable: 9 }, expected: 0 },
])('of seven pods $name must be healthy', ({ spec, expected }) => {
  expect(desiredHealthy(budget(spec), 7)).toBe(expected);
});

it('does not count pods that are evicted, deleted or not ready', () => {
  const evicted = budget({}, { disruptedPods: { a: at, b: '2025-12-31T23:00:00Z', gone: at } });
  const pods = [pod('a'), pod('b'), pod('c', false), pod('d', true, at), pod('e')];
  const disrupted = disruptedPods(evicted, pods, now);
  expect(disrupted).toEqual({ pods: { a: at }, overdue: ['b'], recheckMs: 60_000 });
  expect(healthyPods(pods, disrupted)).toBe(2);
});

describe('nextStatus', () => {
  const none = { pods: {}, overdue: [], recheckMs: undefined };
  it.each([
    {
      name: 'allows what is healthy beyond the minimum',
      counts: { healthy: 3, desired: 2, expected: 3 },
      allowed: 1,
      condition: 'True SufficientPods',
    },
    { name: 'allows nothing below it', counts: { healthy: 1, desired: 2, expected: 3 }, allowed: 0, condition: 'False InsufficientPods' },
    {
      name: 'allows nothing without pods',
      counts: { healthy: 0, desired: 0, expected: 0 },
      allowed: 0,
      condition: 'False InsufficientPods',
    },
  ])('$name', ({ counts, allowed, condition }) => {
    const status = nextStatus(budget(), counts, none, now);
    expect(status?.disruptionsAllowed).toBe(allowed);
    expect(status?.conditions?.map(({ status: state, reason }) => `${state} ${reason}`)).toEqual([condition]);
    expect(nextStatus(budget({}, status), counts, none, now + 5_000)).toBeUndefined();
  });
});

it('formats a selector as Go does', () => {
  const matchExpressions = [{ key: 'a', operator: 'In', values: ['b', 'c'] }];
  expect(formatSelector({ matchLabels: { x: 'y' }, matchExpressions })).toBe(
    '&LabelSelector{MatchLabels:map[string]string{x: y,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:a,Operator:In,Values:[b c],},},}',
  );
});

it.each([
  { name: 'after two minutes', reason: 'EvictionByEvictionAPI', expected: 60_000 },
  { name: 'never if the kubelet ends the pod', reason: 'TerminationByKubelet', expected: undefined },
])('a pod is no target of a disruption $name', ({ reason, expected }) => {
  const target = pod('a');
  target.status = { conditions: [{ type: 'DisruptionTarget', status: 'True', reason, lastTransitionTime: at }] };
  expect(staleInMs(target, now)).toBe(expected);
});
