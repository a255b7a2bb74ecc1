import { Histogram } from 'prom-client';

/** Observations of one combination of labels, as plain numbers so that the hot path can add to them cheaply. */
export interface Series {
  count: number;
  sum: number;
  /** Number of observations in each bucket (not cumulative); the last one is above all bounds. */
  readonly buckets: number[];
  readonly labels: Record<string, string>;
}

export function newSeries(bounds: readonly number[], labels: Record<string, string>): Series {
  return { count: 0, sum: 0, buckets: new Array<number>(bounds.length + 1).fill(0), labels };
}

export function observe(series: Series, bounds: readonly number[], value: number): void {
  series.count += 1;
  series.sum += value;
  let at = 0;
  while (at < bounds.length && value > (bounds[at] as number)) at += 1;
  series.buckets[at] = (series.buckets[at] as number) + 1;
}

/** A histogram rendered from existing series. prom-client's Histogram cannot be filled from buckets. */
export class SeriesHistogram extends Histogram {
  constructor(
    readonly metricName: string,
    readonly help: string,
    labelNames: readonly string[],
    readonly bounds: readonly number[],
    readonly series: () => Iterable<Series>,
  ) {
    super({ name: metricName, help, labelNames: [...labelNames], buckets: [...bounds], registers: [] });
  }

  /** Returns the values that the registry renders as text; prom-client's types lack the method. */
  getForPromString(): ReturnType<Histogram['get']> {
    return this.get();
  }

  override get(): ReturnType<Histogram['get']> {
    const values: { value: number; labels: Record<string, string | number>; metricName: string }[] = [];
    for (const { labels, count, sum, buckets } of this.series()) {
      let cumulative = 0;
      for (const [at, le] of this.bounds.entries()) {
        cumulative += buckets[at] ?? 0;
        values.push({ metricName: `${this.metricName}_bucket`, labels: { ...labels, le }, value: cumulative });
      }
      values.push({ metricName: `${this.metricName}_bucket`, labels: { ...labels, le: '+Inf' }, value: count });
      values.push(
        { metricName: `${this.metricName}_sum`, labels, value: sum },
        { metricName: `${this.metricName}_count`, labels, value: count },
      );
    }
    const { metricName: name, help } = this;
    const metric = { name, help, type: 'histogram', values, aggregator: 'sum' };
    return Promise.resolve(metric as unknown as Awaited<ReturnType<Histogram['get']>>);
  }
}
