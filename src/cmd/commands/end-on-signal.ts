import type { Log } from '#cmd/logging/log';

/** Grace period after which open handles, such as a connection to an unresponsive store, no longer delay the exit. */
const lingerMs = 2_000;

/** A server that a signal ends. */
export interface Stoppable {
  readonly log: Pick<Log, 'info'>;
  stop(): Promise<void>;
}

/** Resolves when SIGTERM or SIGINT has ended the server; a second signal ends the process at once. */
export function endOnSignal(server: Stoppable): Promise<void> {
  return new Promise((resolve, reject) => {
    let signals = 0;
    const onSignal = (signal: NodeJS.Signals): void => {
      signals += 1;
      // Pending work can delay the exit; without the listeners, the next signal ends the process.
      if (signals > 1) process.removeAllListeners('SIGTERM').removeAllListeners('SIGINT').exit(1);
      server.log.info({ signal }, 'shutting down');
      server
        .stop()
        .finally(() => setTimeout(() => process.exit(), lingerMs).unref())
        .then(resolve, reject);
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}
