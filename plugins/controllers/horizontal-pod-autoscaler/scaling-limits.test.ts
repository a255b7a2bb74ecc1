import type { HPAScalingRules } from 'kubenest/types/autoscaling_v2';
import { describe, expect, it } from 'vitest';
import { limit, noteChange, type ScalingHistory } from './scaling-limits.ts';

const history = (): ScalingHistory => ({ recommendations: [], ups: [], downs: [] });
const rules = (...policies: [string, number, number][]): HPAScalingRules => ({
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: policies.map(([type, value, periodSeconds]) => ({ type, value, periodSeconds })),
});
const input = (current: number, desired: number, more: object = {}) => ({
  current,
  desired,
  min: 1,
  max: 100,
  behavior: undefined,
  ...more,
});

describe('without a behavior', () => {
  it.each([
    { name: 'permits doubling', of: input(10, 15), expected: [15, 'DesiredWithinRange', false] },
    { name: 'permits no more than doubling', of: input(10, 50), expected: [20, 'ScaleUpLimit', true] },
    { name: 'permits four at least', of: input(1, 9), expected: [4, 'ScaleUpLimit', true] },
    { name: 'keeps the maximum', of: input(10, 15, { max: 12 }), expected: [12, 'TooManyReplicas', true] },
    { name: 'keeps the minimum', of: input(10, 1, { min: 3 }), expected: [3, 'TooFewReplicas', true] },
  ])('$name', ({ of, expected }) => {
    const { replicas, limited } = limit(of, history(), 0);
    expect([replicas, limited.reason, limited.isLimited]).toEqual(expected);
  });

  it('scales down only to the highest recommendation of five minutes', () => {
    const past = history();
    limit(input(10, 8), past, 0);
    expect(limit(input(10, 3), past, 60_000)).toMatchObject({ replicas: 8, able: { reason: 'ScaleDownStabilized' } });
    expect(limit(input(10, 3), past, 400_000)).toMatchObject({ replicas: 3, able: { reason: 'ReadyForNewScale' } });
  });
});

describe('with a behavior', () => {
  const behavior = { scaleUp: rules(['Pods', 4, 15], ['Percent', 100, 15]), scaleDown: rules(['Percent', 50, 60]) };
  it.each([
    { name: 'permits the larger of two policies', of: input(2, 50, { behavior }), expected: [6, 'ScaleUpLimit'] },
    {
      name: 'permits the smaller with Min',
      of: input(2, 50, { behavior: { ...behavior, scaleUp: { ...behavior.scaleUp, selectPolicy: 'Min' } } }),
      expected: [4, 'ScaleUpLimit'],
    },
    {
      name: 'permits no change with Disabled',
      of: input(2, 50, { behavior: { ...behavior, scaleUp: { ...behavior.scaleUp, selectPolicy: 'Disabled' } } }),
      expected: [2, 'ScaleUpLimit'],
    },
    { name: 'limits the scaling down', of: input(10, 1, { behavior }), expected: [5, 'ScaleDownLimit'] },
  ])('$name', ({ of, expected }) => {
    const { replicas, limited } = limit(of, history(), 0);
    expect([replicas, limited.reason]).toEqual(expected);
  });

  it('counts earlier changes of the period', () => {
    const past = history();
    noteChange(behavior, past, -3, 0);
    expect(limit(input(7, 1, { behavior }), past, 30_000).replicas).toBe(5);
    expect(limit(input(7, 1, { behavior }), past, 90_000).replicas).toBe(3);
  });
});
