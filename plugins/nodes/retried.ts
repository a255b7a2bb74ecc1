import type { Clock } from 'kubenest/sdk';

/** Repeats a work after a second until it succeeds or the signal aborts. `failed` gets each error. */
export async function retried(work: () => Promise<void>, clock: Clock, signal: AbortSignal, failed: (error: Error) => void): Promise<void> {
  while (!signal.aborted) {
    try {
      return await work();
    } catch (error) {
      failed(error as Error);
    }
    await new Promise<void>((resolve) => {
      const cancel = clock.after(1_000, resolve);
      const end = (): void => {
        cancel();
        resolve();
      };
      signal.addEventListener('abort', end, { once: true });
    });
  }
}
