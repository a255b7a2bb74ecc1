import { Counter, Gauge, type Registry } from 'prom-client';
import { newSeries, observe, type Series, SeriesHistogram } from './series-histogram.ts';

/** Receives the events of a work queue. A key is in the queue at most once. */
export interface QueueMetrics {
  /** A key was added; ignored if it is in the queue already. */
  added(key: string): void;
  /** A key left the queue without being processed. */
  dropped(key: string): void;
  /** The processing of a key began. */
  started(key: string): void;
  finished(key: string): void;
  /** A key will be processed again because of a failure. */
  retried(): void;
}

/** 10 ns to 10 s. */
const bounds = Array.from({ length: 10 }, (_, i) => 10 ** (i - 8));

class Queue implements QueueMetrics {
  adds = 0;
  retries = 0;
  readonly waited: Series;
  readonly worked: Series;
  /** Times in milliseconds since which keys wait, and are processed. */
  readonly waiting = new Map<string, number>();
  readonly running = new Map<string, number>();

  constructor(
    readonly name: string,
    private readonly clock: () => number,
  ) {
    this.waited = newSeries(bounds, { name });
    this.worked = newSeries(bounds, { name });
  }

  added(key: string): void {
    if (this.waiting.has(key)) return;
    this.waiting.set(key, this.clock());
    this.adds += 1;
  }

  dropped(key: string): void {
    this.waiting.delete(key);
  }

  started(key: string): void {
    const now = this.clock();
    const since = this.waiting.get(key);
    if (since !== undefined) observe(this.waited, bounds, (now - since) / 1_000);
    this.waiting.delete(key);
    this.running.set(key, now);
  }

  finished(key: string): void {
    const since = this.running.get(key);
    if (since === undefined) return;
    observe(this.worked, bounds, (this.clock() - since) / 1_000);
    this.running.delete(key);
  }

  retried(): void {
    this.retries += 1;
  }

  /** Seconds since which each running key is processed. */
  runningSeconds(): number[] {
    return [...this.running.values()].map((since) => (this.clock() - since) / 1_000);
  }
}

/** The metrics of work queues, computed when they are read. Upstream: component-base/metrics/prometheus/workqueue/metrics.go. */
export class WorkQueueMetrics {
  readonly #queues = new Map<string, Queue>();

  constructor(
    registry: Registry,
    private readonly clock: () => number = () => performance.now(),
  ) {
    const queues = this.#queues;
    const gauge = (name: string, help: string, value: (queue: Queue) => number): void =>
      registry.registerMetric(
        new Gauge({
          name,
          help,
          labelNames: ['name'],
          registers: [],
          collect() {
            for (const queue of queues.values()) this.set({ name: queue.name }, value(queue));
          },
        }),
      );
    const counter = (name: string, help: string, value: (queue: Queue) => number): void =>
      registry.registerMetric(
        new Counter({
          name,
          help,
          labelNames: ['name'],
          registers: [],
          collect() {
            this.reset();
            for (const queue of queues.values()) this.inc({ name: queue.name }, value(queue));
          },
        }),
      );
    const histogram = (name: string, help: string, series: (queue: Queue) => Series): void =>
      registry.registerMetric(new SeriesHistogram(name, help, ['name'], bounds, () => [...queues.values()].map(series)));

    counter('workqueue_adds_total', 'Total number of adds handled by workqueue', ({ adds }) => adds);
    gauge('workqueue_depth', 'Current depth of workqueue', ({ waiting }) => waiting.size);
    gauge(
      'workqueue_longest_running_processor_seconds',
      'How many seconds has the longest running processor for workqueue been running.',
      (queue) => Math.max(0, ...queue.runningSeconds()),
    );
    histogram(
      'workqueue_queue_duration_seconds',
      'How long in seconds an item stays in workqueue before being requested.',
      ({ waited }) => waited,
    );
    counter('workqueue_retries_total', 'Total number of retries handled by workqueue', ({ retries }) => retries);
    gauge(
      'workqueue_unfinished_work_seconds',
      "How many seconds of work has done that is in progress and hasn't been observed by work_duration. Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which this increases.",
      (queue) => queue.runningSeconds().reduce((sum, seconds) => sum + seconds, 0),
    );
    histogram('workqueue_work_duration_seconds', 'How long in seconds processing an item from workqueue takes.', ({ worked }) => worked);
  }

  /** Returns the metrics of a queue, by upstream's name. A queue that replaces another of its name continues its counts. */
  queue(name: string): QueueMetrics {
    let queue = this.#queues.get(name);
    if (!queue) {
      queue = new Queue(name, this.clock);
      this.#queues.set(name, queue);
    }
    return queue;
  }
}
