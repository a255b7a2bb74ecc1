import { setTimeout } from 'node:timers/promises';

/**
 * Runs `work` every `ms` until the signal aborts, one run at a time. A rejection goes to `onError`, and the schedule continues. The timer
 * does not keep the process alive.
 */
export function periodically(ms: number, signal: AbortSignal, work: () => Promise<void>, onError: (error: unknown) => void): void {
  if (signal.aborted) return;
  let running = false;
  const timer = setInterval(() => {
    if (running) return;
    running = true;
    work()
      .catch((error: unknown) => {
        if (!signal.aborted) onError(error);
      })
      .finally(() => {
        running = false;
      });
  }, ms).unref();
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
}

export interface RetryOptions {
  /** Interval between two attempts, in milliseconds. */
  readonly everyMs: number;
  /** Duration in milliseconds after which a failure is final; undefined for no limit. */
  readonly forMs?: number | undefined;
  /** Aborting it rejects the promise. */
  readonly signal: AbortSignal;
  /** Called for each failed attempt that is retried. */
  onError(error: unknown): void;
}

/** Retries `work` until it succeeds. */
export async function retryUntilDone(work: () => Promise<void>, { everyMs, forMs, signal, onError }: RetryOptions): Promise<void> {
  const ends = forMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + forMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() >= ends || signal.aborted) throw error;
      onError(error);
    }
    await setTimeout(everyMs, undefined, { signal, ref: false });
  }
}
