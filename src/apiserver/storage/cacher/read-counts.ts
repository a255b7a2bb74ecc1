import { newSeries, observe, type Series } from '#apiserver/base/metrics/series-histogram';

/** Buckets of the waiting time of reads in seconds. Upstream: apiserver/pkg/storage/cacher/metrics/metrics.go. */
export const readWaitBuckets = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3] as const;

/** Outcomes of consistent reads. */
export class ReadCounts {
  /** Consistent lists that the cache served. */
  served = 0;
  /** Consistent lists that the storage served because the cache did not reach its revision in time. */
  fellBack = 0;
  failed = 0;
  /** Durations in seconds that reads waited for the cache to become fresh. */
  readonly waits: Series = newSeries(readWaitBuckets, {});

  waited(seconds: number): void {
    observe(this.waits, readWaitBuckets, seconds);
  }
}
