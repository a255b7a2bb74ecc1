import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** Work in chunks of a few milliseconds: it yields so that other work can run in between. */
export type Steps<T> = Generator<void, T, void>;

const turnMs = 5;

const largeBytes = 128 * 1024;

/** A longer turn was delayed by another process, or by work that cannot be divided. */
const longTurnMs = 10;
/** Such work, most likely: V8 grows a table of 200,000 keys in 30 ms. */
const wideTurnMs = 20;
/** After a long turn, other work gets this multiple of its excess delay. */
const payback = 3;
/** An event loop that waits this long for events within a millisecond is idle. */
const idleMs = 0.5;

/** Time at which the first chunk of this event loop turn started. */
let turnBegan: number | undefined;

/** Runs the work at once if this event loop turn has time for it; otherwise it continues like `inSteps`. */
export function startSteps<T>(steps: Steps<T>): T | Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (!hasTime()) return turnOfOthers().then(() => inSteps(steps));
  }
}

/** Runs the work, and yields to the event loop when the time of the current turn is used up. */
export async function inSteps<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    beginTurn();
    const step = steps.next();
    if (step.done) return step.value;
    if (hasTime()) continue;
    await turnOfOthers();
  }
}

/**
 * Limits the work to a deadline on the clock of `performance.now()`, at which `end` throws; 0 for no limit. Work whose client has gone must
 * not continue for hours.
 */
export function* untilTime<T>(steps: Steps<T>, deadline: number, end: () => never): Steps<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    yield;
    if (deadline !== 0 && performance.now() > deadline) end();
  }
}

/** True if this event loop turn has time for more chunked work: a few milliseconds in total since the first chunk started. */
export function hasTime(): boolean {
  beginTurn();
  return performance.now() - turnBegan! < turnMs;
}

let wideTurns = 0;

/** Returns the number of turns so long that only work on very many keys explains them. */
export const wideTurnsSoFar = (): number => wideTurns;

/** Yields to the event loop for one turn; after a long turn until other work is done, up to the time that it is due. */
export function turnOfOthers(): Promise<void> {
  const tookMs = turnBegan === undefined ? 0 : performance.now() - turnBegan;
  if (tookMs <= longTurnMs) return nextTurn();
  if (tookMs > wideTurnMs) wideTurns += 1;
  return untilOthersAreDone((tookMs - turnMs) * payback);
}

/** Waits until the event loop is idle, at most this long. */
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

/** Runs all of the work synchronously. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Wraps work that is shorter than a chunk. */
export function* oneStep<T>(work: () => T): Steps<T> {
  yield;
  return work();
}

/**
 * True if an object is so large that processing it (parsing, decoding, field management, validation, encoding) may take 100 ms each and
 * must yield. It must be checked first, since even an await without work costs a microtask.
 */
export function needsSteps(bytes: number): boolean {
  return bytes >= largeBytes;
}

/** Runs the work on an object of this size: at once, or chunked if it is large. */
export function workOn<T>(bytes: number, steps: Steps<T>): T | Promise<T> {
  return needsSteps(bytes) ? inSteps(steps) : atOnce(steps);
}
