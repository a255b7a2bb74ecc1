import { threadMilliseconds } from './thread-time.ts';

/** CPU milliseconds of the fixed computation on the machine for which the limits of the tests are. */
const referenceMs = 40;
/** The kernel counts CPU time in units of up to 10 ms. */
const repetitions = 4;

const value = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`key-${i}`, { index: i, text: `text ${i}` }]));

/**
 * Returns how many times as long as on the machine for which the limits of the tests are a fixed computation takes at present, at least 1:
 * a slower machine, and other processes that share its caches, also increase CPU time. Limits of CPU time are multiplied by it.
 */
export function slowness(): number {
  const runs = Array.from({ length: 3 }, () => {
    const began = threadMilliseconds();
    for (let i = 0; i < repetitions; i += 1) JSON.parse(JSON.stringify(value));
    return threadMilliseconds() - began;
  });
  return Math.max(1, Math.min(...runs) / referenceMs);
}
