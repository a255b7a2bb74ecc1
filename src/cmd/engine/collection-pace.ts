import { wideTurnsSoFar } from '#apimachinery/runtime/steps';

const lookEveryMs = 500;
/** Number of long turns per interval from which large bodies are assumed. */
const busyTurns = 2;
/** Number of intervals without long turns after which the normal rate is restored. */
const quietLooks = 4;

export interface CollectionRate {
  collectSeldom(): void;
  /** Restores the rate of the start. */
  collectOften(): void;
}

/**
 * Reduces the rate of V8's collections while large bodies cause long turns of the event loop. An object with 285,000 keys remains as
 * garbage for half a collection; each such collection blocks the event loop for another 20 to 40 ms, mostly because of the keys. Idle
 * collection (idle-collection.ts) later frees the additional heap.
 */
export function paceCollections(engine: CollectionRate, wideTurns = wideTurnsSoFar): Disposable {
  let before = wideTurns();
  let quiet = quietLooks;
  const timer = setInterval(() => {
    const now = wideTurns();
    const isBusy = now >= before + busyTurns;
    before = now;
    if (isBusy && quiet >= quietLooks) engine.collectSeldom();
    if (!isBusy && quiet === quietLooks - 1) engine.collectOften();
    quiet = isBusy ? 0 : Math.min(quiet + 1, quietLooks);
  }, lookEveryMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
