import { createHash } from 'node:crypto';
import { newTimeoutError } from '#apimachinery/api/errors';
import { setRegexpThread, type RegexpResult, type RegexpTask } from '#apimachinery/runtime/regexp';
import { QueuedThread, ThreadTimeoutError } from './queued-thread.ts';

const resourceLimits = { maxOldGenerationSizeMb: 1024 };
const waitMs = 30_000;
const maxSlowPatterns = 1_000;

/**
 * Threads for large patterns and long texts. The second thread does the work that takes the first one too long, and from
 * then on all work on the same pattern: a pattern that takes half a minute, which any user may write, does not hold up the patterns of
 * others.
 */
export class RegexpThreads implements Disposable {
  readonly #first: QueuedThread<RegexpTask, RegexpResult>;
  readonly #second: QueuedThread<RegexpTask, RegexpResult>;
  /** Digests of patterns that took the first thread too long, the oldest first. */
  readonly #slow = new Set<string>();

  constructor({ firstMs = 2_000, secondMs = 30_000 } = {}) {
    const thread = (name: string, timeoutMs: number): QueuedThread<RegexpTask, RegexpResult> =>
      new QueuedThread({ name, module: new URL('./regexp-worker', import.meta.url), resourceLimits, timeoutMs, waitMs });
    this.#first = thread('regular expressions', firstMs);
    this.#second = thread('slow regular expressions', secondMs);
  }

  /** Fails as a request of kube-apiserver whose time is over. */
  async run(task: RegexpTask): Promise<RegexpResult> {
    try {
      return (await this.#runFirst(task)) ?? (await this.#second.run(() => ({ message: task })));
    } catch (error) {
      if (!(error instanceof ThreadTimeoutError)) throw error;
      const message = 'request did not complete within requested timeout - context deadline exceeded';
      throw Object.assign(newTimeoutError(message, 0), { cause: error });
    }
  }

  [Symbol.dispose](): void {
    this.#first[Symbol.dispose]();
    this.#second[Symbol.dispose]();
  }

  /** Returns undefined for work of the second thread. */
  async #runFirst(task: RegexpTask): Promise<RegexpResult | undefined> {
    const digest = createHash('sha256').update(task.pattern).digest('base64');
    if (this.#slow.has(digest)) return undefined;
    try {
      return await this.#first.run(() => ({ message: task }));
    } catch (error) {
      if (!(error instanceof ThreadTimeoutError) || !error.hasStarted) throw error;
      for (const oldest of this.#slow) if (this.#slow.size >= maxSlowPatterns) this.#slow.delete(oldest);
      this.#slow.add(digest);
      return undefined;
    }
  }
}

const threads = new RegexpThreads();

/** Lets worker threads match large patterns and long texts. */
export function useRegexpThread(): void {
  setRegexpThread((task) => threads.run(task));
}
