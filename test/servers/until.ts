import { vi } from 'vitest';

type Found<T> = Exclude<T, undefined | false>;

/** Asks until the answer is neither undefined nor false, and returns it. Rejects with the name of what is awaited after `withinMs`. */
export async function until<T>(what: string, withinMs: number, ask: () => T | Promise<T>): Promise<Found<T>> {
  try {
    return (await vi.waitUntil(ask, { timeout: withinMs })) as Found<T>;
  } catch (error) {
    throw new Error(`${what}: not within ${withinMs} ms`, { cause: error });
  }
}
