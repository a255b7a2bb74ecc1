import { atOnce, inSteps, needsSteps, type Steps, turnOfOthers } from './steps.ts';

/** The way in which work on one object shares the event loop: without a pause for small objects, in chunks for large ones. */
export interface Pace {
  /** True if the work runs without a pause. */
  readonly isImmediate: boolean;
  /** Yields to the event loop; returns undefined at once if the pace is immediate. */
  rest(): Promise<void> | undefined;
  /** Runs chunked work. */
  run<T>(steps: Steps<T>): T | Promise<T>;
  /** Runs work that has a faster form without chunks. */
  either<T>(whole: () => T, chunked: () => Steps<T>): T | Promise<T>;
}

export const immediate: Pace = {
  isImmediate: true,
  rest: () => undefined,
  run: atOnce,
  either: (whole) => whole(),
};

export const yielding: Pace = {
  isImmediate: false,
  rest: turnOfOthers,
  run: inSteps,
  either: (_whole, chunked) => inSteps(chunked()),
};

/** Returns the pace for work on this many bytes. */
export function paceOf(bytes: number): Pace {
  return needsSteps(bytes) ? yielding : immediate;
}
