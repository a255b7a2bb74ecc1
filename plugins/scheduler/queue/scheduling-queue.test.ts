import type { Clock } from 'kubenest/sdk';
import type { Pod } from 'kubenest/types/core_v1';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { FakeClock } from 'kubenest/sdk/testing';
import type { ClusterEvent } from '../framework/framework.ts';
import { podInfo, type PodInfo } from '../framework/pod-info.ts';
import { testPod } from '../test-objects.ts';
import { Heap } from './heap.ts';
import { backOffMs, SchedulingQueue } from './scheduling-queue.ts';

const eventsOf: Record<string, readonly ClusterEvent[]> = { Resources: ['PodDeleted', 'NodeAdded'], Taints: ['NodeTaintsChanged'] };

let clock: FakeClock;
let queue: SchedulingQueue;
let wakes: number;
beforeEach(() => {
  clock = new FakeClock();
  wakes = 0;
  queue = new SchedulingQueue(
    clock as Clock,
    () => (wakes += 1),
    (filter) => eventsOf[filter] ?? [],
  );
});
afterEach(() => {
  queue[Symbol.dispose]();
  expect(clock.timers).toBe(0);
});

const info = (name: string, priority = 0, more: Pod['spec'] = {}): PodInfo =>
  podInfo(testPod(name, { metadata: { generation: 1 }, spec: { priority, ...more } }));
const taken = (): string | undefined => queue.pop()?.pod.pod.metadata.name;
const fail = (...filters: string[]): void => {
  const queued = queue.pop();
  if (queued) queue.markUnschedulable(queued, new Set(filters));
};

describe('the scheduling queue', () => {
  it('gives pods by priority, then in order of arrival', () => {
    for (const pod of [info('a'), info('b', 10), info('c'), info('d', 10)]) queue.add(pod);
    expect([taken(), taken(), taken(), taken(), taken()]).toEqual(['b', 'd', 'a', 'c', undefined]);
    expect(wakes).toBe(4);
  });

  it('does not give a deleted pod, nor one in flight again', () => {
    const [a, b] = [info('a'), info('b')];
    queue.add(a);
    queue.add(b);
    queue.delete(a.uid);
    expect([taken(), taken()]).toEqual(['b', undefined]);
    queue.add(b);
    expect(taken()).toBeUndefined();
  });

  it('keeps a gated pod until its last gate is removed', () => {
    const gated = info('a', 0, { schedulingGates: [{ name: 'g' }] });
    queue.add(gated);
    expect(taken()).toBeUndefined();
    const { schedulingGates: _, ...spec } = gated.pod.spec ?? {};
    queue.add(podInfo({ ...gated.pod, spec }));
    expect(taken()).toBe('a');
  });

  it('tries an unschedulable pod again, after its back-off, when an event may help it', async () => {
    queue.add(info('a'));
    fail('Resources');
    queue.happened('NodeTaintsChanged');
    await clock.advance(2_000);
    expect(taken()).toBeUndefined();
    queue.happened('PodDeleted');
    expect(taken()).toBe('a');
  });

  it('waits for the back-off, which grows with the attempts', async () => {
    queue.add(info('a'));
    fail('Resources');
    queue.happened('PodDeleted');
    await clock.advance(999);
    expect(taken()).toBeUndefined();
    await clock.advance(1);
    fail('Resources');
    queue.happened('NodeAdded');
    await clock.advance(1_999);
    expect(taken()).toBeUndefined();
    await clock.advance(1);
    expect(taken()).toBe('a');
    expect([1, 2, 3, 4, 5, 9].map((attempts) => backOffMs(attempts))).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
  });

  it('tries a pod again that changed', async () => {
    const pod = info('a');
    queue.add(pod);
    fail('Taints');
    await clock.advance(1_000);
    queue.add(pod);
    expect(taken()).toBeUndefined();
    queue.add(podInfo({ ...pod.pod, metadata: { ...pod.pod.metadata, generation: 2 } }));
    expect(taken()).toBe('a');
  });

  it('tries a pod again after any event if no filter rejected it', async () => {
    queue.add(info('a'));
    fail();
    await clock.advance(1_000);
    queue.happened('NodeLabelsChanged');
    expect(taken()).toBe('a');
  });

  it('tries a pod whose binding failed again after its back-off', async () => {
    queue.add(info('a'));
    const queued = queue.pop();
    if (queued) queue.markFailed(queued);
    expect(taken()).toBeUndefined();
    await clock.advance(1_000);
    expect(taken()).toBe('a');
  });

  it('tries every pod again after five minutes', async () => {
    queue.add(info('a'));
    fail('Taints');
    await clock.advance(299_000);
    expect(taken()).toBeUndefined();
    await clock.advance(31_000);
    expect(taken()).toBe('a');
  });
});

it('a heap gives its items in order', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), (items) => {
      const heap = new Heap<number>((a, b) => a < b);
      for (const item of items) heap.push(item);
      const given = Array.from({ length: heap.size }, () => heap.pop());
      expect(given).toEqual(items.toSorted((a, b) => a - b));
    }),
  );
});
