import type { Clock } from 'kubenest/sdk';

/** Calls an action at once, and again some time after each end, until the signal aborts. */
export async function repeat(clock: Clock, periodMs: number, signal: AbortSignal, action: () => Promise<void> | void): Promise<void> {
  while (!signal.aborted) {
    await action();
    await pause(clock, periodMs, signal);
  }
}

/** Resolves after the time, or when the signal aborts. */
function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    signal.addEventListener('abort', end, { once: true });
  });
}
