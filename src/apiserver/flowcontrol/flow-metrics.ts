import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Classification, FlowController } from './flow-controller.ts';
import type { Rejection } from './queue-set.ts';

/** Upstream: apiserver/pkg/util/flowcontrol/metrics/metrics.go. */
const durationBuckets = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];

interface Counts {
  readonly labels: { readonly priority_level: string; readonly flow_schema: string };
  dispatched: number;
}

/**
 * Metrics under upstream's names. The way of a request adds to plain numbers; they become prom-client's when somebody asks for
 * /metrics. Flow schemas and priority levels are the administrator's, so the series are bounded.
 */
export class FlowMetrics {
  readonly #counts = new WeakMap<Classification, Counts>();
  readonly #all = new Map<string, Counts>();
  readonly #rejected: Counter;
  readonly #wait: Histogram;

  constructor(registry: Registry, controller: FlowController) {
    const all = this.#all;
    const labelNames = ['priority_level', 'flow_schema'];
    const registers = [registry];
    this.#rejected = new Counter({
      name: 'apiserver_flowcontrol_rejected_requests_total',
      help: 'Number of requests rejected by API Priority and Fairness subsystem',
      labelNames: [...labelNames, 'reason'],
      registers,
    });
    this.#wait = new Histogram({
      name: 'apiserver_flowcontrol_request_wait_duration_seconds',
      help: 'Length of time a request spent waiting in its queue',
      labelNames: [...labelNames, 'execute'],
      buckets: durationBuckets,
      registers,
    });
    new Counter({
      name: 'apiserver_flowcontrol_dispatched_requests_total',
      help: 'Number of requests executed by API Priority and Fairness subsystem',
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const { labels, dispatched } of all.values()) this.inc({ ...labels }, dispatched);
      },
    });
    const gauge = (name: string, help: string, value: (level: Classification['level']) => number): void => {
      new Gauge({
        name: `apiserver_flowcontrol_${name}`,
        help,
        labelNames: ['priority_level'],
        registers,
        collect() {
          this.reset();
          for (const level of controller.levels.values()) this.set({ priority_level: level.name }, value(level));
        },
      });
    };
    gauge(
      'current_executing_requests',
      'Number of requests executing in the API Priority and Fairness subsystem',
      ({ queues }) => queues.stats.executing,
    );
    gauge(
      'current_executing_seats',
      'Concurrency (number of seats) occupied by the currently executing requests',
      ({ queues }) => queues.stats.seatsInUse,
    );
    gauge('current_inqueue_requests', 'Number of requests currently pending in queues', ({ queues }) => queues.stats.waiting);
    gauge('current_inqueue_seats', 'Number of seats currently pending in queues', ({ queues }) => queues.stats.seatsWaiting);
    gauge('nominal_limit_seats', 'Nominal number of execution seats configured for each priority level', ({ nominal }) => nominal);
    gauge('lower_limit_seats', 'Configured lower bound on number of execution seats', ({ min }) => min);
    gauge('upper_limit_seats', 'Configured upper bound on number of execution seats', ({ max }) => max);
    gauge('current_limit_seats', 'current derived number of execution seats available to each priority level', ({ current }) => current);
    gauge('demand_seats_smoothed', 'Smoothed seat demands', ({ smoothedDemand }) => smoothedDemand);
    gauge('request_concurrency_limit', 'Nominal number of execution seats configured for each priority level', ({ nominal }) => nominal);
  }

  dispatched(classification: Classification): void {
    this.#of(classification).dispatched += 1;
  }

  rejected({ level, flowSchema }: Classification, reason: Rejection): void {
    this.#rejected.inc({ priority_level: level.name, flow_schema: flowSchema, reason });
  }

  waited({ level, flowSchema }: Classification, milliseconds: number, executes: boolean): void {
    this.#wait.observe({ priority_level: level.name, flow_schema: flowSchema, execute: String(executes) }, milliseconds / 1000);
  }

  #of(classification: Classification): Counts {
    let counts = this.#counts.get(classification);
    if (!counts) {
      const { level, flowSchema } = classification;
      const key = `${level.name} ${flowSchema}`;
      counts = this.#all.get(key) ?? { labels: { priority_level: level.name, flow_schema: flowSchema }, dispatched: 0 };
      this.#all.set(key, counts);
      this.#counts.set(classification, counts);
    }
    return counts;
  }
}
