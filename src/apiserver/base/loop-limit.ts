import { performance } from 'node:perf_hooks';

/** Time between two checks of the event loop. */
const periodMs = 20;
/** Utilization of the event loop below which it has time for more work, and above which it has too much. */
const [idleShare, busyShare] = [0.5, 0.75];

/** Time in which the event loop waited, and in which it worked. */
export interface LoopTimes {
  readonly idle: number;
  readonly active: number;
}

/**
 * Runs a few works at a time while the event loop is busy, so that few of them end in one turn and delay other clients together, and more
 * while it mostly waits, for example for a slow disk. Further ones wait in their order.
 */
export class LoopLimit {
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #max: number;
  #seen: LoopTimes;

  constructor(
    readonly few: number,
    readonly many: number,
    private readonly times: () => LoopTimes = () => performance.eventLoopUtilization(),
  ) {
    this.#max = few;
    this.#seen = times();
  }

  /** Calls `work`, now or later. */
  run(work: () => Promise<void>): void {
    if (this.#running === 0) this.#begin();
    if (this.#running < this.#max) void this.#start(work);
    else this.#waiting.push(() => void this.#start(work));
  }

  /** A burst begins with few works: the code may be cold, and the idle time before it does not count. */
  #begin(): void {
    this.#max = this.few;
    this.#seen = this.times();
  }

  async #start(work: () => Promise<void>): Promise<void> {
    this.#running += 1;
    try {
      await work();
    } finally {
      this.#running -= 1;
      this.#adapt();
      while (this.#waiting.length > 0 && this.#running < this.#max) this.#waiting.shift()?.();
    }
  }

  #adapt(): void {
    const now = this.times();
    const active = now.active - this.#seen.active;
    const all = active + now.idle - this.#seen.idle;
    if (all < periodMs) return;
    this.#seen = now;
    if (active < all * idleShare) this.#max = Math.min(this.many, this.#max + 1);
    else if (active > all * busyShare) this.#max = this.few;
  }
}
