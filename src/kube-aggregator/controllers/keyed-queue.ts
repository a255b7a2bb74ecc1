export interface KeyedQueueOptions {
  /** Does what is to be done for a key; false: it is to be tried again. */
  work(key: string): Promise<boolean>;
  readonly firstRetryMs: number;
  /** Between attempts at most; they come at twice the time of the ones before. */
  readonly lastRetryMs: number;
  /** After what is done, it is done again so much later. */
  readonly resyncMs: number;
  /** Told of what `work` throws; it is tried again then, too. */
  onError(error: unknown): void;
}

/** What is asked of other servers is asked again every minute, and soon after it failed. */
export const everyMinute = { firstRetryMs: 500, lastRetryMs: 60_000, resyncMs: 60_000 } as const;

/** Work by keys: one at a time for each key, once for all calls that came meanwhile, again after a failure and after a while. */
export class KeyedQueue implements Disposable {
  readonly #running = new Set<string>();
  readonly #dirty = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #isClosed = false;

  constructor(readonly options: KeyedQueueOptions) {}

  add(key: string): void {
    if (this.#isClosed) return;
    this.#clearTimer(key);
    this.#dirty.add(key);
    if (!this.#running.has(key)) void this.#run(key);
  }

  /** It is not done again by itself. */
  forget(key: string): void {
    this.#clearTimer(key);
    this.#dirty.delete(key);
    this.#failures.delete(key);
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#dirty.clear();
    for (const key of [...this.#timers.keys()]) this.#clearTimer(key);
  }

  async #run(key: string): Promise<void> {
    this.#running.add(key);
    let isDone = true;
    while (this.#dirty.delete(key)) isDone = await this.#attempt(key);
    this.#running.delete(key);
    this.#schedule(key, isDone);
  }

  async #attempt(key: string): Promise<boolean> {
    // What is added in one turn is done once.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#isClosed) return true;
    this.#dirty.delete(key);
    try {
      return await this.options.work(key);
    } catch (error) {
      if (!this.#isClosed) this.options.onError(error);
      return false;
    }
  }

  #schedule(key: string, isDone: boolean): void {
    if (this.#isClosed) return;
    const { firstRetryMs, lastRetryMs, resyncMs } = this.options;
    const failures = isDone ? 0 : (this.#failures.get(key) ?? 0) + 1;
    if (isDone) this.#failures.delete(key);
    else this.#failures.set(key, failures);
    const delay = isDone ? resyncMs : Math.min(lastRetryMs, firstRetryMs * 2 ** (failures - 1));
    this.#timers.set(key, setTimeout(() => this.add(key), delay).unref());
  }

  #clearTimer(key: string): void {
    clearTimeout(this.#timers.get(key));
    this.#timers.delete(key);
  }
}
