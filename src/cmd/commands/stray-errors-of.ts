import type { Metrics } from '#apiserver/base/metrics/metrics';
import { StrayErrors } from '#apiserver/plugins/stray-errors';
import type { Log } from '#cmd/logging/log';

/** Returns the handler of errors that no code handles. An exception of the server itself ends the process, as Node does. */
export function strayErrorsOf(log: Log, metrics: Metrics): StrayErrors {
  return new StrayErrors(log, metrics, (error) => {
    log.flush();
    console.error(error);
    process.exit(1);
  });
}
