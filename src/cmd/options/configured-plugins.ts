import type { LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import type { PluginOptions } from './plugin-options.ts';

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
