import { atOnce, inSteps, largeBytes, type Steps, turnOfOthers } from '#apimachinery/runtime/steps';

/**
 * Whether an object is so large that each step of its write may take 100 ms (parsing, decoding, field management, validation,
 * encoding): then others run between them. To be asked first, since even a wait for nothing costs a turn of the microtasks.
 */
export function needsSteps(bytes: number): boolean {
  return bytes >= largeBytes;
}

/** Does the work on so many bytes: at once, or if they are many in steps. */
export function workOn<T>(bytes: number, steps: Steps<T>): T | Promise<T> {
  return needsSteps(bytes) ? inSteps(steps) : atOnce(steps);
}

/** Lets others run before the next step. */
export function betweenSteps(): Promise<void> {
  return turnOfOthers();
}
