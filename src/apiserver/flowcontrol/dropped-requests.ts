const maxRetryAfter = 32;

/**
 * Computes the Retry-After seconds of rejected clients: doubled each time that more than three requests a second were
 * rejected within that period, decremented when rejections cease. Upstream:
 * apiserver/pkg/util/flowcontrol/dropped_requests_tracker.go.
 */
export class DroppedRequests {
  #retryAfter = 1;
  #second = 0;
  #count = 0;
  #updatedAt = 0;
  #history: { readonly second: number; readonly count: number }[] = [];

  get retryAfter(): number {
    return this.#retryAfter;
  }

  /** `second` is the Unix time. */
  record(second: number): void {
    if (second === this.#second) {
      this.#count += 1;
      return;
    }
    const kept = Math.min(2 * this.#retryAfter, maxRetryAfter);
    this.#history = [...this.#history, { second: this.#second, count: this.#count }].filter((one) => this.#second - one.second <= kept);
    this.#second = second;
    this.#count = 1;
    this.#adjust(second);
  }

  #adjust(second: number): void {
    const retryAfter = this.#retryAfter;
    const dropped = this.#history
      .filter((one) => second - one.second <= retryAfter && one.second < second)
      .reduce((sum, { count }) => sum + count, 0);
    if (second - this.#updatedAt >= retryAfter && dropped >= 3 * retryAfter) {
      this.#retryAfter = Math.min(maxRetryAfter, retryAfter * 2);
      this.#updatedAt = second;
    } else if (dropped < retryAfter && retryAfter > 1) {
      this.#retryAfter -= 1;
    }
  }
}
