import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** Work in steps of some milliseconds at most: between two of them, others may run. */
export type Steps<T> = Generator<void, T, void>;

const turnMs = 5;

const largeBytes = 128 * 1024;

/** A turn that took longer was held up: by another process, or by work that cannot be cut. */
const longTurnMs = 10;
/** The latter, most likely: V8 makes a table of 200,000 keys larger in 30 ms. */
const wideTurnMs = 20;
/** After a long turn the others have so many times as long as they have waited too long. */
const payback = 3;
/** A loop that waits so long for events within a millisecond has done all that there was. */
const idleMs = 0.5;

/** When the first steps of this turn of the event loop began. */
let turnBegan: number | undefined;

/** Does the work at once if this turn of the event loop has time for it, else the rest as `inSteps` does. */
export function startSteps<T>(steps: Steps<T>): T | Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (!hasTime()) return turnOfOthers().then(() => inSteps(steps));
  }
}

/** Does the work, and lets others run whenever all that is done so has had its turn. */
export async function inSteps<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    beginTurn();
    const step = steps.next();
    if (step.done) return step.value;
    if (hasTime()) continue;
    await turnOfOthers();
  }
}

/** The steps until a time of `performance.now()`, at which `end` throws; 0: without an end. What nobody waits for any more must not go on for hours. */
export function* untilTime<T>(steps: Steps<T>, deadline: number, end: () => never): Steps<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    yield;
    if (deadline !== 0 && performance.now() > deadline) end();
  }
}

/** Whether more may be done in this turn of the event loop by those who ask: a few milliseconds all together, from when the first began. */
export function hasTime(): boolean {
  beginTurn();
  return performance.now() - turnBegan! < turnMs;
}

let wideTurns = 0;

/** How many turns there were that took as long as only work on very many keys takes. */
export const wideTurnsSoFar = (): number => wideTurns;

/** Others run until this resolves: for a turn of the event loop, and if they have waited for a long one until all are done, but no longer than is due to them. */
export function turnOfOthers(): Promise<void> {
  const tookMs = turnBegan === undefined ? 0 : performance.now() - turnBegan;
  if (tookMs <= longTurnMs) return nextTurn();
  if (tookMs > wideTurnMs) wideTurns += 1;
  return untilOthersAreDone((tookMs - turnMs) * payback);
}

/** Until the event loop has had nothing to do, for so long at most. */
async function untilOthersAreDone(dueMs: number): Promise<void> {
  const end = performance.now() + dueMs;
  do {
    const { idle } = performance.eventLoopUtilization();
    await sleep(1);
    if (performance.eventLoopUtilization().idle - idle > idleMs) return;
  } while (performance.now() < end);
}

function beginTurn(): void {
  if (turnBegan !== undefined) return;
  turnBegan = performance.now();
  setImmediate(() => {
    turnBegan = undefined;
  });
}

/** Does all of the work now. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** What takes no longer than a step. */
export function* oneStep<T>(work: () => T): Steps<T> {
  yield;
  return work();
}

/**
 * Whether an object is so large that each step of its work may take 100 ms (parsing, decoding, field management, validation,
 * encoding): then others run between them. To be asked first, since even a wait for nothing costs a turn of the microtasks.
 */
export function needsSteps(bytes: number): boolean {
  return bytes >= largeBytes;
}

/** Does the work on so many bytes: at once, or if they are many in steps. */
export function workOn<T>(bytes: number, steps: Steps<T>): T | Promise<T> {
  return needsSteps(bytes) ? inSteps(steps) : atOnce(steps);
}
