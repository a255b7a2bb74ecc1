import { textTable } from '#cmd/commands/text-table';
import { statusOf } from '#apiserver/plugins/plugin-reports';
import { loadConfiguredPlugins, readPluginOptions } from '#cmd/options/configured-plugins';

const columns = ['PACKAGE', 'VERSION', 'KIND', 'NAME', 'MODE', 'INTEGRITY'];

/**
 * Loads the packages of a configuration file and returns a table of their contributions. Rejects with an error that has all problems
 * which would prevent the start of a server.
 */
export async function listPlugins(file: string): Promise<string> {
  const rows = (await loadConfiguredPlugins(await readPluginOptions(file)))
    .map(statusOf)
    .map(({ package: from, version, kind, name, mode, integrity }) => [from, version, kind, name, mode ?? '', integrity]);
  return textTable(columns, rows);
}
