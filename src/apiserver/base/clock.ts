/** Source of time and timers; tests inject their own. */
export interface Clock {
  /** Milliseconds of a monotonic clock. */
  now(): number;
  /** Milliseconds since 1970 by the wall clock. */
  wallTime(): number;
  /** Calls back once, unless the returned function is called first. The timer is unref'ed. */
  after(ms: number, callback: () => void): () => void;
  /** Calls back periodically until the returned function is called. The timer is unref'ed. */
  every(ms: number, callback: () => void): () => void;
}

export const Clock = Symbol.for('kubenest.Clock');

export const systemClock: Clock = {
  now: () => performance.now(),
  wallTime: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms).unref();
    return () => clearTimeout(timer);
  },
  every(ms, callback) {
    const timer = setInterval(callback, ms).unref();
    return () => clearInterval(timer);
  },
};
