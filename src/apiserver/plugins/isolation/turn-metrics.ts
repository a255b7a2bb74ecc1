import type { MessagePort } from 'node:worker_threads';
import type { MetricLabels, MetricOptions, Metrics } from '#apiserver/base/metrics/metrics';
import type { FromWorker, MetricUpdate } from './messages.ts';

/** Series, and values of a histogram's series, that one turn of the event loop may change. */
const maxSeries = 1_000;
const maxValues = 10_000;

/** Metrics of a thread. Changes of one turn of its event loop are sent together: a sum for a counter, the last value for a gauge. */
export class TurnMetrics implements Metrics {
  readonly #updates = new Map<string, MetricUpdate & { readonly values: number[] }>();

  constructor(
    private readonly port: MessagePort,
    private readonly dropped: () => void,
  ) {}

  counter(options: MetricOptions): ReturnType<Metrics['counter']> {
    return { inc: (labels, value = 1) => this.#add('counter', options, labels, value) };
  }

  gauge(options: MetricOptions): ReturnType<Metrics['gauge']> {
    return {
      inc: (labels, value = 1) => this.#add('gauge', options, labels, value),
      set: (labels, value) => this.#update('gauge', options, 'set', labels).splice(0, 1, value),
    };
  }

  histogram(options: MetricUpdate['options']): ReturnType<Metrics['histogram']> {
    return {
      observe: (labels, value) => {
        const values = this.#update('histogram', options, 'observe', labels);
        if (values.length < maxValues) values.push(value);
        else this.dropped();
      },
    };
  }

  #add(kind: MetricUpdate['kind'], options: MetricOptions, labels: MetricLabels, value: number): void {
    const values = this.#update(kind, options, 'inc', labels);
    values[0] = (values[0] ?? 0) + value;
  }

  /** Returns the values of a series that this turn sends. A gauge that was set in this turn is set to the sum. */
  #update(kind: MetricUpdate['kind'], options: MetricUpdate['options'], method: MetricUpdate['method'], labels: MetricLabels): number[] {
    const texts = Object.fromEntries(Object.entries(labels).map(([label, value]) => [label, String(value)]));
    const key = JSON.stringify([kind, options.name, texts]);
    const known = this.#updates.get(key);
    if (known && (known.method === method || method === 'inc')) return known.values;
    if (!known && this.#updates.size >= maxSeries) {
      this.dropped();
      return [];
    }
    if (this.#updates.size === 0) setImmediate(() => this.#send());
    const values: number[] = [];
    this.#updates.set(key, { kind, options, method, labels: texts, values });
    return values;
  }

  #send(): void {
    const updates = [...this.#updates.values()];
    this.#updates.clear();
    this.port.postMessage({ type: 'metrics', updates } satisfies FromWorker);
  }
}
