/** Milliseconds of evaluations in one turn of the event loop, after which an attempt to schedule a pod pauses. */
const turnMs = 20;

let turnBegan: number | undefined;
let mayPause = false;

/** Thrown by an attempt that has to go on in another turn. Results of evaluations are kept, so that each attempt gets further. */
export class MoreTimeNeeded extends Error {}

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
  } else if (mayPause && performance.now() - turnBegan > turnMs) throw new MoreTimeNeeded('the attempt goes on in another turn');
}
