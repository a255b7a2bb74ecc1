/** Rate limit with a burst and a refill per second. */
export class Allowance {
  readonly #burst: number;
  readonly #perSecond: number;
  #left: number;
  #since = performance.now();

  constructor(burst: number, perSecond: number) {
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#left = burst;
  }

  /** Takes one unit; returns false if none is left. */
  use(): boolean {
    const now = performance.now();
    this.#left = Math.min(this.#burst, this.#left + ((now - this.#since) / 1000) * this.#perSecond);
    this.#since = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
