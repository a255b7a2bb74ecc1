import { statusOf } from '#apiserver/plugins/plugin-reports';
import { readConfigFile } from '#cmd/options/config-file';
import { loadConfiguredPlugins } from '#cmd/options/configured-plugins';
import { flagTable } from '#cmd/options/flag-table';
import { OptionsError } from '#cmd/options/options-error';
import { defaultOptions } from '#cmd/options/read-server-options';

const columns = ['PACKAGE', 'VERSION', 'KIND', 'NAME', 'MODE', 'INTEGRITY'];

/**
 * Loads the packages of a configuration file and returns a table of their contributions. Rejects with an error that has all problems
 * which would prevent the start of a server.
 */
export async function listPlugins(file: string): Promise<string> {
  const options = defaultOptions('kubenest serve');
  const problems = await readConfigFile(file, options, flagTable());
  if (problems.length > 0) throw new OptionsError(problems);
  const rows = (await loadConfiguredPlugins(options.plugins))
    .map(statusOf)
    .map(({ package: from, version, kind, name, mode, integrity }) => [from, version, kind, name, mode ?? '', integrity]);
  const table = [columns, ...rows];
  const widths = columns.map((_, i) => Math.max(...table.map((row) => (row[i] as string).length)));
  return table
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] as number))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
