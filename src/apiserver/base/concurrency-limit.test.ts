import { describe, expect, it } from 'vitest';
import { ConcurrencyLimit } from './concurrency-limit.ts';

describe('ConcurrencyLimit', () => {
  it('runs no more works at a time than its limit, in their order, also after failures', async () => {
    const limit = new ConcurrencyLimit(2);
    const started: number[] = [];
    let running = 0;
    let most = 0;
    const work = (id: number) => async (): Promise<number> => {
      started.push(id);
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      if (id % 3 === 0) throw new Error(`${id}`);
      return id;
    };
    const results = await Promise.allSettled([0, 1, 2, 3, 4, 5, 6].map((id) => limit.run(work(id))));
    expect(most).toBe(2);
    expect(started).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(results.map(({ status }) => status === 'fulfilled')).toEqual([false, true, true, false, true, true, false]);
    expect(await limit.run(work(7))).toBe(7);
  });
});
