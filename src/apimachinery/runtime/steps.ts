import { setImmediate as nextTurn } from 'node:timers/promises';

/** Work in steps of some milliseconds at most: between two of them, others may run. */
export type Steps<T> = Generator<void, T, void>;

const turnMs = 5;

/** When the first steps of this turn of the event loop began. */
let turnBegan: number | undefined;

/** Does the work at once if this turn of the event loop has time for it, else the rest as `inSteps` does. */
export function startSteps<T>(steps: Steps<T>): T | Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (!hasTime()) return nextTurn().then(() => inSteps(steps));
  }
}

/** Does the work, and lets others run whenever all that is done so has had its turn. */
export async function inSteps<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    beginTurn();
    const step = steps.next();
    if (step.done) return step.value;
    if (hasTime()) continue;
    await nextTurn();
  }
}

/** Whether more may be done in this turn of the event loop by those who ask: a few milliseconds all together, from when the first began. */
export function hasTime(): boolean {
  beginTurn();
  return performance.now() - turnBegan! < turnMs;
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
