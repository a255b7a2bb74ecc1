import { settledAnew } from '#sdk/internal';

/** Milliseconds of evaluations in one turn of the event loop, after which an attempt to schedule a pod pauses. */
const turnMs = 20;

let turnBegan: number | undefined;
let mayPause = false;

/**
 * Thrown by an attempt that has to continue in another turn, and when `until` resolves if another thread works for it. Results of
 * evaluations are kept, so that each attempt gets further.
 */
export class MoreTimeNeeded extends Error {
  readonly until: Promise<void> | undefined;

  constructor(until?: Promise<void>) {
    super('the attempt continues in another turn');
    this.until = until;
  }
}

/** Calls a function whose evaluations may throw MoreTimeNeeded: expressions of users may take seconds for all devices of a cluster. */
export function pausing<T>(work: () => T): T {
  mayPause = true;
  try {
    return work();
  } finally {
    mayPause = false;
  }
}

/** Called before each evaluation. Throws MoreTimeNeeded if the turn has no time left. */
export function takeTime(): void {
  if (turnBegan === undefined) {
    turnBegan = performance.now();
    setImmediate(() => {
      turnBegan = undefined;
    });
  } else if (mayPause && performance.now() - turnBegan > turnMs) throw new MoreTimeNeeded();
}

/**
 * Returns the result of a computation whose large regular expressions another thread matches. Throws MoreTimeNeeded within `pausing` until
 * that thread has answered; `keep` then gets the result, or the message of an error.
 */
export function answered<T>(compute: () => T, keep: (result: T | string) => void): T {
  const result = mayPause ? settledAnew(compute) : compute();
  if (!(result instanceof Promise)) return result;
  throw new MoreTimeNeeded(result.catch((error: Error) => error.message).then(keep));
}
