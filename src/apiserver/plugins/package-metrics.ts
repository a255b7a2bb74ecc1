import { quote } from '#apimachinery/runtime/quote';
import type { CounterMetric, GaugeMetric, HistogramMetric, MetricLabels, MetricOptions, Metrics } from '#apiserver/base/metrics/metrics';

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** The method that only a metric of the type has. */
const methods = { counter: 'inc', gauge: 'set', histogram: 'observe' } as const;

/**
 * The metrics of a package: what cannot be exposed throws a TypeError in the package at once, because it would make /metrics fail for all.
 */
export class PackageMetrics implements Metrics {
  constructor(private readonly metrics: Metrics) {}

  counter(options: MetricOptions): CounterMetric {
    const metric = this.#checked('counter', options, this.metrics.counter(checkedOptions(options)));
    return { inc: (labels, by = 1) => metric.inc(checkedLabels(options, labels), checkedValue(options, by)) };
  }

  gauge(options: MetricOptions): GaugeMetric {
    const metric = this.#checked('gauge', options, this.metrics.gauge(checkedOptions(options)));
    return {
      inc: (labels, by = 1) => metric.inc(checkedLabels(options, labels), checkedValue(options, by)),
      set: (labels, value) => metric.set(checkedLabels(options, labels), checkedValue(options, value)),
    };
  }

  histogram(options: MetricOptions & { readonly buckets: readonly number[] }): HistogramMetric {
    const { buckets } = options;
    const isAscending =
      Array.isArray(buckets) && buckets.every((bound, at) => Number.isFinite(bound) && !(bound <= (buckets[at - 1] ?? -Infinity)));
    if (!isAscending) throw new TypeError(`${subjectOf(options)}: buckets must be ascending numbers`);
    const metric = this.#checked('histogram', options, this.metrics.histogram({ ...checkedOptions(options), buckets: [...buckets] }));
    return { observe: (labels, value) => metric.observe(checkedLabels(options, labels), checkedValue(options, value)) };
  }

  /** Throws if the name belongs to a metric of another type. */
  #checked<T extends object>(type: keyof typeof methods, options: MetricOptions, metric: T): T {
    const isOther = !(methods[type] in metric) || (type === 'counter' && 'set' in metric);
    if (isOther) throw new TypeError(`${subjectOf(options)} exists and is no ${type}`);
    return metric;
  }
}

function subjectOf({ name }: MetricOptions): string {
  return `metric ${typeof name === 'string' ? quote(name) : 'without a name'}`;
}

/** Returns a copy, so that later changes have no effect. */
function checkedOptions(options: MetricOptions): MetricOptions {
  const { name, help, labels = [] } = options;
  if (typeof name !== 'string' || !metricName.test(name)) throw new TypeError(`${subjectOf(options)}: the name is invalid`);
  if (typeof help !== 'string' || help === '') throw new TypeError(`${subjectOf(options)}: help must be a text`);
  if (!Array.isArray(labels) || !labels.every((label) => typeof label === 'string' && labelName.test(label)))
    throw new TypeError(`${subjectOf(options)}: labels must be a list of names`);
  return { name, help, labels: [...(labels as string[])] };
}

function checkedLabels(options: MetricOptions, labels: MetricLabels): MetricLabels {
  return Object.fromEntries(
    Object.entries(labels as Readonly<Record<string, unknown>>).map(([label, value]) => {
      if (typeof value === 'string') return [label, value];
      if (typeof value === 'number' || typeof value === 'boolean') return [label, String(value)];
      throw new TypeError(`${subjectOf(options)}: label ${label} must be a text`);
    }),
  );
}

function checkedValue(options: MetricOptions, value: unknown): number {
  if (typeof value !== 'number' || Number.isNaN(value)) throw new TypeError(`${subjectOf(options)}: the value must be a number`);
  return value;
}
