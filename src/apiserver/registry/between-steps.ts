import { setImmediate } from 'node:timers/promises';

const largeBytes = 128 * 1024;

/**
 * Lets others run before the next step of a write, where its object is so large that each step may take 100 ms (parsing,
 * decoding, field management, validation, encoding). undefined, without a promise, where it is not.
 */
export function betweenSteps(bytes: number): Promise<void> | undefined {
  return bytes < largeBytes ? undefined : setImmediate();
}
