import type { LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import { readConfigFile } from './config-file.ts';
import { flagTable } from './flag-table.ts';
import { OptionsError } from './options-error.ts';
import type { PluginOptions } from './plugin-options.ts';
import { defaultOptions } from './read-server-options.ts';

/** Reads the packages of a configuration file. Rejects with an OptionsError that has all problems of the file. */
export async function readPluginOptions(file: string): Promise<PluginOptions> {
  const options = defaultOptions('kubenest serve');
  const problems = await readConfigFile(file, options, flagTable());
  if (problems.length > 0) throw new OptionsError(problems);
  return options.plugins;
}

/** Loads the packages of a configuration. The loader is imported only if there are any. Rejects with a PluginLoadError. */
export async function loadConfiguredPlugins(plugins: PluginOptions): Promise<LoadedContribution[]> {
  if (plugins.packages.length === 0) return [];
  const [{ loadPlugins }, { serveSdk }] = await Promise.all([
    import('#apiserver/plugins/load-plugins'),
    import('#apiserver/plugins/serve-sdk'),
  ]);
  serveSdk();
  return loadPlugins(plugins.requests(), plugins.folder);
}
