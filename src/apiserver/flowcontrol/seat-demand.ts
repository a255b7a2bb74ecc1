/** Statistics of the seat demand in a period. */
export interface DemandStats {
  readonly average: number;
  readonly deviation: number;
  readonly max: number;
  /** Duration of the period in seconds. */
  readonly duration: number;
}

/** Integrates a value over time. Upstream: apiserver/pkg/util/flowcontrol/fairqueuing/integrator.go. */
export class Integrator {
  #value = 0;
  #max = 0;
  #since: number;
  #changedAt: number;
  #integral = 0;
  #squares = 0;

  /** `now` is a monotonic time in milliseconds. */
  constructor(now: number) {
    this.#since = now;
    this.#changedAt = now;
  }

  set(value: number, now: number): void {
    this.#advance(now);
    this.#value = value;
    if (value > this.#max) this.#max = value;
  }

  /** Returns the statistics since the last call and starts a new period. */
  reset(now: number): DemandStats {
    this.#advance(now);
    const duration = (now - this.#since) / 1000;
    const average = duration > 0 ? this.#integral / duration : 0;
    const variance = duration > 0 ? this.#squares / duration - average * average : 0;
    const stats = { average, deviation: Math.sqrt(Math.max(0, variance)), max: this.#max, duration };
    this.#since = now;
    this.#integral = 0;
    this.#squares = 0;
    this.#max = this.#value;
    return stats;
  }

  #advance(now: number): void {
    const seconds = (now - this.#changedAt) / 1000;
    this.#integral += this.#value * seconds;
    this.#squares += this.#value * this.#value * seconds;
    this.#changedAt = now;
  }
}
