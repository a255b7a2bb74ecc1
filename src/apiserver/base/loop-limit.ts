import { performance } from 'node:perf_hooks';
import { systemClock } from '#apiserver/base/clock';

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
 * while it mostly waits, for example for a slow disk. Further ones wait in their order. Works that were in progress while the event loop
 * mostly waited, for example for a webhook, no longer count, so that they do not delay those that would use the idle time.
 */
export class LoopLimit {
  readonly #waiting: (() => void)[] = [];
  /** Works in progress that count. */
  readonly #counted = new Set<symbol>();
  #max: number;
  #seen: LoopTimes;
  #watching = false;

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
    if (this.#counted.size === 0) this.#begin();
    if (this.#counted.size < this.#max) {
      void this.#start(work);
      return;
    }
    this.#waiting.push(() => void this.#start(work));
    this.#watch();
  }

  /** A burst begins with few works: the code may be cold, and the idle time before it does not count. */
  #begin(): void {
    this.#max = this.few;
    this.#seen = this.times();
  }

  async #start(work: () => Promise<void>): Promise<void> {
    const token = Symbol();
    this.#counted.add(token);
    try {
      await work();
    } finally {
      this.#counted.delete(token);
      this.#adapt();
      this.#startWaiting();
    }
  }

  #startWaiting(): void {
    while (this.#waiting.length > 0 && this.#counted.size < this.#max) this.#waiting.shift()?.();
  }

  /** While works wait, looks each period whether those in progress wait for something else than the event loop. */
  #watch(): void {
    if (this.#watching) return;
    this.#watching = true;
    const before = this.times();
    const inProgress = [...this.#counted];
    systemClock.after(periodMs, () => {
      this.#watching = false;
      const now = this.times();
      const active = now.active - before.active;
      const isIdle = active < (active + now.idle - before.idle) * idleShare;
      if (isIdle) for (const token of inProgress) this.#counted.delete(token);
      this.#startWaiting();
      if (this.#waiting.length > 0) this.#watch();
    });
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
