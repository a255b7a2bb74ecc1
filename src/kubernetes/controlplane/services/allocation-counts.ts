import { newSeries, observe, type Series } from '#apiserver/base/metrics/series-histogram';

/** The kind of a request: for a given port or address (`static`), or for any (`dynamic`). */
export type AllocationScope = 'static' | 'dynamic';

/** The default buckets of Prometheus. */
export const allocationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** Counts successful and failed allocations of one range. */
export class AllocationCounts {
  readonly given = { static: 0, dynamic: 0 };
  readonly failed = { static: 0, dynamic: 0 };
  readonly durations: Series = newSeries(allocationBuckets, {});

  took(scope: AllocationScope, milliseconds: number): void {
    this.given[scope] += 1;
    observe(this.durations, allocationBuckets, milliseconds / 1_000);
  }

  /** Runs an attempt and counts its outcome. */
  async count<T>(scope: AllocationScope, attempt: () => Promise<T>): Promise<T> {
    const began = performance.now();
    try {
      const result = await attempt();
      this.took(scope, performance.now() - began);
      return result;
    } catch (error) {
      this.failed[scope] += 1;
      throw error;
    }
  }
}
