import type { Clock } from '#apiserver/base/clock';
import type { QueueMetrics } from '#apiserver/base/metrics/workqueue-metrics';
import { itemRateLimiter, type RateLimiter } from './rate-limiter.ts';

/** Longest delay of a timer of Node, which fires at once after a longer one. */
const maxTimerMs = 2 ** 31 - 1;

export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly rateLimiter?: RateLimiter;
  readonly metrics?: QueueMetrics;
}

/**
 * Queue of keys with client-go's semantics: a key that is added several times before a worker takes it is worked on once, and a key
 * that is added while a worker has it returns to the queue when the worker is done, so that no two workers have the same key.
 * Upstream: client-go/util/workqueue.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #rateLimiter: RateLimiter;
  readonly #metrics: QueueMetrics | undefined;
  /** Keys to work on, in order. A key is here, in `#processing`, or in both. */
  readonly #dirty = new Set<string>();
  /** Keys that a worker has. */
  readonly #processing = new Set<string>();
  /** Keys that wait for a worker: those of `#dirty` that are not in `#processing`. */
  readonly #waiting = new Set<string>();
  readonly #delayed = new Map<string, { readonly at: number; cancel(): void }>();
  readonly #idle: ((key: string | undefined) => void)[] = [];
  #isShutDown = false;

  constructor({ clock, rateLimiter = itemRateLimiter(), metrics }: WorkQueueOptions) {
    this.#clock = clock;
    this.#rateLimiter = rateLimiter;
    this.#metrics = metrics;
  }

  /** Number of keys that wait for a worker. */
  get length(): number {
    return this.#waiting.size;
  }

  add(key: string): void {
    if (this.#isShutDown || this.#dirty.has(key)) return;
    this.#dirty.add(key);
    this.#metrics?.added(key);
    if (!this.#processing.has(key)) this.#enqueue(key);
  }

  /** Adds the key after a delay of at most 25 days. If a key has several delays, the one that ends first counts. */
  addAfter(key: string, delay: number): void {
    if (this.#isShutDown) return;
    if (delay <= 0) return this.add(key);
    const delayMs = Math.min(delay, maxTimerMs);
    const at = this.#clock.now() + delayMs;
    const present = this.#delayed.get(key);
    if (present && present.at <= at) return;
    present?.cancel();
    const cancel = this.#clock.after(delayMs, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { at, cancel });
  }

  /** Adds the key after a delay that grows with each call until `forget`. */
  addRateLimited(key: string): void {
    this.#metrics?.retried();
    this.addAfter(key, this.#rateLimiter.delayMs(key));
  }

  /** Resets the delay of `addRateLimited`. */
  forget(key: string): void {
    this.#rateLimiter.forget(key);
  }

  /** Number of calls of `addRateLimited` since the last `forget`. */
  requeues(key: string): number {
    return this.#rateLimiter.failures(key);
  }

  /** Resolves with the next key, which then belongs to the caller until `done`; undefined once the queue is shut down. */
  get(): Promise<string | undefined> {
    const [key] = this.#waiting;
    if (key !== undefined) return Promise.resolve(this.#take(key));
    if (this.#isShutDown) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Ends the work on a key. If it was added meanwhile, it is queued again. */
  done(key: string): void {
    if (!this.#processing.delete(key)) return;
    this.#metrics?.finished(key);
    if (this.#dirty.has(key)) this.#enqueue(key);
  }

  /** Accepts no more keys, drops the delayed ones, and ends the waiting workers once the queue is empty. */
  shutDown(): void {
    this.#isShutDown = true;
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    for (const resolve of this.#idle.splice(0)) resolve(undefined);
  }

  /** Drops the keys that wait, for workers that have ended. */
  clear(): void {
    for (const key of this.#dirty) this.#metrics?.dropped(key);
    this.#dirty.clear();
    this.#waiting.clear();
  }

  #enqueue(key: string): void {
    const resolve = this.#idle.shift();
    this.#waiting.add(key);
    if (resolve) resolve(this.#take(key));
  }

  #take(key: string): string {
    this.#waiting.delete(key);
    this.#dirty.delete(key);
    this.#processing.add(key);
    this.#metrics?.started(key);
    return key;
  }
}
