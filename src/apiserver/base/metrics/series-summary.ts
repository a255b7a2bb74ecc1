import { Summary } from 'prom-client';
import type { QuantileWindow } from './quantile-window.ts';

/** Observations of one combination of labels. */
export interface SummarySeries {
  readonly window: QuantileWindow;
  readonly labels: Record<string, string>;
}

/** A summary with quantiles of time windows. prom-client's Summary sorts observations on the request path. */
export class SeriesSummary extends Summary {
  constructor(
    readonly metricName: string,
    readonly help: string,
    labelNames: readonly string[],
    readonly quantiles: readonly number[],
    readonly series: () => Iterable<SummarySeries>,
  ) {
    super({ name: metricName, help, labelNames: [...labelNames], registers: [] });
  }

  override get(): ReturnType<Summary['get']> {
    const now = performance.now();
    const values: { value: number; labels: Record<string, string | number>; metricName?: string }[] = [];
    for (const { window, labels } of this.series()) {
      for (const quantile of this.quantiles) values.push({ labels: { quantile, ...labels }, value: window.quantile(quantile, now) });
      values.push({ metricName: `${this.metricName}_sum`, labels, value: window.sum });
      values.push({ metricName: `${this.metricName}_count`, labels, value: window.count });
    }
    const metric = { name: this.metricName, help: this.help, type: 'summary', values, aggregator: 'sum' };
    return Promise.resolve(metric as unknown as Awaited<ReturnType<Summary['get']>>);
  }
}
