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

/** Tries every `ms` until it succeeds, or the signal aborts: it rejects then. What attempts reject with goes to `onError`. */
export async function retryUntilDone(
  ms: number,
  signal: AbortSignal,
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): Promise<void> {
  for (;;) {
    await setTimeout(ms, undefined, { signal, ref: false });
    try {
      return await work();
    } catch (error) {
      onError(error);
    }
  }
}
