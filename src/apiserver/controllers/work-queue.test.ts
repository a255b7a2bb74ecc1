import { FakeClock, turn } from '#apiserver/base/fake-clock';
import { WorkQueueMetrics } from '#apiserver/base/metrics/workqueue-metrics';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { ExponentialBackoff } from './rate-limiter.ts';
import { WorkQueue } from './work-queue.ts';

const newQueue = (): { clock: FakeClock; queue: WorkQueue } => {
  const clock = new FakeClock();
  return { clock, queue: new WorkQueue({ clock, rateLimiter: new ExponentialBackoff(10, 1_000) }) };
};

it('hands out a key once that is added several times', async () => {
  const { queue } = newQueue();
  for (const key of ['a', 'b', 'a']) queue.add(key);
  expect(queue.length).toBe(2);
  expect([await queue.get(), await queue.get()]).toEqual(['a', 'b']);
  expect(queue.length).toBe(0);
});

it('queues a key again that is added while a worker has it, and not before that worker is done', async () => {
  const { queue } = newQueue();
  queue.add('a');
  await queue.get();
  queue.add('a');
  expect(queue.length).toBe(0);
  queue.done('a');
  expect(await queue.get()).toBe('a');
});

it('gives a waiting worker the next key', async () => {
  const { queue } = newQueue();
  const waiting = queue.get();
  queue.add('a');
  expect(await waiting).toBe('a');
  expect(queue.length).toBe(0);
});

it('adds a key after the shortest of its delays', async () => {
  const { clock, queue } = newQueue();
  queue.addAfter('a', 500);
  queue.addAfter('a', 100);
  queue.addAfter('a', 300);
  await clock.advance(99);
  expect(queue.length).toBe(0);
  await clock.advance(1);
  expect(queue.length).toBe(1);
  await queue.get();
  queue.done('a');
  await clock.advance(1_000);
  expect(queue.length).toBe(0);
});

it('doubles the delay of a key with each failure, up to the limit, until it is forgotten', async () => {
  const { clock, queue } = newQueue();
  const delays: number[] = [];
  for (let i = 0; i < 9; i++) {
    if (i === 8) queue.forget('a');
    const from = clock.now();
    queue.addRateLimited('a');
    while (queue.length === 0) await clock.advance(10);
    delays.push(clock.now() - from);
    await queue.get();
    queue.done('a');
  }
  expect(delays).toEqual([10, 20, 40, 80, 160, 320, 640, 1_000, 10]);
  expect(queue.requeues('a')).toBe(1);
});

it('drops delayed keys at shutdown, hands out those that wait, and then ends the workers', async () => {
  const { clock, queue } = newQueue();
  queue.add('a');
  queue.addAfter('b', 10);
  queue.shutDown();
  queue.add('c');
  await clock.advance(100);
  expect([await queue.get(), await queue.get(), await queue.get()]).toEqual(['a', undefined, undefined]);
});

it('ends a waiting worker at shutdown', async () => {
  const { queue } = newQueue();
  const waiting = queue.get();
  await turn();
  queue.shutDown();
  expect(await waiting).toBeUndefined();
});

it('adds a key after the longest delay of a timer if its own is longer', async () => {
  const { clock, queue } = newQueue();
  const delays: number[] = [];
  const after = clock.after.bind(clock);
  clock.after = (ms, callback) => {
    delays.push(ms);
    return after(ms, callback);
  };
  queue.addAfter('a', 365 * 86_400_000);
  expect(delays).toEqual([2 ** 31 - 1]);
});

it('counts in the metrics of its name, also when a later queue replaces it', async () => {
  const registry = new Registry();
  const metrics = new WorkQueueMetrics(registry);
  const clock = new FakeClock();
  const first = new WorkQueue({ clock, metrics: metrics.queue('pods') });
  for (const key of ['a', 'b', 'c']) first.add(key);
  first.done((await first.get()) as string);
  first.addRateLimited('a');
  first.shutDown();
  first.clear();
  const second = new WorkQueue({ clock, metrics: metrics.queue('pods') });
  second.add('a');
  const text = await registry.metrics();
  for (const line of [
    'workqueue_adds_total{name="pods"} 4',
    'workqueue_depth{name="pods"} 1',
    'workqueue_retries_total{name="pods"} 1',
    'workqueue_queue_duration_seconds_count{name="pods"} 1',
    'workqueue_work_duration_seconds_count{name="pods"} 1',
    'workqueue_unfinished_work_seconds{name="pods"} 0',
  ])
    expect(text).toContain(line);
});
