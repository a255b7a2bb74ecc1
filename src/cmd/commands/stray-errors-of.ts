import type { Metrics } from '#apiserver/base/metrics/metrics';
import type { PluginOrigin } from '#apiserver/plugins/plugin-origin';
import { StrayErrors } from '#apiserver/plugins/stray-errors';
import type { LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import type { Log } from '#cmd/logging/log';

/**
 * Returns the handler of errors that no code handles. `contributions` are those that are in use. An exception of the server itself ends the
 * process, as Node does.
 */
export function strayErrorsOf(log: Log, metrics: Metrics, contributions: () => readonly LoadedContribution[]): StrayErrors {
  const packages = (): PluginOrigin[] => contributions().flatMap(({ origin }) => origin ?? []);
  return new StrayErrors(log, metrics, packages, (error) => {
    log.flush();
    console.error(error);
    process.exit(1);
  });
}
