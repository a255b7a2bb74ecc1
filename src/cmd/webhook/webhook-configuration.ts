import { readText } from '#apiserver/base/system-error';
import type { LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import { parseTracingConfiguration } from '#cmd/config/tracing-configuration';
import { loadConfiguredPlugins, readPluginOptions } from '#cmd/options/configured-plugins';
import { flagProperties } from '#cmd/options/flag';
import { PluginReload, type PluginUpdate } from '#cmd/options/plugin-reload';
import type { PluginOptions } from '#cmd/options/plugin-options';
import { readServerOptions } from '#cmd/options/read-server-options';
import type { ServerOptions } from '#cmd/options/server-options';
import type { TracingConfig } from '#cmd/server-config';

/** Flags of a ServerConfiguration that the webhook server uses, besides the packages. */
const usedFlags = new Set(['v', 'log-flush-frequency', 'tracing-config-file']);

/** The parts of a ServerConfiguration that a webhook server uses. */
export interface WebhookFile {
  readonly file: string;
  readonly plugins: PluginOptions;
  readonly contributions: readonly LoadedContribution[];
  readonly verbosity: number;
  readonly tracing: TracingConfig | undefined;
  /** Settings of the file and contributions of packages that have no effect. */
  readonly warnings: readonly string[];
  /** Reads changes of the packages' policies and configurations. */
  readPlugins(): Promise<PluginUpdate>;
}

/** Reads a file of kind ServerConfiguration and loads its packages. Rejects with all problems of the file or of the packages. */
export async function readWebhookFile(file: string): Promise<WebhookFile> {
  const command = await readServerOptions([`--config=${file}`]);
  if (!('options' in command)) throw new Error(`${file} does not configure a server`);
  const { options } = command;
  const { plugins, logging, tracing } = options;
  if (plugins.packages.length === 0) throw new Error(`${file} names no packages in \`plugins\``);
  const contributions = await loadConfiguredPlugins(plugins);
  const reload = new PluginReload(plugins, contributions, () => readPluginOptions(plugins.file));
  return {
    file: plugins.file,
    plugins,
    contributions,
    verbosity: logging.v,
    tracing: tracing.tracingConfigFile === '' ? undefined : parseTracingConfiguration(await readText(tracing.tracingConfigFile)),
    warnings: [...unusedSettings(options), ...unusedContributions(contributions)],
    readPlugins: () => reload.read(),
  };
}

function unusedSettings(options: ServerOptions): string[] {
  return options
    .concerns()
    .flatMap(([name, concern]) =>
      [...flagProperties(concern)]
        .filter(([flag]) => options.isGiven(flag) && !usedFlags.has(flag))
        .map(([, property]) => `${name}.${property} of the configuration file has no effect on the webhook server`),
    );
}

function unusedContributions(contributions: readonly LoadedContribution[]): string[] {
  return contributions
    .filter(({ described }) => described.kind !== 'AdmissionPlugin')
    .map(
      ({ described, origin }) =>
        `${described.kind} ${described.options.name} of package ${origin?.package ?? ''} is not served: webhooks have only admission plugins`,
    );
}
