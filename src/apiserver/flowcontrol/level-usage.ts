import { TimingRatioHistogram } from './timing-ratio-histogram.ts';

/** Buckets of the usage ratios of priority levels. Upstream: apiserver/pkg/util/flowcontrol/metrics/metrics.go. */
export const usageBuckets = {
  requests: [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1],
  seats: [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1],
  demand: [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6],
} as const;

/** Usage of a priority level's seats and queues over time. */
export class LevelUsage {
  readonly waiting: TimingRatioHistogram;
  readonly executing: TimingRatioHistogram;
  readonly seats: TimingRatioHistogram;
  readonly demand: TimingRatioHistogram;

  /** `room` is the maximum number of waiting requests. `now` is a monotonic time in milliseconds. */
  constructor(room: number, now: number) {
    this.waiting = new TimingRatioHistogram(usageBuckets.requests, now);
    this.executing = new TimingRatioHistogram(usageBuckets.requests, now);
    this.seats = new TimingRatioHistogram(usageBuckets.seats, now);
    this.demand = new TimingRatioHistogram(usageBuckets.demand, now);
    this.waiting.setDenominator(Math.max(1, room), now);
  }

  /** Sets the current and nominal number of seats. */
  measureBy(current: number, nominal: number, now: number): void {
    this.executing.setDenominator(Math.max(1, current), now);
    this.seats.setDenominator(Math.max(1, current), now);
    this.demand.setDenominator(Math.max(1, nominal), now);
  }
}
