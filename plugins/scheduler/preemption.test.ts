import type { Node, Pod } from 'kubenest/types/core_v1';
import type { PodDisruptionBudget } from 'kubenest/types/policy_v1';
import { describe, expect, it } from 'vitest';
import type { Cluster } from './cluster.ts';
import { filters } from './filters.ts';
import { podInfo } from './framework/pod-info.ts';
import { findPreemption, splitByBudget } from './preemption.ts';
import { schedulePod } from './scheduling-cycle.ts';
import { newScores } from './scores.ts';
import { testCluster, testNode, testPod } from './test-objects.ts';

const scores = newScores();

/** The chosen node and its victims, or the text of the failure. */
function preempt(pod: Pod, cluster: Cluster, budgets: PodDisruptionBudget[] = []): string {
  const info = podInfo(pod);
  const result = schedulePod(info, cluster, filters, scores, cluster, () => 0);
  if ('node' in result) return `fits ${result.node.name}`;
  const found = findPreemption(info, cluster, result.active, result.diagnosis, budgets, cluster);
  return 'message' in found
    ? found.message
    : `${found.candidate.node.name}: ${found.candidate.victims.map(({ pod: one }) => one.metadata.name).join(' ')}`;
}

const on = (node: string, name: string, cpu: string, priority = 0, more: Parameters<typeof testPod>[1] = {}): Pod =>
  testPod(name, { cpu, ...more, spec: { nodeName: node, priority, ...more.spec } });
const high = (cpu: string, more: object = {}): Pod => testPod('p', { cpu, spec: { priority: 100, ...more } });
const budget = (name: string, app: string, disruptionsAllowed: number): PodDisruptionBudget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, namespace: 'default' },
  spec: { selector: { matchLabels: { app } } },
  status: { disruptionsAllowed } as NonNullable<PodDisruptionBudget['status']>,
});
const tainted = (name: string): Node => testNode(name, { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } });

describe('preemption', () => {
  it.each<{ name: string; pod: Pod; cluster: Cluster; budgets?: PodDisruptionBudget[]; want: string }>([
    { name: 'removes a pod of lower priority', pod: high('4'), cluster: testCluster([testNode('a')], [on('a', 'x', '1')]), want: 'a: x' },
    {
      name: 'removes no more than it must',
      pod: high('3'),
      cluster: testCluster([testNode('a')], [on('a', 'small', '1', 1), on('a', 'large', '3', 0)]),
      want: 'a: large',
    },
    {
      name: 'prefers the node whose victims have the lowest priority',
      pod: high('4'),
      cluster: testCluster([testNode('a'), testNode('b')], [on('a', 'x', '1', 50), on('b', 'y', '1', 10)]),
      want: 'b: y',
    },
    {
      name: 'prefers the node with fewer victims',
      pod: high('4'),
      cluster: testCluster([testNode('a'), testNode('b')], [on('a', 'x', '2'), on('a', 'y', '2'), on('b', 'z', '4')]),
      want: 'b: z',
    },
    {
      name: 'prefers the node on which no budget is exceeded',
      pod: high('4'),
      cluster: testCluster([testNode('a'), testNode('b')], [on('a', 'x', '4', 0, { labels: { app: 'db' } }), on('b', 'y', '4', 5)]),
      budgets: [budget('b', 'db', 0)],
      want: 'b: y',
    },
    {
      name: 'exceeds a budget if it must',
      pod: high('4'),
      cluster: testCluster([testNode('a')], [on('a', 'x', '4', 0, { labels: { app: 'db' } })]),
      budgets: [budget('b', 'db', 0)],
      want: 'a: x',
    },
    {
      name: 'does not help against a taint, nor where all pods are as important',
      pod: high('4'),
      cluster: testCluster([testNode('a'), tainted('b'), tainted('c')], [on('a', 'x', '4', 100)]),
      want: 'preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.',
    },
    {
      name: 'does not help a pod that is larger than a node',
      pod: high('5'),
      cluster: testCluster([testNode('a')], [on('a', 'x', '4')]),
      want: 'preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
    },
    {
      name: 'is off for a pod with preemptionPolicy Never',
      pod: high('4', { preemptionPolicy: 'Never' }),
      cluster: testCluster([testNode('a')], [on('a', 'x', '4')]),
      want: 'preemption: not eligible due to preemptionPolicy=Never.',
    },
    {
      name: 'removes the pod whose anti-affinity excludes the new one',
      pod: testPod('p', { labels: { app: 'web' }, spec: { priority: 100 } }),
      cluster: testCluster(
        [testNode('a')],
        [
          on('a', 'x', '1', 0, {
            spec: {
              affinity: {
                podAntiAffinity: {
                  requiredDuringSchedulingIgnoredDuringExecution: [
                    { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'web' } } },
                  ],
                },
              },
            },
          }),
          on('a', 'y', '1', 0),
        ],
      ),
      want: 'a: x',
    },
    {
      name: 'waits while a victim on the nominated node terminates',
      pod: { ...high('4'), status: { nominatedNodeName: 'a' } },
      cluster: testCluster(
        [testNode('a')],
        [
          on('a', 'x', '4', 0, {
            metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' },
            status: { conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }] },
          }),
        ],
      ),
      want: 'preemption: not eligible due to a terminating pod on the nominated node.',
    },
  ])('$name', ({ pod, cluster, budgets, want }) => {
    expect(preempt(pod, cluster, budgets)).toBe(want);
  });

  it('leaves the cluster as it was', () => {
    const cluster = testCluster([testNode('a')], [on('a', 'x', '4')]);
    preempt(high('4'), cluster);
    expect([...(cluster.node('a')?.pods.values() ?? [])].map(({ pod }) => pod.metadata.name)).toEqual(['x']);
    expect(cluster.node('a')?.requested.get('cpu')).toBe(4_000);
  });

  it('counts each pod against its budget once', () => {
    const pods = ['x', 'y', 'z'].map((name) => podInfo(on('a', name, '1', 0, { labels: { app: 'db' } })));
    const { violating, allowed } = splitByBudget(pods, [budget('b', 'db', 2)]);
    expect([allowed.length, violating.map(({ pod }) => pod.metadata.name)]).toEqual([2, ['z']]);
  });
});
