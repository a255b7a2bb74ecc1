import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { TurnQueue } from './turn-queue.ts';

function busy(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

it('starts work at once while the turn has time', () => {
  const started: number[] = [];
  const queue = new TurnQueue();
  queue.run(() => started.push(1));
  queue.run(() => started.push(2));
  expect(started).toEqual([1, 2]);
});

it('lets the event loop turn between the requests of a chain, and keeps their order', async () => {
  const queue = new TurnQueue();
  const request = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      queue.run(() => {
        busy(ms);
        resolve();
      });
    });
  let turns = 0;
  let isOver = false;
  const count = async (): Promise<void> => {
    for (; !isOver; turns += 1) await nextTurn();
  };
  const counting = count();
  const order: number[] = [];
  const chain = async (id: number): Promise<void> => {
    for (let i = 0; i < 20; i++) {
      await request(2);
      order.push(id);
    }
  };
  await Promise.all([chain(0), chain(1)]);
  isOver = true;
  await counting;
  // 80 ms of work, 5 ms in a turn.
  expect(turns).toBeGreaterThan(8);
  expect(order.slice(0, 20).filter((id) => id === 0).length).toBeGreaterThan(5);
  expect(order.slice(0, 20).filter((id) => id === 1).length).toBeGreaterThan(5);
});
