import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, PodSpec } from 'kubenest/types/core_v1';
import type { StorageClass } from 'kubenest/types/storage_v1';
import { describe, expect, it } from 'vitest';
import type { Cluster } from './cluster.ts';
import { filters } from './filters.ts';
import { fitError } from './fit-error.ts';
import { podInfo } from './framework/pod-info.ts';
import { schedulePod } from './scheduling-cycle.ts';
import { newScores } from './scores.ts';
import { testCluster, testNode, testPod } from './test-objects.ts';

const scores = newScores();

/** Name of the chosen node, or the text of the failure. */
function schedule(pod: Pod, cluster: Cluster): string {
  const result = schedulePod(podInfo(pod), cluster, filters, scores, cluster, () => 0);
  return 'node' in result ? result.node.name : fitError(cluster.nodes.length, result.diagnosis);
}

const on = (node: string, name: string, options: Parameters<typeof testPod>[1] = {}): Pod =>
  testPod(name, { ...options, spec: { ...options.spec, nodeName: node } });
const zoned = (name: string, zone: string): Node => testNode(name, { labels: { 'topology.kubernetes.io/zone': zone } });
const affinityTo = (app: string, kind: 'podAffinity' | 'podAntiAffinity', topologyKey = 'kubernetes.io/hostname'): PodSpec => ({
  affinity: { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector: { matchLabels: { app } } }] } },
});
const spread = (more: object = {}): PodSpec => ({
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'topology.kubernetes.io/zone',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'a' } },
      ...more,
    },
  ],
});
const app = (name: string): Record<string, string> => ({ app: name });
const nodeTerm = (operator: string, key: string, ...values: string[]): PodSpec => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator, values }] }] },
    },
  },
});
const named = (...names: string[]): PodSpec => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: names }] }],
      },
    },
  },
});

const claim = (name: string, more: Partial<PersistentVolumeClaim> = {}): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: 'default', uid: `claim-${name}`, ...more.metadata },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'late', ...more.spec },
});
const bound = (name: string, volumeName: string): PersistentVolumeClaim =>
  claim(name, {
    metadata: { name, namespace: 'default', annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
    spec: { volumeName },
  });
const volume = (name: string, node?: string, storage = '1Gi'): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name },
  spec: {
    capacity: { storage },
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'late',
    ...(node && {
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] }] },
      },
    }),
  },
  status: { phase: 'Available' },
});
const storageClass = (provisioner: string, more: Partial<StorageClass> = {}): StorageClass => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'late' },
  provisioner,
  volumeBindingMode: 'WaitForFirstConsumer',
  ...more,
});
const withClaim = (claimName: string): PodSpec => ({ volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }] });

describe('filters', () => {
  it.each<{ name: string; pod: Pod; cluster: Cluster; want: string }>([
    { name: 'a fitting node', pod: testPod('p', { cpu: '1' }), cluster: testCluster([testNode('a')]), want: 'a' },
    {
      name: 'resources and taints of several nodes',
      pod: testPod('p', { cpu: '3', memory: '9Gi' }),
      cluster: testCluster(
        [
          testNode('a'),
          testNode('b', { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } }),
          testNode('c', { spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } }),
        ],
        [on('a', 'x', { cpu: '2' })],
      ),
      want: '0/3 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, 2 node(s) had untolerated taint(s).',
    },
    {
      name: 'a tolerated taint',
      pod: testPod('p', { spec: { tolerations: [{ key: 'k', operator: 'Exists' }] } }),
      cluster: testCluster([testNode('a', { spec: { taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] } })]),
      want: 'a',
    },
    {
      name: 'the number of pods',
      pod: testPod('p'),
      cluster: testCluster([testNode('a', { allocatable: { pods: '1' } })], [on('a', 'x')]),
      want: '0/1 nodes are available: 1 Too many pods.',
    },
    {
      name: 'an extended resource',
      pod: testPod('p', { spec: { containers: [{ name: 'c', resources: { requests: { 'example.com/gpu': '1' } } }] } }),
      cluster: testCluster([testNode('a'), testNode('b', { allocatable: { 'example.com/gpu': '1' } })]),
      want: 'b',
    },
    {
      name: 'an init container that needs more than the main ones',
      pod: testPod('p', { cpu: '1', spec: { initContainers: [{ name: 'i', resources: { requests: { cpu: '5' } } }] } }),
      cluster: testCluster([testNode('a')]),
      want: '0/1 nodes are available: 1 Insufficient cpu.',
    },
    {
      name: 'overhead',
      pod: testPod('p', { spec: { overhead: { cpu: '5' } } }),
      cluster: testCluster([testNode('a')]),
      want: '0/1 nodes are available: 1 Insufficient cpu.',
    },
    {
      name: 'a cordoned node',
      pod: testPod('p'),
      cluster: testCluster([testNode('a', { spec: { unschedulable: true } })]),
      want: '0/1 nodes are available: 1 node(s) were unschedulable.',
    },
    {
      name: 'a node selector',
      pod: testPod('p', { spec: { nodeSelector: { disk: 'ssd' } } }),
      cluster: testCluster([testNode('a'), testNode('b', { labels: { disk: 'ssd' } })]),
      want: 'b',
    },
    {
      name: 'an unmatched node affinity',
      pod: testPod('p', { spec: nodeTerm('Gt', 'cores', '8') }),
      cluster: testCluster([testNode('a', { labels: { cores: '8' } })]),
      want: "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
    },
    {
      name: 'a node affinity that compares numbers',
      pod: testPod('p', { spec: nodeTerm('Gt', 'cores', '8') }),
      cluster: testCluster([testNode('a', { labels: { cores: '8' } }), testNode('b', { labels: { cores: '16' } })]),
      want: 'b',
    },
    {
      name: 'a node affinity that names a full node, like the pods of a DaemonSet',
      pod: testPod('p', { cpu: '4', spec: named('b') }),
      cluster: testCluster([testNode('a'), testNode('b'), testNode('c')], [on('b', 'x', { cpu: '1' })]),
      want: "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity].",
    },
    {
      name: 'a taken host port',
      pod: testPod('p', { spec: { containers: [{ name: 'c', ports: [{ hostPort: 80 }] }] } }),
      cluster: testCluster(
        [testNode('a')],
        [on('a', 'x', { spec: { containers: [{ name: 'c', ports: [{ hostPort: 80, hostIP: '10.0.0.1' }] }] } })],
      ),
      want: "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.",
    },
    {
      name: 'a host port on another address',
      pod: testPod('p', { spec: { containers: [{ name: 'c', ports: [{ hostPort: 80, hostIP: '10.0.0.2' }] }] } }),
      cluster: testCluster(
        [testNode('a')],
        [on('a', 'x', { spec: { containers: [{ name: 'c', ports: [{ hostPort: 80, hostIP: '10.0.0.1' }] }] } })],
      ),
      want: 'a',
    },
    {
      name: 'pod affinity to a running pod',
      pod: testPod('p', { spec: affinityTo('db', 'podAffinity') }),
      cluster: testCluster([testNode('a'), testNode('b')], [on('b', 'x', { labels: app('db') })]),
      want: 'b',
    },
    {
      name: 'pod affinity to no pod',
      pod: testPod('p', { spec: affinityTo('db', 'podAffinity') }),
      cluster: testCluster([testNode('a')]),
      want: "0/1 nodes are available: 1 node(s) didn't match pod affinity rules.",
    },
    {
      name: 'the first pod of a group that has affinity to itself',
      pod: testPod('p', { labels: app('db'), spec: affinityTo('db', 'podAffinity') }),
      cluster: testCluster([testNode('a')]),
      want: 'a',
    },
    {
      name: 'pod anti-affinity over zones',
      pod: testPod('p', { spec: affinityTo('db', 'podAntiAffinity', 'topology.kubernetes.io/zone') }),
      cluster: testCluster([zoned('a', '1'), zoned('b', '1'), zoned('c', '2')], [on('a', 'x', { labels: app('db') })]),
      want: 'c',
    },
    {
      name: 'pod anti-affinity',
      pod: testPod('p', { spec: affinityTo('db', 'podAntiAffinity') }),
      cluster: testCluster([testNode('a')], [on('a', 'x', { labels: app('db') })]),
      want: "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules.",
    },
    {
      name: 'the anti-affinity of an existing pod',
      pod: testPod('p', { labels: app('web') }),
      cluster: testCluster([testNode('a')], [on('a', 'x', { spec: affinityTo('web', 'podAntiAffinity') })]),
      want: "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules.",
    },
    {
      name: 'a topology spread constraint',
      pod: testPod('p', { labels: app('a'), spec: spread() }),
      cluster: testCluster([zoned('a', '1'), zoned('b', '2')], [on('a', 'x', { labels: app('a') })]),
      want: 'b',
    },
    {
      name: 'a topology spread constraint on nodes of which none is allowed',
      pod: testPod('p', { labels: app('a'), cpu: '4', spec: spread() }),
      cluster: testCluster(
        [zoned('a', '1'), zoned('b', '2'), testNode('c')],
        [on('a', 'x', { labels: app('a') }), on('b', 'y', { cpu: '1' })],
      ),
      want: "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match pod topology spread constraints, 1 node(s) didn't match pod topology spread constraints (missing required label).",
    },
    {
      name: 'too few domains',
      pod: testPod('p', { labels: app('a'), spec: spread({ minDomains: 2 }) }),
      cluster: testCluster([zoned('a', '1')], [on('a', 'x', { labels: app('a') })]),
      want: "0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints.",
    },
    {
      name: 'a missing claim',
      pod: testPod('p', { spec: withClaim('data') }),
      cluster: testCluster([testNode('a')]),
      want: '0/1 nodes are available: persistentvolumeclaim "data" not found.',
    },
    {
      name: 'an unbound claim of an immediate class',
      pod: testPod('p', { spec: withClaim('data') }),
      cluster: testCluster([testNode('a')], [], {
        claims: [claim('data')],
        storageClasses: [storageClass('x', { volumeBindingMode: 'Immediate' })],
      }),
      want: '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.',
    },
    {
      name: 'the node of a bound volume',
      pod: testPod('p', { spec: withClaim('data') }),
      cluster: testCluster([testNode('a'), testNode('b')], [], { claims: [bound('data', 'v')], volumes: [volume('v', 'b')] }),
      want: 'b',
    },
    {
      name: 'a bound volume without a node',
      pod: testPod('p', { spec: withClaim('data') }),
      cluster: testCluster([testNode('a')], [], { claims: [bound('data', 'v')], volumes: [volume('v', 'z')] }),
      want: "0/1 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity.",
    },
    {
      name: 'a waiting claim that finds a volume on one node',
      pod: testPod('p', { spec: withClaim('data') }),
      cluster: testCluster([testNode('a'), testNode('b')], [], {
        claims: [claim('data')],
        volumes: [volume('v', 'b')],
        storageClasses: [storageClass('kubernetes.io/no-provisioner')],
      }),
      want: 'b',
    },
    {
      name: 'a waiting claim without a large enough volume',
      pod: testPod('p', { spec: withClaim('data') }),
      cluster: testCluster([testNode('a')], [], {
        claims: [claim('data')],
        volumes: [volume('v', 'a', '500Mi')],
        storageClasses: [storageClass('kubernetes.io/no-provisioner')],
      }),
      want: "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind.",
    },
    {
      name: 'a waiting claim that is provisioned in a zone',
      pod: testPod('p', { spec: withClaim('data') }),
      cluster: testCluster([zoned('a', '1'), zoned('b', '2')], [], {
        claims: [claim('data')],
        storageClasses: [
          storageClass('csi.example.com', {
            allowedTopologies: [{ matchLabelExpressions: [{ key: 'topology.kubernetes.io/zone', values: ['2'] }] }],
          }),
        ],
      }),
      want: 'b',
    },
  ])('$name', ({ pod, cluster, want }) => {
    expect(schedule(pod, cluster)).toBe(want);
  });
});

describe('scores', () => {
  const preferred = (kind: 'podAffinity' | 'podAntiAffinity'): PodSpec => ({
    affinity: {
      [kind]: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 100, podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: app('db') } } },
        ],
      },
    },
  });

  it.each<{ name: string; pod: Pod; cluster: Cluster; want: string }>([
    {
      name: 'the node with the most free resources',
      pod: testPod('p', { cpu: '1' }),
      cluster: testCluster([testNode('a'), testNode('b')], [on('a', 'x', { cpu: '2' })]),
      want: 'b',
    },
    {
      name: 'the node whose use of resources gets more balanced',
      pod: testPod('p', { cpu: '1', memory: '100Mi' }),
      cluster: testCluster(
        [testNode('a'), testNode('b')],
        [on('a', 'x', { cpu: '2', memory: '1Gi' }), on('b', 'y', { cpu: '1', memory: '3Gi' })],
      ),
      want: 'b',
    },
    {
      name: 'a node that the preferred affinity matches',
      pod: testPod('p', {
        spec: {
          affinity: {
            nodeAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [
                { weight: 1, preference: { matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] } },
              ],
            },
          },
        },
      }),
      cluster: testCluster([testNode('a'), testNode('b', { labels: { disk: 'ssd' } })], [on('b', 'x', { cpu: '1' })]),
      want: 'b',
    },
    {
      name: 'a node without a taint of the effect PreferNoSchedule',
      pod: testPod('p'),
      cluster: testCluster([testNode('a', { spec: { taints: [{ key: 'k', effect: 'PreferNoSchedule' }] } }), testNode('b')]),
      want: 'b',
    },
    {
      name: 'a node with a pod of the preferred affinity',
      pod: testPod('p', { spec: preferred('podAffinity') }),
      cluster: testCluster([testNode('a'), testNode('b')], [on('b', 'x', { labels: app('db') })]),
      want: 'b',
    },
    {
      name: 'a node without a pod of the preferred anti-affinity',
      pod: testPod('p', { spec: preferred('podAntiAffinity') }),
      cluster: testCluster([testNode('a'), testNode('b')], [on('a', 'x', { labels: app('db') })]),
      want: 'b',
    },
    {
      name: 'a node to whose pod the pod is preferred',
      pod: testPod('p', { labels: app('db') }),
      cluster: testCluster([testNode('a'), testNode('b')], [on('b', 'x', { spec: preferred('podAffinity') })]),
      want: 'b',
    },
    {
      name: 'the zone with fewer pods of the spread constraint',
      pod: testPod('p', { labels: app('a'), spec: spread({ whenUnsatisfiable: 'ScheduleAnyway' }) }),
      cluster: testCluster([zoned('a', '1'), zoned('b', '2')], [on('a', 'x', { labels: app('a') })]),
      want: 'b',
    },
    {
      name: 'a node without pods of the same service',
      pod: testPod('p', { labels: app('a') }),
      cluster: testCluster([testNode('a'), testNode('b')], [on('a', 'x', { labels: app('a') }), on('b', 'y', { labels: app('other') })], {
        services: [{ apiVersion: 'v1', kind: 'Service', metadata: { name: 's', namespace: 'default' }, spec: { selector: app('a') } }],
      }),
      want: 'b',
    },
  ])('prefer $name', ({ pod, cluster, want }) => {
    expect(schedule(pod, cluster)).toBe(want);
  });

  it('choose among equal nodes by chance', () => {
    const cluster = testCluster([testNode('a'), testNode('b'), testNode('c')]);
    const choose = (random: number): unknown => schedulePod(podInfo(testPod('p')), cluster, filters, scores, cluster, () => random);
    expect([0, 0.5, 0.9].map((random) => (choose(random) as { node: { name: string } }).node.name)).toEqual(['a', 'b', 'c']);
  });
});

describe('the cluster', () => {
  it('counts an assumed pod until it is deleted or finishes', () => {
    const cluster = testCluster([testNode('a')]);
    const pod = testPod('x', { cpu: '4' });
    cluster.assume(podInfo(pod), 'a');
    expect(schedule(testPod('p', { cpu: '1' }), cluster)).toContain('Insufficient cpu');
    cluster.setPod({ ...pod, spec: { ...pod.spec, nodeName: 'a' }, status: { phase: 'Succeeded' } });
    expect(schedule(testPod('p', { cpu: '1' }), cluster)).toBe('a');
  });

  it('counts pods of a node that appears later or again', () => {
    const cluster = testCluster([], [on('a', 'x', { cpu: '4' })]);
    cluster.setNode(testNode('a'));
    expect(schedule(testPod('p', { cpu: '1' }), cluster)).toContain('Insufficient cpu');
    cluster.deleteNode('a');
    cluster.setNode(testNode('a'));
    expect(schedule(testPod('p', { cpu: '1' }), cluster)).toContain('Insufficient cpu');
  });

  it('reserves the room of a nominated pod against pods of at most its priority', () => {
    const cluster = testCluster([testNode('a')]);
    cluster.nominate(podInfo(testPod('n', { cpu: '4', spec: { priority: 10 } })), 'a');
    expect(schedule(testPod('low', { cpu: '1' }), cluster)).toContain('Insufficient cpu');
    expect(schedule(testPod('high', { cpu: '1', spec: { priority: 11 } }), cluster)).toBe('a');
  });

  it('counts a nominated pod once when it has its place', () => {
    const cluster = testCluster([testNode('a')]);
    const nominated = podInfo(testPod('n', { cpu: '2', spec: { priority: 10 } }));
    cluster.nominate(nominated, 'a');
    cluster.assume(nominated, 'a');
    expect(schedule(testPod('other', { cpu: '2' }), cluster)).toBe('a');
    expect(schedule(testPod('large', { cpu: '3' }), cluster)).toContain('Insufficient cpu');
  });
});
