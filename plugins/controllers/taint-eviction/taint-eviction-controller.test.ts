import type { Node, Pod, Toleration } from 'kubenest/types/core_v1';
import { FakeClock, FakeCluster, reconcileTable } from 'kubenest/sdk/testing';
import { expect, it } from 'vitest';
import { evictionDelayMs } from './eviction-time.ts';
import { TaintEvictionController } from './taint-eviction-controller.ts';

const pod = (...tolerations: Toleration[]): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'ns', uid: 'p' },
  spec: { nodeName: 'n', tolerations },
  status: { phase: 'Running' },
});
const node = (...keys: string[]): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n' },
  spec: { taints: [{ key: 'other', effect: 'NoSchedule' }, ...keys.map((key) => ({ key, effect: 'NoExecute' }))] },
});
const tolerate = (key: string, tolerationSeconds?: number): Toleration => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  ...(tolerationSeconds !== undefined && { tolerationSeconds }),
});
const marking = { type: 'Normal', reason: 'TaintManagerEviction', message: 'Marking for deletion Pod ns/p' } as const;

it.each([
  { name: 'no taint', tolerations: [], keys: [], expected: undefined },
  { name: 'no toleration', tolerations: [], keys: ['a'], expected: 0 },
  { name: 'a toleration without a limit', tolerations: [tolerate('a')], keys: ['a'], expected: undefined },
  { name: 'the shortest time', tolerations: [tolerate('a', 30), tolerate('b', 5)], keys: ['a', 'b'], expected: 5_000 },
  { name: 'a taint that is not tolerated', tolerations: [tolerate('a', 30)], keys: ['a', 'b'], expected: 0 },
  { name: 'a negative time', tolerations: [tolerate('a', -1)], keys: ['a'], expected: 0 },
])('a pod with $name is evicted after $expected ms', ({ tolerations, keys, expected }) => {
  const taints = keys.map((key) => ({ key, effect: 'NoExecute' }));
  expect(evictionDelayMs(pod(...tolerations), taints)).toBe(expected);
});

reconcileTable(TaintEvictionController, [
  {
    name: 'evicts at once',
    objects: { pods: [pod()], nodes: [node('a')] },
    request: 'ns/p',
    writes: ['patch pods/status ns/p', 'delete pods ns/p'],
    events: [marking],
  },
  {
    name: 'waits for the time of the toleration',
    objects: { pods: [pod(tolerate('a', 300))], nodes: [node('a')] },
    request: 'ns/p',
    result: { requeueAfterMs: 300_000 },
  },
  { name: 'leaves pods without a taint', objects: { pods: [pod()], nodes: [node()] }, request: 'ns/p', result: {} },
]);

it('cancels the eviction when the taint is removed, and evicts in time otherwise', async () => {
  const cluster = new FakeCluster({ pods: [pod(tolerate('a', 300))], nodes: [node('a')] });
  const clock = new FakeClock();
  const controller = new TaintEvictionController(cluster, cluster, cluster.informers, clock);
  const request = { namespace: 'ns', name: 'p' };
  const nodes = { group: '', version: 'v1', resource: 'nodes' };
  await controller.reconcile(request);
  await clock.advance(100_000);
  expect(await controller.reconcile(request)).toEqual({ requeueAfterMs: 200_000 });
  await cluster.update(nodes, '', 'n', () => node());
  expect(await controller.reconcile(request)).toEqual({});
  expect(cluster.events).toEqual([{ ...marking, message: 'Cancelling deletion of Pod ns/p' }]);
  await cluster.update(nodes, '', 'n', () => node('a'));
  expect(await controller.reconcile(request)).toEqual({ requeueAfterMs: 300_000 });
  await clock.advance(300_000);
  await controller.reconcile(request);
  expect(cluster.stored('pods', 'ns', 'p')).toBeUndefined();
});
