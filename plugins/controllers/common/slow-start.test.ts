import { expect, it } from 'vitest';
import { slowStart } from './slow-start.ts';

it('doubles the number of calls at a time', async () => {
  const batches: number[] = [];
  let running = 0;
  const { successes, error } = await slowStart(10, async () => {
    running += 1;
    const atStart = running;
    await Promise.resolve();
    if (atStart === running) batches.push(running);
    await Promise.resolve();
    running -= 1;
  });
  expect([successes, error]).toEqual([10, undefined]);
  expect(batches).toEqual([1, 2, 4, 3]);
});

it('ends with the batch in which a call fails', async () => {
  const indexes: number[] = [];
  const { successes, error } = await slowStart(10, (index) => {
    indexes.push(index);
    return index === 1 ? Promise.reject(new Error('no')) : Promise.resolve();
  });
  expect(indexes).toEqual([0, 1, 2]);
  expect([successes, error?.message]).toEqual([2, 'no']);
});
