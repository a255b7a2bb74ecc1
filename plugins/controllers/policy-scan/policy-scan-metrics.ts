import type { CounterMetric, GaugeMetric, Metrics } from 'kubenest/sdk';

/** Metrics of the scan of stored objects. */
export class PolicyScanMetrics {
  readonly #objects: CounterMetric;
  readonly #violations: GaugeMetric;
  readonly #duration: GaugeMetric;
  #shown = new Map<string, { readonly policy: string; readonly result: string }>();

  constructor(metrics: Metrics) {
    this.#objects = metrics.counter({
      name: 'kubenest_policy_scan_objects_total',
      help: 'Number of stored objects that the policy scan evaluated.',
    });
    this.#violations = metrics.gauge({
      name: 'kubenest_policy_scan_results',
      help: 'Number of results of the policy scan about stored objects other than pass, by policy and result (fail, warn, error or skip).',
      labels: ['policy', 'result'],
    });
    this.#duration = metrics.gauge({
      name: 'kubenest_policy_scan_duration_seconds',
      help: 'Duration of the last scan of all stored objects in seconds.',
    });
  }

  scanned(objects: number): void {
    this.#objects.inc({}, objects);
  }

  tookMs(milliseconds: number): void {
    this.#duration.set({}, milliseconds / 1_000);
  }

  /** Shows the current results. A combination that has none any more becomes 0. */
  show(results: Iterable<{ readonly policy: string; readonly result: string }>): void {
    const counts = new Map<string, { readonly policy: string; readonly result: string; count: number }>();
    for (const { policy, result } of results) {
      const key = `${result} ${policy}`;
      const known = counts.get(key);
      if (known) known.count += 1;
      else counts.set(key, { policy, result, count: 1 });
    }
    for (const [key, { policy, result }] of this.#shown) if (!counts.has(key)) this.#violations.set({ policy, result }, 0);
    for (const { policy, result, count } of counts.values()) this.#violations.set({ policy, result }, count);
    this.#shown = counts;
  }
}
