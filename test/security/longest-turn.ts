import { slowness } from '#apimachinery/testing/slowness';
import { threadMilliseconds } from '#apimachinery/testing/thread-time';

/** Maximum size of a body. */
export const limitBytes = 3 * 1_048_576 - 4_096;

/** Returns as many of the texts as fit, separated by commas. */
export function many(make: (i: number) => string, bytes = limitBytes): string {
  const parts: string[] = [];
  for (let i = 0, size = 0; ; i++) {
    const part = make(i);
    size += part.length + 1;
    if (size > bytes) return parts.join();
    parts.push(part);
  }
}

/**
 * Returns the longest CPU time of this thread between two turns of the event loop during the work, in milliseconds. Other load, the
 * collector and the compiler only add to it. With `below`, work with a longer turn is therefore done again, up to five times; the shortest
 * result counts, in milliseconds of the machine for which the limits of the tests are.
 *
 * @param work gets the number of the attempt, from 0, for instance for names of objects
 */
export async function longestTurn(work: (attempt: number) => Promise<unknown>, below = Infinity): Promise<number> {
  let shortest = Infinity;
  for (let attempt = 0; attempt < 5 && (attempt === 0 || shortest >= below); attempt += 1) {
    const longest = await measureTurns(() => work(attempt));
    shortest = Math.min(shortest, longest < below ? longest : longest / slowness());
  }
  return shortest;
}

async function measureTurns(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let isOver = false;
  let last = threadMilliseconds();
  const watch = (): void => {
    const at = threadMilliseconds();
    longest = Math.max(longest, at - last);
    last = at;
    if (!isOver) setImmediate(watch);
  };
  setImmediate(watch);
  try {
    await work();
    // Includes the turn that created the response.
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    isOver = true;
  }
  return longest;
}
