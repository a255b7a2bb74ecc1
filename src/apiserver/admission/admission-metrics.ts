import { type Registry, Summary } from 'prom-client';
import { newSeries, observe, type Series, SeriesHistogram } from '#apiserver/server/metrics/series-histogram';
import type { ObserveStep } from './admission-chain.ts';
import type { Operation } from './attributes.ts';

/** Upstream: apiserver/pkg/admission/metrics/metrics.go. */
const bounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5];
const summarySeconds = 5 * 3_600;
/** Plugins are few; packages may bring more. */
const maxSeries = 10_000;

/** How long admission takes, as a whole and by plugin. */
export class AdmissionMetrics {
  readonly #plugins = new Map<string, Series>();
  readonly #steps = new Map<string, Series>();
  readonly #summary: Summary;

  constructor(registry: Registry) {
    const labels = ['type', 'operation', 'rejected'];
    registry.registerMetric(
      new SeriesHistogram(
        'apiserver_admission_controller_admission_duration_seconds',
        'Admission controller latency histogram in seconds, identified by name and broken out for each operation and API resource and type (validate or admit).',
        ['name', ...labels],
        bounds,
        () => this.#plugins.values(),
      ),
    );
    registry.registerMetric(
      new SeriesHistogram(
        'apiserver_admission_step_admission_duration_seconds',
        'Admission sub-step latency histogram in seconds, broken out for each operation and API resource and step type (validate or admit).',
        labels,
        bounds,
        () => this.#steps.values(),
      ),
    );
    this.#summary = new Summary({
      name: 'apiserver_admission_step_admission_duration_seconds_summary',
      help: 'Admission sub-step latency summary in seconds, broken out for each operation and API resource and step type (validate or admit).',
      labelNames: labels,
      percentiles: [0.5, 0.9, 0.99],
      maxAgeSeconds: summarySeconds,
      ageBuckets: 5,
      registers: [registry],
    });
  }

  readonly plugin: ObserveStep = (name, type, { operation }, milliseconds, error) => {
    const key = `${name}/${type}/${operation}/${error === undefined}`;
    let series = this.#plugins.get(key);
    if (!series) {
      if (this.#plugins.size >= maxSeries) return;
      series = newSeries(bounds, { name, type, operation, rejected: String(error !== undefined) });
      this.#plugins.set(key, series);
    }
    observe(series, bounds, milliseconds / 1_000);
  };

  /** All plugins of a phase together. */
  step(type: 'admit' | 'validate', operation: Operation, milliseconds: number, rejected: boolean): void {
    const key = `${type}/${operation}/${rejected}`;
    let series = this.#steps.get(key);
    if (!series) {
      series = newSeries(bounds, { type, operation, rejected: String(rejected) });
      this.#steps.set(key, series);
    }
    observe(series, bounds, milliseconds / 1_000);
    this.#summary.observe(series.labels, milliseconds / 1_000);
  }
}
