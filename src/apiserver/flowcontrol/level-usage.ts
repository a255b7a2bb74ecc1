import { TimingRatioHistogram } from './timing-ratio-histogram.ts';

/** Upstream: apiserver/pkg/util/flowcontrol/metrics/metrics.go. */
export const usageBuckets = {
  requests: [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1],
  seats: [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1],
  demand: [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6],
} as const;

/** How much of what a priority level has was in use, over time. */
export class LevelUsage {
  readonly waiting: TimingRatioHistogram;
  readonly executing: TimingRatioHistogram;
  readonly seats: TimingRatioHistogram;
  readonly demand: TimingRatioHistogram;

  /** `room`: how many requests may wait. `now`: milliseconds of a monotonic clock. */
  constructor(room: number, now: number) {
    this.waiting = new TimingRatioHistogram(usageBuckets.requests, now);
    this.executing = new TimingRatioHistogram(usageBuckets.requests, now);
    this.seats = new TimingRatioHistogram(usageBuckets.seats, now);
    this.demand = new TimingRatioHistogram(usageBuckets.demand, now);
    this.waiting.setDenominator(Math.max(1, room), now);
  }

  /** How many seats the level has, and is meant to have. */
  measureBy(current: number, nominal: number, now: number): void {
    this.executing.setDenominator(Math.max(1, current), now);
    this.seats.setDenominator(Math.max(1, current), now);
    this.demand.setDenominator(Math.max(1, nominal), now);
  }
}
