const periodMs = 10;
/** Event loop delay above which the bound is lowered; below it, the bound is raised. */
const lateMs = 25;
const punctualMs = 10;
/** Minimum bound; enough to keep a thread busy that waits a few milliseconds for its store. */
const fewest = 16;
const manyAsEver = 1_000;

/** A bound on the executing requests of a priority level, derived from the event loop delay. */
export interface Pressure {
  readonly most: number;
  /** Reports the number of executing requests of the level. */
  executing(count: number): void;
}

export const noPressure: Pressure = { most: Number.POSITIVE_INFINITY, executing: () => {} };

/**
 * Bounds the seats of each level while the event loop is delayed. All executing requests share one thread: if hundreds of
 * them receive responses from a store at once, an urgent request waits for all of them. Fewer requests keep the thread as
 * busy, while the rest waits in the queues, where priority and fairness apply. Each check with a delay lowers the bound to
 * three quarters; each check without one raises it by one. Checks run only while a level has many executing requests.
 */
export class LoopPressure implements Pressure {
  readonly #now: () => number;
  readonly #relieved: () => void;
  #most = Number.POSITIVE_INFINITY;
  /** Maximum number of executing requests since the last check. */
  #busiest = 0;
  #isLooking = false;

  /** `relieved` is called when the bound rises. */
  constructor(relieved: () => void, now: () => number = () => performance.now()) {
    this.#relieved = relieved;
    this.#now = now;
  }

  get most(): number {
    return this.#most;
  }

  executing(count: number): void {
    if (count <= fewest) return;
    if (count > this.#busiest) this.#busiest = count;
    if (!this.#isLooking) this.#lookAgain();
  }

  #lookAgain(): void {
    this.#isLooking = true;
    const due = this.#now() + periodMs;
    setTimeout(() => this.#look(this.#now() - due), periodMs).unref();
  }

  #look(late: number): void {
    const most = Math.min(this.#most, Math.max(this.#busiest, fewest));
    if (late > lateMs) this.#most = Math.max(fewest, Math.floor(most * 0.75));
    else if (late < punctualMs) this.#most = this.#most < manyAsEver ? this.#most + 1 : Number.POSITIVE_INFINITY;
    this.#isLooking = this.#busiest > 0 || this.#most !== Number.POSITIVE_INFINITY;
    this.#busiest = 0;
    if (this.#isLooking) this.#lookAgain();
    if (late < punctualMs) this.#relieved();
  }
}
