import { wideTurnsSoFar } from '#apimachinery/runtime/steps';

const lookEveryMs = 500;
/** So many long turns between two looks are no chance. */
const busyTurns = 2;
/** After so many looks without, large bodies are no longer what the server is busy with. */
const quietLooks = 4;

export interface CollectionRate {
  collectSeldom(): void;
  /** As from the start on. */
  collectOften(): void;
}

/**
 * Has V8 collect seldom while bodies are worked on that make turns of the event loop long: an object of 285,000 keys is garbage for half a collection, each
 * of which holds everybody up for 20 to 40 ms more, most of it for the keys as such. What the heap has grown by goes when they are over (idle-collection.ts).
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
