import { slowness } from './slowness.ts';
import { threadMilliseconds } from './thread-time.ts';

/**
 * Returns the CPU time of this thread for the work. Other load, the collector and the compiler only add to it: work that takes longer than
 * the limit is done again, up to five times, and the shortest result counts, in milliseconds of the machine for which the limits of the
 * tests are.
 *
 * @param work can be done again, with the same result
 * @param below limit in milliseconds
 */
export function leastThreadTime(work: () => unknown, below: number): number {
  let least = Infinity;
  for (let attempt = 0; attempt < 5 && least >= below; attempt += 1) {
    const began = threadMilliseconds();
    work();
    const taken = threadMilliseconds() - began;
    least = Math.min(least, taken < below ? taken : taken / slowness());
  }
  return least;
}
