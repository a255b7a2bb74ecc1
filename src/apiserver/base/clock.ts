/** Time as the server sees it; tests bring their own. */
export interface Clock {
  /** Milliseconds of a monotonic clock. */
  now(): number;
  /** Calls once, unless the function that it returns is called before. Does not keep the process alive. */
  after(ms: number, callback: () => void): () => void;
  /** Calls again and again until the function that it returns is called. Does not keep the process alive. */
  every(ms: number, callback: () => void): () => void;
}

export const Clock = Symbol.for('kubenest.Clock');

export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms).unref();
    return () => clearTimeout(timer);
  },
  every(ms, callback) {
    const timer = setInterval(callback, ms).unref();
    return () => clearInterval(timer);
  },
};
