import type { Series } from '#apiserver/base/metrics/series-histogram';

/**
 * Histogram of a ratio over time, in which each nanosecond counts as one observation. Changes of the numerator cost only
 * additions. Upstream: apiserver/pkg/util/flowcontrol/metrics/timing_ratio_histogram.go,
 * component-base/metrics/prometheusextension.
 *
 * Example: a numerator of 1 for 2 ms and of 3 for 1 ms, a denominator of 4 and bounds 0.5 and 1 give buckets 2e6, 1e6 and 0
 * (above all bounds), and the sum 0.25 * 2e6 + 0.75 * 1e6.
 */
export class TimingRatioHistogram {
  readonly #bounds: readonly number[];
  /** Time in each bucket in milliseconds. */
  readonly #buckets: number[];
  #sum = 0;
  #since: number;
  #changedAt: number;
  #numerator = 0;
  #denominator = 1;
  #bucket = 0;

  /** `now` is a monotonic time in milliseconds. */
  constructor(bounds: readonly number[], now: number) {
    this.#bounds = bounds;
    this.#buckets = new Array<number>(bounds.length + 1).fill(0);
    this.#since = now;
    this.#changedAt = now;
  }

  get numerator(): number {
    return this.#numerator;
  }

  set(numerator: number, now: number): void {
    if (numerator === this.#numerator) return;
    this.#advance(now);
    this.#numerator = numerator;
    this.#bucket = this.#bucketOf(numerator / this.#denominator);
  }

  /** Sets the denominator, which must be positive. */
  setDenominator(denominator: number, now: number): void {
    if (denominator === this.#denominator) return;
    this.#advance(now);
    this.#denominator = denominator;
    this.#bucket = this.#bucketOf(this.#numerator / denominator);
  }

  series(labels: Record<string, string>, now: number): Series {
    this.#advance(now);
    return {
      labels,
      count: nanoseconds(now - this.#since),
      sum: nanoseconds(this.#sum),
      buckets: this.#buckets.map(nanoseconds),
    };
  }

  #advance(now: number): void {
    const elapsed = now - this.#changedAt;
    this.#buckets[this.#bucket] = (this.#buckets[this.#bucket] as number) + elapsed;
    this.#sum += (elapsed * this.#numerator) / this.#denominator;
    this.#changedAt = now;
  }

  #bucketOf(ratio: number): number {
    let at = 0;
    while (at < this.#bounds.length && ratio > (this.#bounds[at] as number)) at += 1;
    return at;
  }
}

const nanoseconds = (milliseconds: number): number => Math.round(milliseconds * 1e6);
