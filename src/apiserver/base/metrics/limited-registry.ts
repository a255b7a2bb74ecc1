import { Counter, type Metric, Registry } from 'prom-client';
import { type Collected, type CollectedValue, familyOf, type MetricFamily, nameOf } from './families.ts';
import { MetricReset } from './metric-reset.ts';
import { stabilityOf } from './stability.ts';
import { textOf } from './text-exposition.ts';

export interface MetricLimits {
  /** Full names of metrics that are not exposed. */
  readonly disabled: ReadonlySet<string>;
  /** Allowed label values by metric and label; other values are exposed as `unexpected`. */
  readonly allowed: ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;
}

type Allowed = ReadonlyMap<string, ReadonlySet<string>>;

const unexpected = 'unexpected';
const stabilityForm = /\[([A-Z]+)\](?: \(Deprecated since ([\d.]+)\))?/;

/**
 * A metrics registry with administrator-defined limits. The limits apply when metrics are read, so counting has no additional cost.
 * Upstream: component-base/metrics/options.go.
 */
export class LimitedRegistry extends Registry {
  readonly #limits: MetricLimits;
  /** Number of observations with disallowed label values by metric, as of the last read. */
  readonly #unexpected = new Map<string, number>();
  readonly #reset = new MetricReset();

  /** `countsItself` is true if the registry exposes metrics about itself and its limits. */
  constructor(limits: MetricLimits, countsItself = true) {
    super();
    this.#limits = limits;
    if (!countsItself) return;
    const counts = this.#unexpected;
    new Counter({
      name: 'cardinality_enforcement_unexpected_categorizations_total',
      help: 'The count of unexpected categorizations during cardinality enforcement.',
      registers: [this],
      collect() {
        this.reset();
        for (const count of counts.values()) this.inc(count);
      },
    });
    const metrics = (): readonly Metric[] => this.getMetricsAsArray() as unknown as Metric[];
    new Counter({
      name: 'registered_metrics_total',
      help: 'The count of registered metrics broken by stability level and deprecation version.',
      labelNames: ['stability_level', 'deprecated_version'],
      registers: [this],
      collect() {
        this.reset();
        for (const metric of metrics()) {
          const [, stability_level, deprecated_version = ''] = stabilityForm.exec(stabilityOf(nameOf(metric))) ?? [];
          if (stability_level !== undefined) this.inc({ stability_level, deprecated_version });
        }
      },
    });
    new Counter({ name: 'disabled_metrics_total', help: 'The count of disabled metrics.', registers: [this] }).inc(limits.disabled.size);
    new Counter({ name: 'hidden_metrics_total', help: 'The count of hidden metrics.', registers: [this] });
  }

  override registerMetric(metric: Metric): void {
    if (!this.#limits.disabled.has(nameOf(metric))) super.registerMetric(metric);
  }

  /** Returns the exposed metrics, sorted by name, without those that have no series. */
  async families(): Promise<MetricFamily[]> {
    const metrics = this.getMetricsAsArray() as unknown as Metric[];
    const all = await Promise.all(metrics.map(async (metric) => this.#reset.since(familyOf(await this.#limited(metric)))));
    return all
      .filter(({ series }) => series.length > 0)
      .map((family) => ({ ...family, help: stabilityOf(family.name) + family.help }))
      .sort(({ name: a }, { name: b }) => (a < b ? -1 : 1));
  }

  override async metrics(): Promise<string> {
    return textOf(await this.families());
  }

  /** Resets metrics with labels to zero. */
  async startAnew(): Promise<void> {
    const metrics = this.getMetricsAsArray() as unknown as Metric[];
    this.#reset.from(await Promise.all(metrics.map(async (metric) => familyOf(await this.#limited(metric)))));
  }

  /** Returns a metric with its limits applied. */
  async #limited(metric: Metric): Promise<Collected> {
    const collected = (await metric.get()) as Collected;
    const allowed = this.#limits.allowed.get(collected.name);
    if (!allowed) return collected;
    const { values, changed } = limitLabels(collected, allowed);
    this.#unexpected.set(collected.name, changed);
    return { ...collected, values };
  }
}

/**
 * Replaces disallowed label values and sums the values that then have equal labels. `changed` is the number of observations whose
 * label was replaced.
 */
function limitLabels({ values, name }: Collected, allowed: Allowed): { readonly values: CollectedValue[]; readonly changed: number } {
  const merged = new Map<string, CollectedValue>();
  let changed = 0;
  for (const value of values) {
    const labels = { ...value.labels };
    const strange = [...allowed].filter(([label, known]) => labels[label] !== undefined && !known.has(String(labels[label])));
    for (const [label] of strange) labels[label] = unexpected;
    const { metricName = name } = value;
    if (strange.length > 0 && (metricName === name || metricName === `${name}_count`)) changed += value.value;
    const key = `${metricName} ${JSON.stringify(labels)}`;
    const present = merged.get(key);
    if (present) present.value += value.value;
    else merged.set(key, { ...value, labels });
  }
  return { values: [...merged.values()], changed };
}
