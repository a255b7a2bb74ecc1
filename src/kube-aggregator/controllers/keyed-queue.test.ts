import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { KeyedQueue } from './keyed-queue.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => vi.useRealTimers());

const turn = async (): Promise<void> => {
  for (let i = 0; i < 3; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** Creates a queue whose attempts have these results: a boolean is returned, anything else is thrown. The last one repeats. */
function queueOf(...results: unknown[]): { queue: KeyedQueue; done: string[]; errors: unknown[] } {
  const done: string[] = [];
  const errors: unknown[] = [];
  const work = (key: string): Promise<boolean> => {
    done.push(key);
    const result = results.length > 1 ? results.shift() : results[0];
    return typeof result === 'boolean' ? Promise.resolve(result) : Promise.reject(result as Error);
  };
  return {
    queue: new KeyedQueue({ work, firstRetryMs: 10, lastRetryMs: 30, resyncMs: 1_000, onError: (error) => errors.push(error) }),
    done,
    errors,
  };
}

it('runs once for several calls in a turn, and again after the resync interval', async () => {
  using stack = new DisposableStack();
  const { queue, done } = queueOf(true);
  stack.use(queue);
  queue.add('a');
  queue.add('b');
  queue.add('a');
  await turn();
  expect(done).toEqual(['a', 'b']);
  vi.advanceTimersByTime(1_000);
  await turn();
  expect(done).toEqual(['a', 'b', 'a', 'b']);
});

it('retries with growing delays, also after an exception', async () => {
  using stack = new DisposableStack();
  const problem = new Error('no');
  const { queue, done, errors } = queueOf(false, problem, false, true);
  stack.use(queue);
  queue.add('a');
  for (const [wait, attempts] of [
    [0, 1],
    [9, 1],
    [1, 2],
    [19, 2],
    [1, 3],
    [29, 3],
    [1, 4],
    [999, 4],
    [1, 5],
  ] as const) {
    vi.advanceTimersByTime(wait);
    await turn();
    expect(done).toHaveLength(attempts);
  }
  expect(errors).toEqual([problem]);
});

it.each(['forget', 'dispose'] as const)('stops after %s', async (end) => {
  const { queue, done } = queueOf(true);
  queue.add('a');
  await turn();
  if (end === 'forget') queue.forget('a');
  else queue[Symbol.dispose]();
  vi.advanceTimersByTime(10_000);
  await turn();
  expect(done).toEqual(['a']);
  queue[Symbol.dispose]();
});
