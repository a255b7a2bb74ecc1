import type { Lease } from 'kubenest/types/coordination_v1';
import type { Node, Pod } from 'kubenest/types/core_v1';
import { FakeClock, FakeCluster, reconcileTable } from 'kubenest/sdk/testing';
import { describe, expect, it } from 'vitest';
import { NodeLifecycleController } from './node-lifecycle-controller.ts';
import { Zones, zoneState } from './zones.ts';

const start = '1970-01-01T00:16:40Z';
const node = (name: string, ready: string | undefined, more: object = {}, labels: Record<string, string> = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid: name, creationTimestamp: start, labels },
  spec: {},
  status: { conditions: ready ? [{ type: 'Ready', status: ready, lastHeartbeatTime: start, lastTransitionTime: start }] : [] },
  ...more,
});
const taint = (key: string, effect = 'NoSchedule'): object => ({ key: `node.kubernetes.io/${key}`, effect });

reconcileTable(NodeLifecycleController, [
  {
    name: 'taints a node that is not ready, or unschedulable',
    objects: { nodes: [node('n', 'False', { spec: { unschedulable: true } })] },
    request: 'n',
    writes: ['update nodes n'],
    want: { nodes: { n: { spec: { taints: [taint('not-ready'), taint('unschedulable')] } } } },
  },
  {
    name: 'removes the taints of a ready node, and keeps others',
    objects: { nodes: [node('n', 'True', { spec: { taints: [taint('not-ready'), { key: 'gpu', effect: 'NoSchedule' }] } })] },
    request: 'n',
    writes: ['update nodes n'],
    want: { nodes: { n: { spec: { taints: [{ key: 'gpu' }] } } } },
  },
  {
    name: 'repeats labels under their older names',
    objects: { nodes: [node('n', 'True', {}, { 'kubernetes.io/os': 'linux' })] },
    request: 'n',
    writes: ['patch nodes n'],
    want: { nodes: { n: { metadata: { labels: { 'beta.kubernetes.io/os': 'linux' } } } } },
  },
]);

describe('silent nodes', () => {
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'ns', uid: 'p' },
    spec: { nodeName: 'a' },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: start }] },
  };
  const lease = (renewTime: string): Lease => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'b', namespace: 'kube-node-lease' },
    spec: { renewTime },
  });
  const stored = (cluster: FakeCluster, name: string): Node => cluster.stored('nodes', '', name) as Node;
  const state = (cluster: FakeCluster, name: string): unknown[] => {
    const { spec, status } = stored(cluster, name);
    return [status?.conditions?.[0]?.status, ...(spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`)];
  };
  const silence = async (): Promise<{ cluster: FakeCluster; controller: NodeLifecycleController; clock: FakeClock }> => {
    const nodes = [node('a', 'True'), node('b', 'True'), node('c', 'True')];
    const cluster = new FakeCluster({ nodes, pods: [pod], 'leases.coordination.k8s.io': [lease('2026-01-01T00:00:00.000000Z')] });
    const clock = new FakeClock();
    const logger = { warn: (details: object) => expect.unreachable(JSON.stringify(details)) };
    const controller = new NodeLifecycleController(cluster, cluster, cluster.informers, clock, logger as never);
    await controller.monitor();
    await clock.advance(50_000);
    await cluster.update({ group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }, 'kube-node-lease', 'b', () =>
      lease('2026-01-01T00:00:50.000000Z'),
    );
    await controller.monitor();
    expect(state(cluster, 'a')).toEqual(['True']);
    await clock.advance(1_000);
    await controller.monitor();
    return { cluster, controller, clock };
  };

  it('become unknown after the grace period, their pods not ready, and are tainted one by one', async () => {
    const { cluster, controller, clock } = await silence();
    const unreachable = 'node.kubernetes.io/unreachable:NoExecute';
    expect(state(cluster, 'a')).toEqual(['Unknown', unreachable]);
    expect(state(cluster, 'b')).toEqual(['True']);
    expect(state(cluster, 'c')).toEqual(['Unknown']);
    expect(stored(cluster, 'a').status?.conditions?.map(({ type, reason }) => `${type} ${reason}`)).toEqual([
      'Ready NodeStatusUnknown',
      'MemoryPressure NodeStatusNeverUpdated',
      'DiskPressure NodeStatusNeverUpdated',
      'PIDPressure NodeStatusNeverUpdated',
    ]);
    const { conditions } = (cluster.stored('pods', 'ns', 'p') as Pod).status ?? {};
    expect(conditions?.map(({ type, status }) => `${type} ${status}`)).toEqual(['Ready False']);
    expect(cluster.events.map(({ reason, message }) => `${reason} ${message}`).sort()).toEqual([
      'NodeNotReady Node a status is now: NodeNotReady',
      'NodeNotReady Node c status is now: NodeNotReady',
      'NodeNotReady Node is not ready',
      'RegisteredNode Node a event: Registered Node a in Controller',
      'RegisteredNode Node b event: Registered Node b in Controller',
      'RegisteredNode Node c event: Registered Node c in Controller',
    ]);
    await clock.advance(10_000);
    await controller.monitor();
    expect(state(cluster, 'c')).toEqual(['Unknown', unreachable]);
  });

  it('keep their pods when no node is left', async () => {
    const { cluster, controller, clock } = await silence();
    await clock.advance(60_000);
    await controller.monitor();
    expect(['a', 'b', 'c'].map((name) => state(cluster, name))).toEqual([['Unknown'], ['Unknown'], ['Unknown']]);
  });

  it('lose the taint when they are ready again', async () => {
    const { cluster, controller } = await silence();
    await cluster.update({ group: '', version: 'v1', resource: 'nodes', subresource: 'status' }, '', 'a', (present) => ({
      ...present,
      status: { conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: '1970-01-01T00:17:31Z' }] },
    }));
    await controller.monitor();
    expect(state(cluster, 'a')).toEqual(['True']);
  });
});

it.each([
  { ready: 2, notReady: 2, expected: 'Normal' },
  { ready: 2, notReady: 3, expected: 'PartialDisruption' },
  { ready: 0, notReady: 1, expected: 'FullDisruption' },
])('a zone with $ready ready and $notReady other nodes is in state $expected', ({ ready, notReady, expected }) => {
  const nodes = [...Array.from({ length: ready }, () => node('r', 'True')), ...Array.from({ length: notReady }, () => node('n', 'False'))];
  expect(zoneState(nodes)).toBe(expected);
});

it('a small zone that is partially disrupted gets no taints', () => {
  const zones = new Zones();
  zones.observe(['True', 'False', 'False', 'False'].map((ready, at) => node(`n${at}`, ready)));
  expect(zones.take(node('n1', 'False'), 0)).toBe(false);
});
