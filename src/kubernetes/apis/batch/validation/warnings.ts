import type { JobSpec } from '#kubernetes/schema/batch_v1.gen';

/** Warnings about the spec of a job at `path`. Upstream: WarningsForJobSpec in pkg/api/job/warnings.go, without those of the template. */
export function jobSpecWarnings({ completionMode, completions = 0, parallelism = 0 }: JobSpec = {}, path: string): string[] {
  const detail =
    'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail';
  return completionMode === 'Indexed' && completions > 100_000 && parallelism > 10_000 ? [`${path}: ${detail}`] : [];
}
