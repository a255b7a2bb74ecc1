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

it('yields for many turns after a long chunk', async () => {
  const results: { turns: number; ms: number; wide: number }[] = [];
  const areMany = ({ turns, ms, wide }: (typeof results)[number]): boolean =>
    // Three times the excess delay of 25 ms.
    turns > 10 && ms > 70 && wide === 1;
  // Another process that runs while the loop polls for events makes the loop look idle.
  while (results.length < 6 && !results.some(areMany)) {
    const before = wideTurnsSoFar();
    const began = process.hrtime.bigint();
    const turns = await turnsOfOthers(30, real);
    results.push({ turns, ms: Number(process.hrtime.bigint() - began) / 1e6, wide: wideTurnsSoFar() - before });
  }
  expect(results).toContainEqual(expect.toSatisfy(areMany));
});

it('yields only once after a long chunk if there is no other work', async () => {
  const began = process.hrtime.bigint();
  await inSteps(stepOf(1_000, real));
  expect(Number(process.hrtime.bigint() - began) / 1e6).toBeLessThan(100);
});
