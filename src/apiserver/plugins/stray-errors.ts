import { join, sep } from 'node:path';
import type { Logger } from '#apiserver/base/logger';
import type { Metrics } from '#apiserver/base/metrics/metrics';
import { PluginFailures } from './plugin-failures.ts';
import { currentPlugin, type PluginOrigin } from './plugin-origin.ts';
import { errorOf } from './error-of.ts';
import { framesOf, stackPlaces } from './stack-places.ts';

/** Event of the process for errors that no code handles. */
export type StrayKind = 'uncaughtException' | 'unhandledRejection';

const messages: Readonly<Record<StrayKind, string>> = {
  uncaughtException: 'uncaught exception',
  unhandledRejection: 'unhandled promise rejection',
};

/**
 * Handles errors that no code handles, in timers, streams and promises. Those of packages are logged and counted with the name of the
 * package, and the server continues: what the guards of a package started, and what only code of the package has executed, for example a
 * timer of a provider of its pages, which Nest creates. A rejected promise of the server itself is logged. An exception of the server
 * itself ends the process, as Node does, because its state is unknown.
 */
export class StrayErrors {
  readonly #failures: PluginFailures;

  constructor(
    private readonly logger: Logger,
    metrics: Metrics,
    private readonly packages: () => readonly PluginOrigin[],
    private readonly end: (error: unknown) => void,
  ) {
    this.#failures = new PluginFailures(logger, metrics);
  }

  /** Listens to a process until disposed. */
  listen(process: NodeJS.Process): Disposable {
    const onException = (error: unknown): void => this.handle('uncaughtException', error);
    const onRejection = (error: unknown): void => this.handle('unhandledRejection', error);
    process.on('uncaughtException', onException).on('unhandledRejection', onRejection);
    return {
      [Symbol.dispose]: () => void process.off('uncaughtException', onException).off('unhandledRejection', onRejection),
    };
  }

  handle(kind: StrayKind, error: unknown): void {
    const origin = currentPlugin() ?? onlyOwner(error, this.packages());
    if (origin) {
      this.#failures.record({ sort: 'plugin package', name: origin.file ?? '', package: origin.package }, kind, error);
      return;
    }
    try {
      this.logger.error({ err: error }, messages[kind]);
    } catch (unreadable) {
      // Members of the error may be accessors that throw.
      this.logger.error({ err: errorOf(unreadable) }, messages[kind]);
    }
    if (kind === 'uncaughtException') this.end(error);
  }
}

/** Returns the package that contains all code in the stack of an error. The server may be installed in its node_modules. */
function onlyOwner(error: unknown, packages: readonly PluginOrigin[]): PluginOrigin | undefined {
  const places = stackPlaces(framesOf(errorOf(error)));
  if (places.length === 0) return undefined;
  const isIn = (folder: string): boolean =>
    places.every(({ file }) => file.startsWith(folder + sep) && !file.startsWith(join(folder, 'node_modules/kubenest') + sep));
  return packages.find(({ folder }) => folder !== undefined && isIn(folder));
}
