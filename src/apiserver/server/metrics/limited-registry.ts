import { Counter, type Metric, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client';

export interface MetricLimits {
  /** Whole names of metrics that nobody is to see. */
  readonly disabled: ReadonlySet<string>;
  /** The values that a label may have, by metric and label: others are told as one, `unexpected`. */
  readonly allowed: ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;
}

type Allowed = ReadonlyMap<string, ReadonlySet<string>>;
/** `metricName`: of the parts of a histogram or a summary, which prom-client's types do not know. */
type Value = MetricValue<string> & { readonly metricName?: string };
type Collected = MetricObjectWithValues<Value>;

const unexpected = 'unexpected';

/**
 * A registry whose /metrics an administrator has limited. Metrics count as ever and are limited when somebody reads them, so
 * that requests pay nothing for it. Upstream: component-base/metrics/options.go.
 */
export class LimitedRegistry extends Registry {
  readonly #limits: MetricLimits;
  /** How often a value that is not allowed was counted, by metric, as of the last time that it was read. */
  readonly #unexpected = new Map<string, number>();

  constructor(limits: MetricLimits) {
    super();
    this.#limits = limits;
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
    new Counter({ name: 'disabled_metrics_total', help: 'The count of disabled metrics.', registers: [this] }).inc(limits.disabled.size);
    new Counter({ name: 'hidden_metrics_total', help: 'The count of hidden metrics.', registers: [this] });
  }

  override registerMetric(metric: Metric): void {
    if (!this.#limits.disabled.has(nameOf(metric))) super.registerMetric(metric);
  }

  override metrics(): Promise<string> {
    const shown = new Registry();
    for (const metric of this.getMetricsAsArray() as unknown as Metric[]) shown.registerMetric(this.#limited(metric));
    return shown.metrics();
  }

  /** What is shown of a metric. */
  #limited(metric: Metric): Metric {
    const name = nameOf(metric);
    const allowed = this.#limits.allowed.get(name);
    if (!allowed) return metric;
    const get = async (): Promise<Collected> => {
      const collected = (await metric.get()) as Collected;
      const { values, changed } = limitLabels(collected, allowed);
      this.#unexpected.set(name, changed);
      return { ...collected, values };
    };
    return { name, get } as unknown as Metric;
  }
}

function nameOf(metric: Metric): string {
  return (metric as unknown as { readonly name: string }).name;
}

/** Values that become one are added up. `changed`: how often one was counted that is not told by its label any more. */
function limitLabels({ values, name }: Collected, allowed: Allowed): { readonly values: Value[]; readonly changed: number } {
  const merged = new Map<string, Value>();
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
