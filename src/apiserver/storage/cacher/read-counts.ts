import { newSeries, observe, type Series } from '#apiserver/base/metrics/series-histogram';

/** Upstream: apiserver/pkg/storage/cacher/metrics/metrics.go. */
export const readWaitBuckets = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3] as const;

/** What became of reads that must be recent. */
export class ReadCounts {
  /** Lists of what is the most recent that the cache served. */
  served = 0;
  /** Those that the storage served, since the cache did not come to its revision in time. */
  fellBack = 0;
  failed = 0;
  /** How long reads waited until the cache was fresh enough for them, in seconds. */
  readonly waits: Series = newSeries(readWaitBuckets, {});

  waited(seconds: number): void {
    observe(this.waits, readWaitBuckets, seconds);
  }
}
