/** Ratio of the widths of adjacent buckets; quantiles are accurate to half of it. */
const growth = 1.05;
const smallest = 1e-7;
const perUnit = 1 / Math.log(growth);
const bucketCount = 512;

/**
 * Quantiles of recent observations in constant memory: exponential buckets in several sub-windows ("ages"), of which the oldest is
 * cleared in rotation. An observation costs one logarithm and one addition. The buckets span 0.1 µs to about two hours for values
 * in seconds; values outside count in the nearest bucket.
 */
export class QuantileWindow {
  readonly #ages: Uint32Array[];
  readonly #ageMs: number;
  /** Start time of the current sub-window. */
  #began: number;
  count = 0;
  sum = 0;

  /**
   * Observations older than `windowMs` are dropped, a sub-window of `windowMs / ages` at a time. `now` is in milliseconds of a
   * monotonic clock.
   */
  constructor(windowMs: number, ages: number, now: number) {
    this.#ages = Array.from({ length: ages }, () => new Uint32Array(bucketCount));
    this.#ageMs = windowMs / ages;
    this.#began = now;
  }

  observe(value: number, now: number): void {
    if (now - this.#began >= this.#ageMs) this.#turn(now);
    this.count += 1;
    this.sum += value;
    const counts = this.#ages[0] as Uint32Array;
    const at = bucketOf(value);
    counts[at] = (counts[at] as number) + 1;
  }

  /** Returns the value below which the fraction `quantile` of the window's observations lies; NaN without observations. */
  quantile(quantile: number, now: number): number {
    if (now - this.#began >= this.#ageMs) this.#turn(now);
    const counts = new Float64Array(bucketCount);
    let total = 0;
    for (const age of this.#ages) {
      for (const [at, count] of age.entries()) counts[at] = (counts[at] as number) + count;
    }
    for (const count of counts) total += count;
    if (total === 0) return Number.NaN;
    const wanted = Math.max(1, Math.ceil(quantile * total));
    let seen = 0;
    for (const [at, count] of counts.entries()) {
      seen += count;
      if (seen >= wanted) return middleOf(at);
    }
    return middleOf(bucketCount - 1);
  }

  #turn(now: number): void {
    const turns = Math.min(this.#ages.length, Math.floor((now - this.#began) / this.#ageMs));
    this.#began += Math.floor((now - this.#began) / this.#ageMs) * this.#ageMs;
    for (let turn = 0; turn < turns; turn += 1) {
      const oldest = this.#ages.pop() as Uint32Array;
      oldest.fill(0);
      this.#ages.unshift(oldest);
    }
  }
}

function bucketOf(value: number): number {
  if (value <= smallest) return 0;
  return Math.min(bucketCount - 1, Math.floor(Math.log(value / smallest) * perUnit));
}

function middleOf(bucket: number): number {
  return smallest * growth ** (bucket + 0.5);
}
