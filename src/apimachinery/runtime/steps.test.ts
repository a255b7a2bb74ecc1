import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { inSteps, wideTurnsSoFar, type Steps } from './steps.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** How many turns others had between two steps, the first of which took so long. */
async function turnsOfOthers(tookMs: number): Promise<number> {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  function* work(): Steps<void> {
    now += tookMs;
    yield;
  }
  let isOver = false;
  const done = inSteps(work()).then(() => {
    isOver = true;
  });
  let turns = 0;
  for (; !isOver; turns += 1) await nextTurn();
  await done;
  return turns;
}

it.each([1, 6, 10])('after a step of %i ms others have a turn at most', async (tookMs) => {
  const before = wideTurnsSoFar();
  expect(await turnsOfOthers(tookMs)).toBeLessThanOrEqual(2);
  expect(wideTurnsSoFar()).toBe(before);
});

it('after a long step others have many', async () => {
  const before = wideTurnsSoFar();
  const began = process.hrtime.bigint();
  expect(await turnsOfOthers(30)).toBeGreaterThan(10);
  // Three times the 25 ms that they have waited too long.
  expect(Number(process.hrtime.bigint() - began) / 1e6).toBeGreaterThan(70);
  expect(wideTurnsSoFar()).toBe(before + 1);
});
