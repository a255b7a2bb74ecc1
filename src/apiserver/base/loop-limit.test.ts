import { afterEach, expect, it, vi } from 'vitest';
import { LoopLimit, type LoopTimes } from './loop-limit.ts';

afterEach(() => void vi.useRealTimers());

/** Plays 200 works of 10 ms each, of which the event loop works for a share, and returns the most in progress at once. */
async function mostInProgress(share: number): Promise<{ most: number; order: number[] }> {
  let times: LoopTimes = { idle: 1_000, active: 0 };
  const limit = new LoopLimit(4, 8, () => times);
  const ends: (() => void)[] = [];
  const order: number[] = [];
  for (let i = 0; i < 200; i++) {
    limit.run(() => {
      order.push(i);
      return new Promise((resolve) => ends.push(resolve));
    });
  }
  let most = 0;
  for (let ended = 0; ended < 200; ended++) {
    most = Math.max(most, ends.length - ended);
    times = { idle: times.idle + 10 * (1 - share), active: times.active + 10 * share };
    ends[ended]?.();
    await new Promise(setImmediate);
  }
  return { most, order };
}

it.each([
  { loop: 'is busy', share: 0.9, most: 4 },
  { loop: 'works most of the time', share: 0.6, most: 4 },
  { loop: 'waits most of the time', share: 0.2, most: 8 },
])('runs at most $most works at a time while the event loop $loop', async ({ share, most }) => {
  const played = await mostInProgress(share);
  expect(played).toEqual({ most, order: Array.from({ length: 200 }, (_, i) => i) });
});

it('begins each burst with few works', async () => {
  let times: LoopTimes = { idle: 0, active: 0 };
  const limit = new LoopLimit(1, 3, () => times);
  const begun: number[] = [];
  for (const burst of [1, 2]) {
    for (let i = 0; i < 3; i++) {
      limit.run(() => {
        begun.push(burst);
        return Promise.resolve();
      });
    }
    expect(begun.filter((one) => one === burst)).toHaveLength(1);
    times = { idle: times.idle + 1_000, active: 0 };
    await new Promise(setImmediate);
    expect(begun.filter((one) => one === burst)).toHaveLength(3);
  }
});

it.each([
  { loop: 'waits', share: 0.1, begun: 5 },
  { loop: 'is busy', share: 0.9, begun: 1 },
])('has begun $begun of 5 works that do not end while the event loop $loop', async ({ share, begun }) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let times: LoopTimes = { idle: 0, active: 0 };
  const limit = new LoopLimit(1, 8, () => times);
  let started = 0;
  const ends: (() => void)[] = [];
  for (let i = 0; i < 5; i++) {
    limit.run(() => {
      started += 1;
      return new Promise((resolve) => ends.push(resolve));
    });
  }
  for (let period = 0; period < 5; period++) {
    times = { idle: times.idle + 20 * (1 - share), active: times.active + 20 * share };
    vi.advanceTimersByTime(20);
  }
  expect(started).toBe(begun);
  // Each end lets the next work begin; the last one ends the checks, too.
  while (ends.length > 0) {
    ends.shift()?.();
    await new Promise(setImmediate);
  }
  expect(started).toBe(5);
  vi.advanceTimersByTime(20);
  expect(vi.getTimerCount()).toBe(0);
});
