import type { Metrics } from '#apiserver/base/metrics/metrics';
import type { QueueMetrics, WorkQueueMetrics } from '#apiserver/base/metrics/workqueue-metrics';

const seconds = 1 / 1_000;
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
  constructor(
    private readonly metrics: Metrics,
    private readonly queues: WorkQueueMetrics,
  ) {}

  queue(name: string): QueueMetrics {
    return this.queues.queue(name);
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
