import type { Clock } from './clock.ts';

/** A clock that only the test advances. Its wall time is its monotonic time. */
export class FakeClock implements Clock {
  #now = 1_000_000;
  readonly #timers = new Set<{ at: number; readonly every: number; readonly callback: () => void }>();

  get timers(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#now;
  }

  wallTime(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    return this.#add(ms, 0, callback);
  }

  every(ms: number, callback: () => void): () => void {
    return this.#add(ms, ms, callback);
  }

  /** Runs the due timers in order and lets promises settle in between. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await turn();
      const next = [...this.#timers].filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.#now = next.at;
      if (next.every > 0) next.at += next.every;
      else this.#timers.delete(next);
      next.callback();
    }
    this.#now = end;
    await turn();
  }

  #add(ms: number, every: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, every, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }
}

/** Lets all pending promises settle without advancing the clock. */
export async function turn(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
}
