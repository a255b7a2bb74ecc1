import { setImmediate as nextTurn } from 'node:timers/promises';
import { hasTime } from '#apimachinery/runtime/steps';

/**
 * Starts work in order: at once while this event loop turn has time for chunked work, then in later turns. A chain of in-process requests
 * runs in microtasks, without this queue in a single turn of seconds.
 */
export class TurnQueue {
  readonly #waiting: (() => void)[] = [];

  /** Calls `start`, now or in a later turn. It must not throw. */
  run(start: () => void): void {
    if (this.#waiting.length === 0 && hasTime()) return start();
    this.#waiting.push(start);
    if (this.#waiting.length === 1) void this.#drain();
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      await nextTurn();
      do {
        // Its place is kept until it has run, so that what it adds waits behind the others.
        this.#waiting[0]?.();
        this.#waiting.shift();
        await Promise.resolve();
      } while (this.#waiting.length > 0 && hasTime());
    }
  }
}
