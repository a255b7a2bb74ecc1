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
 * Measures the latency of small requests of another client until it is stopped, limited to the CPU time of the serving
 * thread meanwhile, so that other processes do not count.
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
