import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ServiceQueue } from './service-queue.ts';

it('performs no further read for a thread that does not receive its answers', async () => {
  const queue = new ServiceQueue(() => expect.unreachable());
  const answered: number[] = [];
  for (let id = 1; id <= 100; id += 1) void queue.run(id, async () => void answered.push(id));
  await nextTurn();
  expect(answered).toHaveLength(16);
  queue.received(3);
  await nextTurn();
  expect(answered.slice(16)).toEqual([17]);
  for (let id = 1; id <= 100; id += 1) {
    queue.received(id);
    await nextTurn();
  }
  expect(answered).toHaveLength(100);
});

it('reports a thread that sends more and more reads', async () => {
  let overflows = 0;
  const queue = new ServiceQueue(() => (overflows += 1));
  for (let id = 1; id <= 20_000; id += 1) void queue.run(id, () => Promise.resolve());
  await nextTurn();
  expect(overflows).toBeGreaterThan(0);
});
