import type { Registry } from 'prom-client';
import { newSeries, observe, type Series, SeriesHistogram } from '#apiserver/base/metrics/series-histogram';

/** Prometheus' default buckets. */
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
/** Process-wide series, as in upstream. */
const all = { compilation: newSeries(buckets, {}), evaluation: newSeries(buckets, {}) };

/** Runs the function and records its duration. Upstream: apiserver/pkg/cel/metrics/metrics.go. */
export function timed<T>(what: keyof typeof all, work: () => T): T {
  const began = performance.now();
  try {
    return work();
  } finally {
    observe(all[what], buckets, (performance.now() - began) / 1_000);
  }
}

/** Registers the durations of custom resource validation rules. */
export function registerCelDurations(registry: Registry): void {
  const register = (name: string, help: string, series: Series): void =>
    registry.registerMetric(new SeriesHistogram(name, help, [], buckets, () => [series]));
  register('apiserver_cel_compilation_duration_seconds', 'CEL compilation time in seconds.', all.compilation);
  register('apiserver_cel_evaluation_duration_seconds', 'CEL evaluation time in seconds.', all.evaluation);
}
