import type { Pod } from 'kubenest/types/core_v1';
import { describe, expect, it } from 'vitest';
import { type PodUsage, usageOf } from './pod-metrics.ts';
import { replicasForUsage, replicasForUtilization, requestOf, type UsageInput } from './replica-calculator.ts';

const now = Date.parse('2026-01-01T01:00:00Z');
/** `state`: `ready`, `unready`, `pending`, `failed`, or `missing` (ready without a usage). */
const pod = (name: string, state: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'c', resources: { requests: { cpu: '1', memory: '1Gi' } } }] },
  status: {
    phase: { pending: 'Pending', failed: 'Failed' }[state] ?? 'Running',
    startTime: '2026-01-01T00:59:00Z',
    conditions: [{ type: 'Ready', status: state === 'unready' ? 'False' : 'True', lastTransitionTime: '2026-01-01T00:59:10Z' }],
  },
});
const usage = (milli: number): PodUsage => ({ milli, atMs: now, windowMs: 30_000 });
const input = (states: string[], milli: number, currentReplicas = states.length): UsageInput => {
  const pods = states.map((state, at) => pod(`p${at}`, state));
  const measured = pods.filter((_, at) => states[at] !== 'missing');
  return {
    resource: 'cpu',
    container: '',
    currentReplicas,
    pods,
    usages: new Map(measured.map(({ metadata }) => [metadata.name as string, usage(milli)])),
    tolerances: { up: 0.1, down: 0.1 },
    nowMs: now,
  };
};

describe('replicasForUtilization', () => {
  it.each([
    { name: 'more above the target', of: input(['ready', 'ready'], 900), target: 50, expected: [4, 90] },
    { name: 'fewer below it', of: input(['ready', 'ready', 'ready', 'ready'], 250), target: 50, expected: [2, 25] },
    { name: 'the same within the tolerance', of: input(['ready', 'ready'], 540), target: 50, expected: [2, 54] },
    { name: 'no more for pods that do not run yet', of: input(['ready', 'pending'], 900), target: 50, expected: [2, 90] },
    { name: 'no more for pods that are not ready', of: input(['ready', 'unready'], 900), target: 50, expected: [2, 90] },
    { name: 'no fewer for pods without a usage', of: input(['ready', 'missing'], 300), target: 50, expected: [2, 30] },
    { name: 'the rest without failed pods', of: input(['ready', 'ready', 'failed'], 900), target: 90, expected: [3, 90] },
  ])('proposes $name', ({ of, target, expected }) => {
    const { replicas, utilization } = replicasForUtilization(of, target);
    expect([replicas, utilization]).toEqual(expected);
  });

  it('needs a usage and requests', () => {
    expect(() => replicasForUtilization(input(['missing'], 0), 50)).toThrow('did not receive metrics for targeted pods');
    expect(() => requestOf(pod('p', 'ready'), '', 'x/y')).toThrow('missing request for x/y in container c of Pod p');
    expect(() => requestOf(pod('p', 'ready'), 'd', 'cpu')).toThrow('container d not found in Pod p');
  });
});

it('proposes replicas by the average usage', () => {
  expect(replicasForUsage(input(['ready', 'ready'], 900), 300)).toEqual({ replicas: 6, averageMilli: 900 });
});

it('sums the usage of containers, unless one was not measured', () => {
  const metrics = {
    apiVersion: 'metrics.k8s.io/v1beta1',
    kind: 'PodMetrics',
    metadata: { name: 'p' },
    timestamp: '2026-01-01T01:00:00Z',
    window: '1m30s',
    containers: [
      { name: 'a', usage: { cpu: '250m' } },
      { name: 'b', usage: { cpu: '1500000n' } },
    ],
  };
  expect(usageOf(metrics, 'cpu', '')).toEqual({ milli: 252, atMs: now, windowMs: 90_000 });
  expect(usageOf(metrics, 'cpu', 'a')?.milli).toBe(250);
  expect(usageOf({ ...metrics, containers: [{ name: 'a' }] }, 'cpu', '')).toBeUndefined();
});
