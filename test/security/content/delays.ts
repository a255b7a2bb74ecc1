import { setTimeout as sleep } from 'node:timers/promises';
import { threadTimes } from '../../servers/thread-times.ts';
import { ask, type Target } from './measure.ts';

export interface Delay {
  /** The case during which it was measured. */
  readonly name: string;
  readonly milliseconds: number;
}

const everyMs = 10;

/**
 * How long another client waits for the thread that serves, until it is stopped: the time of a small request, but no more than that thread ran meanwhile, so that other work of the
 * machine does not count.
 */
export class Delays implements Disposable {
  readonly #found: Delay[] = [];
  readonly #done: Promise<void>;
  #isOver = false;

  constructor(target: Target, name: string) {
    this.#done = this.#watch(target, name);
  }

  async stop(): Promise<readonly Delay[]> {
    this.#isOver = true;
    await this.#done;
    return this.#found;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
  }

  async #watch(target: Target, name: string): Promise<void> {
    while (!this.#isOver) {
      const began = performance.now();
      const { ranMs } = threadTimes(target.pid);
      await ask(target, { path: '/version' });
      const ran = threadTimes(target.pid).ranMs - ranMs;
      this.#found.push({ name, milliseconds: Math.min(performance.now() - began, ran) });
      await sleep(everyMs);
    }
  }
}
