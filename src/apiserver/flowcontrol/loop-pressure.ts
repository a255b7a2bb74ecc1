const periodMs = 10;
/** By how much the event loop is late when fewer requests are let in, and when more are. */
const lateMs = 25;
const punctualMs = 10;
/** They keep a thread busy that waits a few milliseconds for its store. */
const fewest = 16;
const manyAsEver = 1_000;

/** How many requests of one priority level may execute, as far as the event loop goes. */
export interface Pressure {
  readonly most: number;
  /** So many of a level execute. */
  executing(count: number): void;
}

export const noPressure: Pressure = { most: Number.POSITIVE_INFINITY, executing: () => {} };

/**
 * All requests that execute share one thread. Where the answers of hundreds come from a store at once, what is more urgent waits for each of
 * them; a few keep the thread as busy, and the rest waits where it is told apart by priority and fairness: in the queues. So the seats of
 * each level are bounded while the event loop is late: by three quarters as many each time, and by one more each time that it is not.
 * It is looked at only while a level has many that execute.
 */
export class LoopPressure implements Pressure {
  readonly #now: () => number;
  readonly #relieved: () => void;
  #most = Number.POSITIVE_INFINITY;
  /** The most that a level had since it was looked at. */
  #busiest = 0;
  #isLooking = false;

  /** `relieved`: called when more may execute. */
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
