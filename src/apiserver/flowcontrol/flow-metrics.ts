import { Counter, Gauge, type Registry } from 'prom-client';
import { newSeries, observe, type Series, SeriesHistogram } from '#apiserver/base/metrics/series-histogram';
import type { Classification, FlowController } from './flow-controller.ts';
import { type LevelUsage, usageBuckets } from './level-usage.ts';
import type { FlowOccupancy, Rejection } from './queue-set.ts';
import { TimingRatioHistogram } from './timing-ratio-histogram.ts';

/** Histogram buckets. Upstream: apiserver/pkg/util/flowcontrol/metrics/metrics.go. */
const durationBuckets = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];
const readVersusWriteBuckets = [0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1];
const seatBuckets = [1, 2, 4, 8, 16, 32, 64, 100];

interface Refusals {
  readonly rejected: number;
  readonly timedOut: number;
  readonly cancelled: number;
}
const noRefusals: Refusals = { rejected: 0, timedOut: 0, cancelled: 0 };

interface FlowLabels {
  readonly priority_level: string;
  readonly flow_schema: string;
}

function newKinds(): Readonly<Record<'readOnly' | 'mutating', TimingRatioHistogram>> {
  const now = performance.now();
  return {
    readOnly: new TimingRatioHistogram(readVersusWriteBuckets, now),
    mutating: new TimingRatioHistogram(readVersusWriteBuckets, now),
  };
}

/** Counters of the requests of a flow schema. */
export class FlowSeries {
  readonly seats: Series;
  readonly regular: Series;
  readonly watch: Series;
  dispatches = 0;
  /** Durations of waiting requests, by whether they were executed. */
  readonly waits: Readonly<Record<'true' | 'false', Series>>;

  constructor(
    readonly labels: FlowLabels,
    /** True for the exempt level, whose requests never wait. */
    readonly isExempt: boolean,
  ) {
    this.waits = {
      true: newSeries(durationBuckets, { ...labels, execute: 'true' }),
      false: newSeries(durationBuckets, { ...labels, execute: 'false' }),
    };
    this.seats = newSeries(seatBuckets, { ...labels });
    this.regular = newSeries(durationBuckets, { ...labels, type: 'regular' });
    this.watch = newSeries(durationBuckets, { ...labels, type: 'watch' });
  }

  estimated(seats: number): void {
    observe(this.seats, seatBuckets, seats);
  }

  /** Waits of executed requests, including those that did not wait. */
  get executedWaits(): Series {
    const { buckets, ...waits } = this.waits.true;
    const atOnce = this.isExempt ? 0 : Math.max(0, this.dispatches - waits.count);
    return { ...waits, count: waits.count + atOnce, buckets: buckets.map((count, at) => (at === 0 ? count + atOnce : count)) };
  }

  dispatched(): void {
    this.dispatches += 1;
  }

  /** Records the time for which a request held its seats; for watches, until they started. */
  executed(type: 'regular' | 'watch', milliseconds: number): void {
    observe(this[type], durationBuckets, milliseconds / 1000);
  }
}

/**
 * Flow control metrics under upstream's names. Requests update plain numbers, which are converted for prom-client when
 * /metrics is read. The number of series is bounded, because only administrators create flow schemas and priority levels.
 */
export class FlowMetrics {
  readonly #series = new WeakMap<Classification, FlowSeries>();
  readonly #all = new Map<string, FlowSeries>();
  readonly #refusals = new Map<string, Refusals>();
  readonly #rejected: Counter;
  /** Totals of the server by request kind. */
  readonly readVersusWrite = { executing: newKinds(), waiting: newKinds() };

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
    registry.registerMetric(
      new SeriesHistogram(
        'apiserver_flowcontrol_request_wait_duration_seconds',
        'Length of time a request spent waiting in its queue',
        [...labelNames, 'execute'],
        durationBuckets,
        () => [...all.values()].flatMap((series) => [series.executedWaits, series.waits.false].filter(({ count }) => count > 0)),
      ),
    );
    new Counter({
      name: 'apiserver_flowcontrol_dispatched_requests_total',
      help: 'Number of requests executed by API Priority and Fairness subsystem',
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const { labels, dispatches } of all.values()) this.inc({ ...labels }, dispatches);
      },
    });
    registry.registerMetric(
      new SeriesHistogram(
        'apiserver_flowcontrol_request_execution_seconds',
        'Duration of initial stage (for a WATCH) or any (for a non-WATCH) stage of request execution in the API Priority and Fairness subsystem',
        [...labelNames, 'type'],
        durationBuckets,
        () => [...all.values()].flatMap(({ regular, watch }) => [regular, watch].filter(({ count }) => count > 0)),
      ),
    );
    registry.registerMetric(
      new SeriesHistogram(
        'apiserver_flowcontrol_work_estimated_seats',
        'Number of estimated seats (maximum of initial and final seats) associated with requests in API Priority and Fairness',
        labelNames,
        seatBuckets,
        () => [...all.values()].map(({ seats }) => seats),
      ),
    );
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
    const flowGauge = (name: string, help: string, value: (flow: Readonly<FlowOccupancy>) => number): void => {
      new Gauge({
        name: `apiserver_flowcontrol_${name}`,
        help,
        labelNames,
        registers,
        collect() {
          this.reset();
          for (const { name: priority_level, isExempt, queues } of controller.levels.values())
            if (!isExempt || !name.startsWith('current_inqueue'))
              for (const [flow_schema, flow] of queues.flows) this.set({ priority_level, flow_schema }, value(flow));
        },
      });
    };
    const pending = 'currently pending in queues of the API Priority and Fairness subsystem';
    flowGauge(
      'current_executing_requests',
      'Number of requests in initial (for a WATCH) or any (for a non-WATCH) execution stage in the API Priority and Fairness subsystem',
      ({ executing }) => executing,
    );
    flowGauge(
      'current_executing_seats',
      'Concurrency (number of seats) occupied by the currently executing (initial stage for a WATCH, any stage otherwise) requests in the API Priority and Fairness subsystem',
      ({ seatsInUse }) => seatsInUse,
    );
    flowGauge('current_inqueue_requests', `Number of requests ${pending}`, ({ waiting }) => waiting);
    flowGauge('current_inqueue_seats', `Number of seats ${pending}`, ({ seatsWaiting }) => seatsWaiting);
    gauge('nominal_limit_seats', 'Nominal number of execution seats configured for each priority level', ({ nominal }) => nominal);
    gauge('lower_limit_seats', 'Configured lower bound on number of execution seats available to each priority level', ({ min }) => min);
    gauge('upper_limit_seats', 'Configured upper bound on number of execution seats available to each priority level', ({ max }) => max);
    gauge('current_limit_seats', 'current derived number of execution seats available to each priority level', ({ current }) => current);
    gauge('demand_seats_smoothed', 'Smoothed seat demands', ({ smoothedDemand }) => smoothedDemand);
    const demand = ({ name }: Classification['level']) => controller.demands.get(name);
    gauge(
      'demand_seats_average',
      'Time-weighted average, over last adjustment period, of demand_seats',
      (level) => demand(level)?.average ?? 0,
    );
    gauge(
      'demand_seats_stdev',
      'Time-weighted standard deviation, over last adjustment period, of demand_seats',
      (level) => demand(level)?.deviation ?? 0,
    );
    gauge(
      'demand_seats_high_watermark',
      'High watermark, over last adjustment period, of demand_seats',
      (level) => demand(level)?.max ?? 0,
    );
    gauge('target_seats', 'Seat allocation targets', (level) => demand(level)?.target ?? 0);
    gauge('current_r', 'R(time of last change)', ({ queues }) => queues.currentR);
    this.#registerUsage(registry, controller);
    const { waiting } = this.readVersusWrite;
    new Gauge({
      name: 'apiserver_current_inqueue_requests',
      help: 'Maximal number of queued requests in this apiserver per request kind in last second.',
      labelNames: ['request_kind'],
      registers,
      collect() {
        for (const [request_kind, { numerator }] of Object.entries(waiting)) this.set({ request_kind }, numerator);
      },
    });
    new Gauge({
      name: 'apiserver_flowcontrol_seat_fair_frac',
      help: "Fair fraction of server's concurrency to allocate to each priority level that can use it",
      registers,
      collect() {
        this.set(controller.fairFraction);
      },
    });
  }

  /** Registers the usage ratios over time. */
  #registerUsage(registry: Registry, controller: FlowController): void {
    const histogram = (
      name: string,
      help: string,
      labels: string[],
      buckets: readonly number[],
      series: (now: number) => Series[],
    ): void => {
      const text = `Observations, at the end of every nanosecond, of ${help}`;
      registry.registerMetric(new SeriesHistogram(`apiserver_flowcontrol_${name}`, text, labels, buckets, () => series(performance.now())));
    };
    const ofLevels = (series: (usage: LevelUsage, level: string) => Series[]): Series[] =>
      [...controller.levels.values()].flatMap((level) => series(level.queues.usage, level.name));
    histogram(
      'priority_level_request_utilization',
      'number of requests (as a fraction of the relevant limit) waiting or in any stage of execution (but only initial stage for WATCHes)',
      ['phase', 'priority_level'],
      usageBuckets.requests,
      (now) =>
        ofLevels(({ executing, waiting }, level) => [
          executing.series({ phase: 'executing', priority_level: level }, now),
          waiting.series({ phase: 'waiting', priority_level: level }, now),
        ]),
    );
    histogram(
      'priority_level_seat_utilization',
      'utilization of seats for any stage of execution (but only initial stage for WATCHes)',
      ['phase', 'priority_level'],
      usageBuckets.seats,
      (now) => ofLevels(({ seats }, level) => [seats.series({ phase: 'executing', priority_level: level }, now)]),
    );
    histogram(
      'demand_seats',
      '(the number of seats each priority level could use) / (nominal number of seats for that level)',
      ['priority_level'],
      usageBuckets.demand,
      (now) => ofLevels(({ demand }, level) => [demand.series({ priority_level: level }, now)]),
    );
    for (const usage of Object.values(this.readVersusWrite)) {
      for (const one of Object.values(usage)) one.setDenominator(controller.concurrency, performance.now());
    }
    histogram(
      'read_vs_write_current_requests',
      'the number of requests (as a fraction of the relevant limit) waiting or in regular stage of execution',
      ['phase', 'request_kind'],
      readVersusWriteBuckets,
      (now) =>
        (['executing', 'waiting'] as const).flatMap((phase) =>
          (['mutating', 'readOnly'] as const).map((kind) => this.readVersusWrite[phase][kind].series({ phase, request_kind: kind }, now)),
        ),
    );
  }

  of(classification: Classification): FlowSeries {
    let series = this.#series.get(classification);
    if (!series) {
      const { level, flowSchema } = classification;
      const key = `${level.name} ${flowSchema}`;
      series = this.#all.get(key) ?? new FlowSeries({ priority_level: level.name, flow_schema: flowSchema }, level.isExempt);
      this.#all.set(key, series);
      this.#series.set(classification, series);
    }
    return series;
  }

  /** Returns the totals of a level since the start. */
  totalsOf(level: string): { readonly dispatched: number } & Refusals {
    let dispatched = 0;
    for (const series of this.#all.values()) if (series.labels.priority_level === level) dispatched += series.dispatches;
    return { dispatched, ...(this.#refusals.get(level) ?? noRefusals) };
  }

  rejected({ level, flowSchema }: Classification, reason: Rejection): void {
    const { rejected, timedOut, cancelled } = this.#refusals.get(level.name) ?? noRefusals;
    this.#refusals.set(level.name, {
      rejected: rejected + (reason === 'cancelled' ? 0 : 1),
      timedOut: timedOut + (reason === 'time-out' ? 1 : 0),
      cancelled: cancelled + (reason === 'cancelled' ? 1 : 0),
    });
    this.#rejected.inc({ priority_level: level.name, flow_schema: flowSchema, reason });
  }

  waited(classification: Classification, milliseconds: number, executes: boolean): void {
    observe(this.of(classification).waits[executes ? 'true' : 'false'], durationBuckets, milliseconds / 1000);
  }
}
