import type { DaemonSet, DaemonSetUpdateStrategy } from 'kubenest/types/apps_v1';
import type { Node, Pod, PodSpec, Taint } from 'kubenest/types/core_v1';
import { describe, expect, it } from 'vitest';
import { affinityTo, fitOf, targetNode, templateOf } from './daemon-pods.ts';
import { countsOf, type DaemonPlan, type DaemonState, planNodes, planUpdate } from './node-plan.ts';

const now = Date.parse('2026-01-01T01:00:00Z');
const node = (name: string, taints: Taint[] = [], labels: Record<string, string> = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels },
  spec: { taints },
});
const daemonSet = (updateStrategy: DaemonSetUpdateStrategy = {}, podSpec: PodSpec = {}): DaemonSet => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'd', annotations: { 'deprecated.daemonset.template.generation': '2' } },
  spec: { template: { metadata: { labels: { a: 'b' } }, spec: podSpec }, updateStrategy: { type: 'RollingUpdate', ...updateStrategy } },
});

/** `state`: `new` or `old` template, then `ready`, `pending`, `failed`, `done` or `deleted`. */
const pod = (name: string, target: string, state: string, created = '2026-01-01T00:00:00Z'): Pod => {
  const [template = '', progress = ''] = state.split(' ');
  const phase = { failed: 'Failed', done: 'Succeeded', pending: 'Pending' }[progress] ?? 'Running';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      creationTimestamp: created,
      labels: { 'controller-revision-hash': template },
      ...(progress === 'deleted' && { deletionTimestamp: created }),
    },
    spec: { nodeName: target },
    status: { phase, conditions: progress === 'ready' ? [{ type: 'Ready', status: 'True', lastTransitionTime: created }] : [] },
  };
};
const state = (of: DaemonSet, nodes: Node[], pods: Pod[]): DaemonState => ({
  daemonSet: of,
  nodes,
  podsByNode: Map.groupBy(pods, (present) => targetNode(present) as string),
  hash: 'new',
  nowMs: now,
});
const summary = ({ deletions, creations }: DaemonPlan): object => ({
  delete: deletions.map(({ metadata }) => metadata.name),
  create: creations,
});
const [a, b, c] = [node('a'), node('b'), node('c')];
const noSchedule = [{ key: 'k', effect: 'NoSchedule' }];
const noExecute = [{ key: 'k', effect: 'NoExecute' }];

describe('fitOf', () => {
  it.each([
    { name: 'any node', of: daemonSet(), on: a, expected: [true, true] },
    { name: 'a node with another name than the template has', of: daemonSet({}, { nodeName: 'b' }), on: a, expected: [false, false] },
    { name: 'a node without the selected labels', of: daemonSet({}, { nodeSelector: { x: 'y' } }), on: a, expected: [false, false] },
    { name: 'a node with a taint NoSchedule', of: daemonSet(), on: node('a', noSchedule), expected: [false, true] },
    { name: 'a node with a taint NoExecute', of: daemonSet(), on: node('a', noExecute), expected: [false, false] },
    {
      name: 'a node that is not ready',
      of: daemonSet(),
      on: node('a', [{ key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' }]),
      expected: [true, true],
    },
    {
      name: 'a node with a tolerated taint',
      of: daemonSet({}, { tolerations: [{ operator: 'Exists' }] }),
      on: node('a', noExecute),
      expected: [true, true],
    },
    {
      name: 'a node that satisfies the affinity',
      of: daemonSet(
        {},
        {
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [{ matchExpressions: [{ key: 'n', operator: 'Gt', values: ['3'] }] }],
              },
            },
          },
        },
      ),
      on: node('a', [], { n: '4' }),
      expected: [true, true],
    },
  ])('$name', ({ of, on, expected }) => {
    const { shouldRun, mayRemain } = fitOf(of, on);
    expect([shouldRun, mayRemain]).toEqual(expected);
  });
});

describe('planNodes', () => {
  const surge = { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
  it.each([
    {
      name: 'creates missing pods',
      of: daemonSet(),
      nodes: [a, b],
      pods: [pod('p', 'a', 'new ready')],
      expected: { delete: [], create: ['b'] },
    },
    {
      name: 'deletes pods of unfit nodes',
      of: daemonSet(),
      nodes: [node('a', noExecute)],
      pods: [pod('p', 'a', 'new ready')],
      expected: { delete: ['p'], create: [] },
    },
    {
      name: 'leaves pods that a taint does not evict',
      of: daemonSet(),
      nodes: [node('a', noSchedule)],
      pods: [pod('p', 'a', 'new ready')],
      expected: { delete: [], create: [] },
    },
    {
      name: 'deletes ended pods',
      of: daemonSet(),
      nodes: [a],
      pods: [pod('p', 'a', 'new failed'), pod('q', 'a', 'new done')],
      expected: { delete: ['p', 'q'], create: [] },
    },
    {
      name: 'keeps the oldest of several',
      of: daemonSet(),
      nodes: [a],
      pods: [pod('p', 'a', 'new ready', '2026-01-01T00:10:00Z'), pod('q', 'a', 'old ready')],
      expected: { delete: ['p'], create: [] },
    },
    {
      name: 'waits for deleted pods',
      of: daemonSet(),
      nodes: [a],
      pods: [pod('p', 'a', 'old deleted')],
      expected: { delete: [], create: [] },
    },
    {
      name: 'does not wait for deleted pods with surge',
      of: daemonSet(surge),
      nodes: [a],
      pods: [pod('p', 'a', 'old deleted')],
      expected: { delete: [], create: ['a'] },
    },
    {
      name: 'keeps an old pod until the new one is ready',
      of: daemonSet(surge),
      nodes: [a],
      pods: [pod('p', 'a', 'old ready'), pod('q', 'a', 'new pending')],
      expected: { delete: [], create: [] },
    },
    {
      name: 'deletes the old pod then',
      of: daemonSet(surge),
      nodes: [a],
      pods: [pod('p', 'a', 'old ready'), pod('q', 'a', 'new ready')],
      expected: { delete: ['p'], create: [] },
    },
  ])('$name', ({ of, nodes, pods, expected }) => {
    expect(summary(planNodes(state(of, nodes, pods), () => true))).toEqual(expected);
  });

  it('deletes pods that wait for a node which is gone', () => {
    const lost: Pod = { ...pod('p', '', 'new pending'), spec: { affinity: affinityTo('z', undefined) } };
    expect(summary(planNodes(state(daemonSet(), [a], [lost, pod('q', 'a', 'new ready')]), () => true))).toEqual({
      delete: ['p'],
      create: [],
    });
  });
});

describe('planUpdate', () => {
  const surge = { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
  const two = { rollingUpdate: { maxUnavailable: 2 } };
  it.each([
    {
      name: 'replaces one pod by default',
      of: daemonSet({ rollingUpdate: {} }),
      pods: [pod('p', 'a', 'old ready'), pod('q', 'b', 'old ready'), pod('r', 'c', 'old ready')],
      expected: { delete: ['p'], create: [] },
    },
    {
      name: 'replaces as many as may be unavailable',
      of: daemonSet(two),
      pods: [pod('p', 'a', 'old ready'), pod('q', 'b', 'old ready'), pod('r', 'c', 'old ready')],
      expected: { delete: ['p', 'q'], create: [] },
    },
    {
      name: 'counts nodes without a pod',
      of: daemonSet(two),
      pods: [pod('p', 'a', 'old ready'), pod('q', 'b', 'old ready')],
      expected: { delete: ['p'], create: [] },
    },
    {
      name: 'waits for new pods',
      of: daemonSet({ rollingUpdate: {} }),
      pods: [pod('p', 'a', 'new pending'), pod('q', 'b', 'old ready'), pod('r', 'c', 'old ready')],
      expected: { delete: [], create: [] },
    },
    {
      name: 'replaces all unavailable pods',
      of: daemonSet({ rollingUpdate: {} }),
      pods: [pod('p', 'a', 'old pending'), pod('q', 'b', 'old pending'), pod('r', 'c', 'old ready')],
      expected: { delete: ['p', 'q'], create: [] },
    },
    {
      name: 'creates pods within the surge',
      of: daemonSet(surge),
      pods: [pod('p', 'a', 'old ready'), pod('q', 'b', 'old ready'), pod('r', 'c', 'old ready')],
      expected: { delete: [], create: ['a'] },
    },
    {
      name: 'creates pods beside unavailable ones',
      of: daemonSet(surge),
      pods: [pod('p', 'a', 'old pending'), pod('q', 'b', 'old ready'), pod('s', 'b', 'new pending'), pod('r', 'c', 'old ready')],
      expected: { delete: [], create: ['a'] },
    },
    {
      name: 'deletes old pods beside available ones',
      of: daemonSet(surge),
      pods: [pod('p', 'a', 'old ready'), pod('s', 'a', 'new ready'), pod('q', 'b', 'old ready'), pod('r', 'c', 'old ready')],
      expected: { delete: ['p'], create: ['b'] },
    },
  ])('$name', ({ of, pods, expected }) => {
    expect(summary(planUpdate(state(of, [a, b, c] as Node[], pods)))).toEqual(expected);
  });
});

it('counts nodes and their pods', () => {
  const nodes = [a, b, node('c', noSchedule)] as Node[];
  expect(countsOf(state(daemonSet(), nodes, [pod('p', 'a', 'new ready'), pod('q', 'c', 'old ready')]))).toEqual({
    currentNumberScheduled: 1,
    numberMisscheduled: 1,
    desiredNumberScheduled: 2,
    numberReady: 1,
    updatedNumberScheduled: 1,
    numberAvailable: 1,
    numberUnavailable: 1,
  });
});

it('gives pods labels, tolerations and a node', () => {
  const { metadata, spec } = templateOf(daemonSet({}, { hostNetwork: true }), 'h');
  expect(metadata?.labels).toEqual({ a: 'b', 'pod-template-generation': '2', 'controller-revision-hash': 'h' });
  expect(spec?.tolerations?.map(({ key }) => key?.split('/')[1])).toEqual([
    'not-ready',
    'unreachable',
    'disk-pressure',
    'memory-pressure',
    'pid-pressure',
    'unschedulable',
    'network-unavailable',
  ]);
});
