/** Delays between repeated attempts at the same item. Upstream: client-go/util/workqueue/default_rate_limiters.go. */
export interface RateLimiter {
  /** Counts a failure of the item and returns the delay in milliseconds before its next attempt. */
  delayMs(item: string): number;
  /** Resets the count of an item that succeeded or that is given up. */
  forget(item: string): void;
  /** Number of failures of the item since the last `forget`. */
  failures(item: string): number;
}

/** Doubles the delay of an item with each failure: `base`, 2 `base`, 4 `base` up to `max`, in milliseconds. */
export class ExponentialBackoff implements RateLimiter {
  readonly #failures = new Map<string, number>();

  constructor(
    readonly baseMs: number,
    readonly maxMs: number,
  ) {}

  delayMs(item: string): number {
    const failures = this.failures(item);
    this.#failures.set(item, failures + 1);
    return Math.min(this.maxMs, this.baseMs * 2 ** failures);
  }

  forget(item: string): void {
    this.#failures.delete(item);
  }

  failures(item: string): number {
    return this.#failures.get(item) ?? 0;
  }
}

/** The limiter of client-go's controllers: 5 ms to 1,000 s for each item, unless other delays are given. */
export function itemRateLimiter(baseMs = 5, maxMs = 1_000_000): RateLimiter {
  return new ExponentialBackoff(baseMs, maxMs);
}
