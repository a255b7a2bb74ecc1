import type { Clock } from 'kubenest/sdk';
import { describe, expect, it } from 'vitest';
import { retried } from './retried.ts';

describe('a work that is retried', () => {
  const clock: Pick<Clock, 'after'> = {
    after(_, callback) {
      queueMicrotask(callback);
      return () => {};
    },
  };

  it('is repeated until it succeeds', async () => {
    const errors: string[] = [];
    let left = 2;
    const work = (): Promise<void> => (left-- > 0 ? Promise.reject(new Error('forbidden')) : Promise.resolve());
    await retried(work, clock as Clock, new AbortController().signal, ({ message }) => void errors.push(message));
    expect(errors).toEqual(['forbidden', 'forbidden']);
  });

  it('ends when the signal aborts', async () => {
    const ending = new AbortController();
    let calls = 0;
    const work = (): Promise<void> => {
      if (++calls === 3) ending.abort();
      return Promise.reject(new Error('forbidden'));
    };
    await retried(work, clock as Clock, ending.signal, () => {});
    expect(calls).toBe(3);
  });
});
