import { setImmediate } from 'node:timers/promises';

/** Work in steps of some milliseconds at most: between two of them, others may run. */
export type Steps<T> = Generator<void, T, void>;

const turnMs = 5;

/** Does the work, and lets others run whenever it has had its turn. */
export async function inSteps<T>(steps: Steps<T>): Promise<T> {
  for (let since = performance.now(); ; ) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - since < turnMs) continue;
    await setImmediate();
    since = performance.now();
  }
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
