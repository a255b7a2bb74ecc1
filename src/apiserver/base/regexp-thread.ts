import { createHash } from 'node:crypto';
import { newTimeoutError } from '#apimachinery/api/errors';
import { answerRegexpsBy, type RegexpAnswer, type RegexpQuestion } from '#apimachinery/runtime/regexp';
import { QueuedThread, ThreadTimeoutError } from './queued-thread.ts';

const resourceLimits = { maxOldGenerationSizeMb: 1024 };
const waitMs = 30_000;
const maxSlowPatterns = 1_000;

/**
 * Threads for large patterns and long texts. The second thread answers a question that takes the first one too long, and from
 * then on all questions with the same pattern: a pattern that takes half a minute, which any user may write, does not hold up the patterns of others.
 */
export class RegexpThreads implements Disposable {
  readonly #first: QueuedThread<RegexpQuestion, RegexpAnswer>;
  readonly #second: QueuedThread<RegexpQuestion, RegexpAnswer>;
  /** Digests of patterns that took the first thread too long, the oldest first. */
  readonly #slow = new Set<string>();

  constructor({ firstMs = 2_000, secondMs = 30_000 } = {}) {
    const thread = (name: string, timeoutMs: number): QueuedThread<RegexpQuestion, RegexpAnswer> =>
      new QueuedThread({ name, module: new URL('./regexp-worker', import.meta.url), resourceLimits, timeoutMs, waitMs });
    this.#first = thread('regular expressions', firstMs);
    this.#second = thread('slow regular expressions', secondMs);
  }

  /** Fails as a request of kube-apiserver whose time is over. */
  async ask(question: RegexpQuestion): Promise<RegexpAnswer> {
    try {
      return (await this.#askFirst(question)) ?? (await this.#second.ask(() => ({ message: question })));
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

  /** Returns undefined for a question of the second thread. */
  async #askFirst(question: RegexpQuestion): Promise<RegexpAnswer | undefined> {
    const digest = createHash('sha256').update(question.pattern).digest('base64');
    if (this.#slow.has(digest)) return undefined;
    try {
      return await this.#first.ask(() => ({ message: question }));
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
  answerRegexpsBy((question) => threads.ask(question));
}
