import { resolve } from 'node:path';
import type { App } from '#cmd/app';
import { watchFiles } from '#cmd/certificates/watch-files';
import type { CompletedOptions } from '#cmd/options/complete';

type Reloaded = Pick<CompletedOptions, 'pluginFiles' | 'readPlugins'>;

/**
 * Applies changes of the packages' policies and configurations when the configuration file changes and on SIGHUP, one after the other.
 * Problems are logged, and the previous policies and configurations remain in use. Changes of `restartFile` are left to the parent process,
 * which replaces this one.
 */
export function reloadingPlugins(
  app: Pick<App, 'log' | 'reloadPlugins'>,
  { pluginFiles, readPlugins }: Reloaded,
  restartFile?: string,
): Disposable | undefined {
  if (pluginFiles.length === 0) return undefined;
  const reload = async (): Promise<void> => {
    try {
      const { contributions, applied } = await readPlugins();
      app.reloadPlugins(contributions);
      applied();
      app.log.info({ files: pluginFiles }, 'policies and configurations of plugins reloaded');
    } catch (error) {
      const reason = (error as Error).message;
      app.log.error({ files: pluginFiles, reason }, 'cannot reload the plugins; their previous policies and configurations remain in use');
    }
  };
  let last = Promise.resolve();
  const onChange = (): void => {
    last = last.then(reload);
  };
  const watch = watchFiles(
    pluginFiles.filter((file) => resolve(file) !== restartFile),
    onChange,
  );
  process.on('SIGHUP', onChange);
  return {
    [Symbol.dispose]() {
      watch[Symbol.dispose]();
      process.off('SIGHUP', onChange);
    },
  };
}
