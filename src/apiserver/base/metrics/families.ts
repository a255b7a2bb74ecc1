import type { Metric, MetricObjectWithValues, MetricValue } from 'prom-client';

export type FamilyType = 'counter' | 'gauge' | 'histogram' | 'summary';

/** One combination of labels of a metric, with all that is told of it. */
export interface FamilySeries {
  /** By their names, ascending. */
  readonly labels: readonly (readonly [name: string, value: string])[];
  /** Of a histogram or a summary the sum of what was observed. */
  readonly value: number;
  /** Of a histogram or a summary: how much was observed. */
  readonly count: number;
  /** Upper bounds of a histogram with what is up to each, or quantiles of a summary with their values; ascending. */
  readonly parts: readonly (readonly [bound: number, value: number])[];
}

/** A metric as it was at one time. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: FamilyType;
  /** By the values of their labels, ascending. */
  readonly series: readonly FamilySeries[];
}

/** `metricName`: of the parts of a histogram or a summary, which prom-client's types do not know. */
export type CollectedValue = MetricValue<string> & { readonly metricName?: string };
export type Collected = MetricObjectWithValues<CollectedValue>;

export function nameOf(metric: Metric): string {
  return (metric as unknown as { readonly name: string }).name;
}

/** The family that prom-client's values are of. */
export function familyOf({ name, help, type, values }: Collected): MetricFamily {
  const partLabel = String(type) === 'histogram' ? 'le' : String(type) === 'summary' ? 'quantile' : undefined;
  const series = new Map<string, { labels: FamilySeries['labels']; value: number; count: number; parts: [number, number][] }>();
  for (const { labels, value, metricName = name } of values) {
    const named = Object.entries(labels)
      .filter(([label]) => label !== partLabel)
      .map(([label, text]) => [label, String(text)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const key = JSON.stringify(named);
    let one = series.get(key);
    if (!one) series.set(key, (one = { labels: named, value: 0, count: 0, parts: [] }));
    const bound = partLabel === undefined ? undefined : labels[partLabel];
    if (bound !== undefined) one.parts.push([bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound), value]);
    else if (partLabel !== undefined && metricName === `${name}_count`) one.count = value;
    else one.value = value;
  }
  return { name, help: help.trim(), type: String(type) as FamilyType, series: [...series.values()].sort(byLabelValues) };
}

function byLabelValues({ labels: a }: FamilySeries, { labels: b }: FamilySeries): number {
  if (a.length !== b.length) return a.length - b.length;
  for (const [at, [, value]] of a.entries()) {
    const other = b[at]?.[1] ?? '';
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}
