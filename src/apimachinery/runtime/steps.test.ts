import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { inSteps, wideTurnsSoFar, type Steps } from './steps.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const real = performance.now.bind(performance);
/** A clock that moves with the steps only, so that other processes cannot make a turn long. */
const still = (): number => 0;

/** A step that takes `tookMs` by the clock of the test. */
function* stepOf(tookMs: number, passed: () => number): Steps<void> {
  let added = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => passed() + added);
  added += tookMs;
  yield;
}

/** Counts the turns of the event loop that others had between two steps, the first of which took `tookMs`. */
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

it.each([1, 6, 10])('after a step of %i ms others have a turn at most', async (tookMs) => {
  const before = wideTurnsSoFar();
  expect(await turnsOfOthers(tookMs, still)).toBeLessThanOrEqual(2);
  expect(wideTurnsSoFar()).toBe(before);
});

// Another process that runs while the loop asks for events makes it look idle.
it('after a long step others have many', { retry: 5 }, async () => {
  const before = wideTurnsSoFar();
  const began = process.hrtime.bigint();
  expect(await turnsOfOthers(30, real)).toBeGreaterThan(10);
  // Three times the 25 ms that they have waited too long.
  expect(Number(process.hrtime.bigint() - began) / 1e6).toBeGreaterThan(70);
  expect(wideTurnsSoFar()).toBe(before + 1);
});

it('after a long step nobody waits if there are no others', async () => {
  const began = process.hrtime.bigint();
  await inSteps(stepOf(1_000, real));
  expect(Number(process.hrtime.bigint() - began) / 1e6).toBeLessThan(100);
});
