import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export type MetricLabels = Readonly<Record<string, string>>;

export interface MetricOptions {
  /** Full name; upstream's if upstream has the metric. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}
export interface CounterMetric {
  inc(labels: MetricLabels, by?: number): void;
}
export interface GaugeMetric extends CounterMetric {
  set(labels: MetricLabels, value: number): void;
}
export interface HistogramMetric {
  observe(labels: MetricLabels, value: number): void;
}

/** Creates metrics that /metrics exposes. A repeated name returns the existing metric. */
export interface Metrics {
  counter(options: MetricOptions): CounterMetric;
  gauge(options: MetricOptions): GaugeMetric;
  /** Creates a histogram; `buckets` are upper bounds in ascending order. */
  histogram(options: MetricOptions & { readonly buckets: readonly number[] }): HistogramMetric;
}

export const Metrics = Symbol.for('kubenest.Metrics');

/** Metrics in a prom-client registry. */
export class RegistryMetrics implements Metrics {
  constructor(readonly registry: Registry) {}

  counter({ name, help, labels = [] }: MetricOptions): CounterMetric {
    const present = this.registry.getSingleMetric(name) as Counter | undefined;
    return present ?? new Counter({ name, help, labelNames: [...labels], registers: [this.registry] });
  }

  gauge({ name, help, labels = [] }: MetricOptions): GaugeMetric {
    const present = this.registry.getSingleMetric(name) as Gauge | undefined;
    return present ?? new Gauge({ name, help, labelNames: [...labels], registers: [this.registry] });
  }

  histogram({ name, help, labels = [], buckets }: MetricOptions & { readonly buckets: readonly number[] }): HistogramMetric {
    const present = this.registry.getSingleMetric(name) as Histogram | undefined;
    return present ?? new Histogram({ name, help, labelNames: [...labels], buckets: [...buckets], registers: [this.registry] });
  }
}
