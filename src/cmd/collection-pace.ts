import { longTurnsSoFar } from '#apimachinery/runtime/steps';
import { collectOften, collectSeldom } from './engine.ts';

const lookEveryMs = 250;
/** So long without a long turn, large bodies are no longer what the server is busy with. */
const quietLooks = 8;

/**
 * Has V8 collect seldom while bodies are worked on that make turns of the event loop long: an object of 285,000 keys is garbage for half a collection, each
 * of which holds everybody up for 20 to 40 ms more, most of it for the keys as such. What the heap has grown by goes when they are over (idle-collection.ts).
 */
export function paceCollections(longTurns = longTurnsSoFar, engine = { collectOften, collectSeldom }): Disposable {
  let before = longTurns();
  let quiet = quietLooks;
  const timer = setInterval(() => {
    const now = longTurns();
    const isBusy = now > before;
    before = now;
    if (isBusy && quiet >= quietLooks) engine.collectSeldom();
    if (!isBusy && quiet === quietLooks - 1) engine.collectOften();
    quiet = isBusy ? 0 : Math.min(quiet + 1, quietLooks);
  }, lookEveryMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
