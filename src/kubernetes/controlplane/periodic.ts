import { setTimeout } from 'node:timers/promises';

/**
 * Runs `work` every `ms` until the signal aborts, never twice at a time; what it rejects with goes to `onError`, and the
 * next run comes as ever. The timer does not keep the process alive.
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
  /** Between two attempts. */
  readonly everyMs: number;
  /** After so long the last failure is final; undefined: never. */
  readonly forMs?: number | undefined;
  /** It rejects when this aborts. */
  readonly signal: AbortSignal;
  /** Told of each attempt that is followed by another one. */
  onError(error: unknown): void;
}

/** Tries until it succeeds. */
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
