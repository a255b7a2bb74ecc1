import type { Metrics } from '#apiserver/base/metrics/metrics';
import type { WorkQueueObserver } from './work-queue.ts';

const seconds = 1 / 1_000;
/** Upstream: k8s.io/component-base/metrics/prometheus/workqueue. */
const queueBuckets = [10e-9, 10e-8, 10e-7, 10e-6, 10e-5, 10e-4, 10e-3, 0.1, 1, 10];
/** Upstream: controller-runtime/pkg/internal/controller/metrics. */
const reconcileBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.5, 1, 2, 5, 10, 30, 60];

export type ReconcileOutcome = 'success' | 'error' | 'requeue' | 'requeue_after';

/** Metrics of a controller's reconciles. */
export interface ReconcileObserver {
  started(): void;
  finished(outcome: ReconcileOutcome, milliseconds: number): void;
}

/** Metrics of work queues and reconciles, under upstream's names. */
export class ControllerMetrics {
  constructor(private readonly metrics: Metrics) {}

  queue(name: string): WorkQueueObserver {
    const { metrics } = this;
    const labels = { name };
    const of = (metric: string, help: string): { name: string; help: string; labels: string[] } => ({
      name: `workqueue_${metric}`,
      help,
      labels: ['name'],
    });
    const depth = metrics.gauge(of('depth', 'Current depth of workqueue'));
    const adds = metrics.counter(of('adds_total', 'Total number of adds handled by workqueue'));
    const waited = metrics.histogram({
      ...of('queue_duration_seconds', 'How long in seconds an item stays in workqueue before being requested.'),
      buckets: queueBuckets,
    });
    const worked = metrics.histogram({
      ...of('work_duration_seconds', 'How long in seconds processing an item from workqueue takes.'),
      buckets: queueBuckets,
    });
    const retries = metrics.counter(of('retries_total', 'Total number of retries handled by workqueue'));
    return {
      added(length) {
        adds.inc(labels);
        depth.set(labels, length);
      },
      started(waitedMs, length) {
        depth.set(labels, length);
        waited.observe(labels, waitedMs * seconds);
      },
      finished: (workedMs) => worked.observe(labels, workedMs * seconds),
      retried: () => retries.inc(labels),
    };
  }

  reconciles(controller: string): ReconcileObserver {
    const { metrics } = this;
    const active = metrics.gauge({
      name: 'controller_runtime_active_workers',
      help: 'Number of currently used workers per controller',
      labels: ['controller'],
    });
    const total = metrics.counter({
      name: 'controller_runtime_reconcile_total',
      help: 'Total number of reconciliations per controller',
      labels: ['controller', 'result'],
    });
    const errors = metrics.counter({
      name: 'controller_runtime_reconcile_errors_total',
      help: 'Total number of reconciliation errors per controller',
      labels: ['controller'],
    });
    const time = metrics.histogram({
      name: 'controller_runtime_reconcile_time_seconds',
      help: 'Length of time per reconciliation per controller',
      labels: ['controller'],
      buckets: reconcileBuckets,
    });
    const labels = { controller };
    return {
      started: () => active.inc(labels),
      finished(result, milliseconds) {
        active.inc(labels, -1);
        total.inc({ controller, result });
        if (result === 'error') errors.inc(labels);
        time.observe(labels, milliseconds * seconds);
      },
    };
  }
}
