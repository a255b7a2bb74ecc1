import type { QueueMetrics } from '#apiserver/base/metrics/workqueue-metrics';

export interface KeyedQueueOptions {
  /** Processes a key; resolves with false to be retried. */
  work(key: string): Promise<boolean>;
  readonly firstRetryMs: number;
  /** Maximum delay in milliseconds; each retry doubles it. */
  readonly lastRetryMs: number;
  /** Interval in milliseconds after which a processed key is processed again. */
  readonly resyncMs: number;
  /** Called for each exception of `work`, which is retried. */
  onError(error: unknown): void;
  readonly metrics?: QueueMetrics | undefined;
}

/** Settings for requests to extension servers: once a minute, and soon after a failure. */
export const everyMinute = { firstRetryMs: 500, lastRetryMs: 60_000, resyncMs: 60_000 } as const;

/**
 * Work queue by keys: runs one call per key at a time, merges calls that arrive meanwhile, retries failures, and repeats at an interval.
 */
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
    this.options.metrics?.added(key);
    if (!this.#running.has(key)) void this.#run(key);
  }

  /** Stops repeating a key. */
  forget(key: string): void {
    this.#clearTimer(key);
    this.#dirty.delete(key);
    this.#failures.delete(key);
    this.options.metrics?.dropped(key);
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
    // Merges the calls of one event loop turn.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#isClosed) return true;
    this.#dirty.delete(key);
    const { metrics, work, onError } = this.options;
    metrics?.started(key);
    try {
      return await work(key);
    } catch (error) {
      if (!this.#isClosed) onError(error);
      return false;
    } finally {
      metrics?.finished(key);
    }
  }

  #schedule(key: string, isDone: boolean): void {
    if (this.#isClosed) return;
    const { firstRetryMs, lastRetryMs, resyncMs } = this.options;
    const failures = isDone ? 0 : (this.#failures.get(key) ?? 0) + 1;
    if (isDone) this.#failures.delete(key);
    else {
      this.#failures.set(key, failures);
      this.options.metrics?.retried();
    }
    const delay = isDone ? resyncMs : Math.min(lastRetryMs, firstRetryMs * 2 ** (failures - 1));
    this.#timers.set(key, setTimeout(() => this.add(key), delay).unref());
  }

  #clearTimer(key: string): void {
    clearTimeout(this.#timers.get(key));
    this.#timers.delete(key);
  }
}
