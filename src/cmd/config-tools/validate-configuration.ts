import { completeOptions } from '#cmd/options/complete';
import { loadConfiguredPlugins } from '#cmd/options/configured-plugins';
import { OptionsError } from '#cmd/options/options-error';
import { readConfigFile } from '#cmd/options/config-file';
import { flagTable } from '#cmd/options/flag-table';
import { defaultOptions, readServerOptions } from '#cmd/options/read-server-options';

/**
 * Returns all problems that a configuration file would cause at the start of a server: its members, the files that it names, and its
 * packages with their configurations. It leaves no files behind and connects to no store.
 */
export async function configurationProblems(file: string): Promise<readonly string[]> {
  try {
    const command = await readServerOptions([`--config=${file}`]);
    if (!('options' in command)) return [];
    const { options } = command;
    // The certificates that a start would create go to a temporary folder.
    options.data.ephemeral = true;
    options.serving.certDir = '';
    const { dispose } = await completeOptions(options);
    await dispose();
    return [];
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    const ofPackages = error.problems.some((problem) => problem.includes('plugin package ')) ? [] : await packageProblems(file);
    return [...error.problems, ...ofPackages];
  }
}

/** Returns the problems of the packages of a file whose other members are wrong. */
async function packageProblems(file: string): Promise<readonly string[]> {
  const options = defaultOptions('kubenest serve');
  await readConfigFile(file, options, flagTable());
  try {
    await loadConfiguredPlugins(options.plugins);
    return [];
  } catch (error) {
    return (error as Error).message.split('\n').map((problem) => `--config: ${problem}`);
  }
}
