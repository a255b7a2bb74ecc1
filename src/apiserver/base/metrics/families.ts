import type { Metric, MetricObjectWithValues, MetricValue } from 'prom-client';

export type FamilyType = 'counter' | 'gauge' | 'histogram' | 'summary';

/** Values of one combination of labels of a metric. */
export interface FamilySeries {
  /** Labels, sorted by name. */
  readonly labels: readonly (readonly [name: string, value: string])[];
  /** Value; the sum of the observations for a histogram or summary. */
  readonly value: number;
  /** Number of observations of a histogram or summary. */
  readonly count: number;
  /** Cumulative counts by upper bound (histogram) or values by quantile (summary), in ascending order. */
  readonly parts: readonly (readonly [bound: number, value: number])[];
}

/** Snapshot of a metric. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: FamilyType;
  /** Series, sorted by label values. */
  readonly series: readonly FamilySeries[];
}

/** A collected value. `metricName` names the series of histograms and summaries; prom-client's types lack it. */
export type CollectedValue = MetricValue<string> & { readonly metricName?: string };
export type Collected = MetricObjectWithValues<CollectedValue>;

export function nameOf(metric: Metric): string {
  return (metric as unknown as { readonly name: string }).name;
}

/** Converts the values of a prom-client metric. */
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
