import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { inSteps, wideTurnsSoFar, type Steps } from './steps.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const real = performance.now.bind(performance);
/** A clock that only chunks advance, so that other processes cannot make a turn long. */
const still = (): number => 0;

/** A chunk that takes `tookMs` by the test's clock. */
function* stepOf(tookMs: number, passed: () => number): Steps<void> {
  let added = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => passed() + added);
  added += tookMs;
  yield;
}

/** Returns the number of event loop turns between two chunks, the first of which took this long. */
async function turnsOfOthers(tookMs: number, clock: () => number): Promise<number> {
  let isOver = false;
  const done = inSteps(stepOf(tookMs, clock)).then(() => {
    isOver = true;
  });
  let turns = 0;
  for (; !isOver; turns += 1) await nextTurn();
  await done;
  return turns;
}

it.each([1, 6, 10])('yields for at most one turn after a chunk of %i ms', async (tookMs) => {
  const before = wideTurnsSoFar();
  expect(await turnsOfOthers(tookMs, still)).toBeLessThanOrEqual(2);
  expect(wideTurnsSoFar()).toBe(before);
});

// Another process that runs while the loop polls for events makes the loop look idle.
it('yields for many turns after a long chunk', { retry: 5 }, async () => {
  const before = wideTurnsSoFar();
  const began = process.hrtime.bigint();
  expect(await turnsOfOthers(30, real)).toBeGreaterThan(10);
  // Three times the excess delay of 25 ms.
  expect(Number(process.hrtime.bigint() - began) / 1e6).toBeGreaterThan(70);
  expect(wideTurnsSoFar()).toBe(before + 1);
});

it('yields only once after a long chunk if there is no other work', async () => {
  const began = process.hrtime.bigint();
  await inSteps(stepOf(1_000, real));
  expect(Number(process.hrtime.bigint() - began) / 1e6).toBeLessThan(100);
});
