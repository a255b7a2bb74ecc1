import { startTestCluster, type TestCluster } from 'kubenest/testing';
import type { Pod, PodSpec } from 'kubenest/types/core_v1';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { readConfiguration } from '#sdk/internal';
import { SchedulerConfiguration } from './configuration/scheduler-configuration.ts';
import { Scheduler } from './scheduler.ts';
import { testNode } from './test-objects.ts';

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await startTestCluster({ plugins: [Scheduler] });
});
afterEach(() => cluster[Symbol.asyncDispose]());

const pods = '/api/v1/namespaces/default/pods';

async function ask<T>(...args: Parameters<TestCluster['fetch']>): Promise<T> {
  const response = await cluster.fetch(...args);
  expect(response.status, args[0]).toBeLessThan(300);
  return (await response.json()) as T;
}

async function addNode(name: string, more: Parameters<typeof testNode>[1] = {}): Promise<void> {
  const { status, ...node } = testNode(name, more);
  const headers = { 'content-type': 'application/merge-patch+json' };
  await ask('/api/v1/nodes', { body: node });
  await ask(`/api/v1/nodes/${name}/status`, { method: 'PATCH', headers, body: { status } });
  // Admission taints new nodes as not ready.
  await ask(`/api/v1/nodes/${name}`, { method: 'PATCH', headers, body: { spec: { taints: node.spec?.taints ?? [] } } });
}

const addPod = (name: string, cpu: string, spec: PodSpec = {}): Promise<Pod> =>
  ask(pods, {
    body: {
      metadata: { name, labels: { app: name } },
      spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }], terminationGracePeriodSeconds: 0, ...spec },
    },
  });
const getPod = (name: string): Promise<Pod> => ask(`${pods}/${name}`);
const nodeOf = (name: string): Promise<string> =>
  vi.waitFor(async () => {
    const node = (await getPod(name)).spec?.nodeName;
    if (!node) throw new Error(`${name} has no node: ${JSON.stringify((await getPod(name)).status)}`);
    return node;
  });

interface Event {
  readonly reason: string;
  readonly note: string;
  readonly type: string;
  readonly action: string;
  readonly reportingController: string;
  readonly regarding: { readonly kind: string; readonly name: string };
}
const eventsOf = async (name: string): Promise<Event[]> =>
  (await ask<{ items: Event[] }>('/apis/events.k8s.io/v1/namespaces/default/events')).items.filter(
    ({ regarding }) => regarding.name === name,
  );

it('binds a pod and reports it', async () => {
  await addNode('a');
  await addPod('p', '1');
  expect(await nodeOf('p')).toBe('a');
  await vi.waitFor(async () =>
    expect(await eventsOf('p')).toMatchObject([
      {
        type: 'Normal',
        reason: 'Scheduled',
        action: 'Binding',
        note: 'Successfully assigned default/p to a',
        reportingController: 'default-scheduler',
        regarding: { kind: 'Pod', name: 'p' },
      },
    ]),
  );
});

it('reports an unschedulable pod in its condition and an event, and binds it once a node fits', async () => {
  await addNode('a', { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } });
  await addNode('b');
  await addPod('p', '5');
  const message =
    '0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s). no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.';
  await vi.waitFor(async () => {
    expect((await getPod('p')).status?.conditions).toMatchObject([
      { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message },
    ]);
    expect(await eventsOf('p')).toMatchObject([{ type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', note: message }]);
  });
  await addNode('c', { allocatable: { cpu: '8' } });
  expect(await nodeOf('p')).toBe('c');
  expect((await getPod('p')).status?.conditions).toMatchObject([{ type: 'PodScheduled', status: 'True' }]);
});

it('keeps a gated pod until its gate is removed, and leaves pods of other schedulers alone', async () => {
  await addNode('a');
  await addPod('gated', '1', { schedulingGates: [{ name: 'example.com/g' }] });
  await addPod('other', '1', { schedulerName: 'other' });
  await addPod('p', '1');
  await nodeOf('p');
  expect((await getPod('gated')).status?.conditions).toMatchObject([{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }]);
  expect((await getPod('other')).spec?.nodeName).toBeUndefined();
  const headers = { 'content-type': 'application/json-patch+json' };
  await ask(`${pods}/gated`, { method: 'PATCH', headers, body: [{ op: 'remove', path: '/spec/schedulingGates' }] });
  expect(await nodeOf('gated')).toBe('a');
});

it('preempts a pod of lower priority', async () => {
  await addNode('a');
  await ask('/apis/scheduling.k8s.io/v1/priorityclasses', { body: { metadata: { name: 'high' }, value: 1000 } });
  await addPod('low', '3');
  await nodeOf('low');
  await addPod('high', '3', { priorityClassName: 'high' });
  expect(await nodeOf('high')).toBe('a');
  expect((await cluster.fetch(`${pods}/low`)).status).toBe(404);
  expect(await eventsOf('low')).toContainEqual(
    expect.objectContaining({
      reason: 'Preempted',
      action: 'Preempting',
      note: expect.stringMatching(/^Preempted by pod [0-9a-f-]{36} on node a$/),
    }),
  );
});

it('schedules the pods of each profile by its own plugins', async () => {
  await using other = await startTestCluster({
    plugins: [
      {
        plugin: Scheduler,
        configuration: readConfiguration(
          SchedulerConfiguration,
          {
            profiles: [
              { schedulerName: 'default-scheduler' },
              {
                schedulerName: 'no-taints',
                plugins: { multiPoint: { disabled: [{ name: 'TaintToleration' }, { name: 'NodeUnschedulable' }] } },
              },
            ],
          },
          'configuration',
        ),
      },
    ],
  });
  await cluster[Symbol.asyncDispose]();
  cluster = other;
  await addNode('a', { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } });
  await addPod('p', '1');
  await addPod('q', '1', { schedulerName: 'no-taints' });
  expect(await nodeOf('q')).toBe('a');
  expect((await getPod('p')).spec?.nodeName).toBeUndefined();
  await vi.waitFor(async () => expect(await eventsOf('q')).toMatchObject([{ reason: 'Scheduled', reportingController: 'no-taints' }]));
});

it('gives the pods of a gang nodes together', async () => {
  await using other = await startTestCluster({
    plugins: [Scheduler],
    flags: ['--feature-gates=GenericWorkload=true,GangScheduling=true', '--runtime-config=scheduling.k8s.io/v1alpha2=true'],
  });
  await cluster[Symbol.asyncDispose]();
  cluster = other;
  await addNode('a', { allocatable: { cpu: '3' } });
  const groups = '/apis/scheduling.k8s.io/v1alpha2/namespaces/default/podgroups';
  const schedulingGroup = { podGroupName: 'g' };
  await addPod('p1', '2', { schedulingGroup });
  await ask(groups, { body: { metadata: { name: 'g' }, spec: { schedulingPolicy: { gang: { minCount: 2 } } } } });
  await addPod('alone', '1');
  await nodeOf('alone');
  // The first pod of the gang would fit, but waits outside of the queue for the second one.
  expect(await eventsOf('p1')).toEqual([]);
  await addPod('p2', '2', { schedulingGroup });
  await vi.waitFor(async () => {
    const notes = [...(await eventsOf('p1')), ...(await eventsOf('p2'))].map(({ note }) => note).sort();
    expect(notes).toEqual([
      expect.stringMatching(/^0\/1 nodes are available: 1 Insufficient cpu\. .*No preemption victims found/),
      expect.stringMatching(/^pod group is unschedulable, waiting for minCount pods from a gang to be scheduled/),
    ]);
  });
  const condition = async (): Promise<unknown> => (await ask<{ status?: { conditions?: unknown[] } }>(`${groups}/g`)).status?.conditions;
  await vi.waitFor(async () => expect(await condition()).toMatchObject([{ type: 'PodGroupScheduled', status: 'False' }]));
  await addNode('b', { allocatable: { cpu: '3' } });
  expect([await nodeOf('p1'), await nodeOf('p2')].sort()).toEqual(['a', 'b']);
  await vi.waitFor(async () => expect(await condition()).toMatchObject([{ type: 'PodGroupScheduled', status: 'True' }]));
});
