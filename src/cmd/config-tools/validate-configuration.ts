import { contributionsOf, type LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import { errorMessage } from '#apiserver/base/system-error';
import { completeOptions } from '#cmd/options/complete';
import { loadConfiguredPlugins } from '#cmd/options/configured-plugins';
import { OptionsError } from '#cmd/options/options-error';
import { readConfigFile } from '#cmd/options/config-file';
import { flagTable } from '#cmd/options/flag-table';
import { defaultOptions, readOptions } from '#cmd/options/read-server-options';
import type { ServerOptions } from '#cmd/options/server-options';

/**
 * Returns all problems that a configuration file would cause at the start of a server: its members, the files that it names, and its
 * packages with their configurations. It leaves no files behind and connects to no store.
 */
export async function configurationProblems(file: string): Promise<readonly string[]> {
  const read = await readOptions([`--config=${file}`]);
  if (!('options' in read)) return [];
  const { options, unread, invalid } = read;
  const found = invalid.length === 0 ? await completionProblems(options) : invalid;
  const problems = [...unread, ...found];
  const hasPackages = found !== invalid || problems.some((problem) => problem.includes('plugin package '));
  return [...new Set([...problems, ...(hasPackages ? [] : await packageProblems(file))])];
}

/** Returns the problems of the files that options name, and of their packages. */
async function completionProblems(options: ServerOptions): Promise<readonly string[]> {
  try {
    // The certificates that a start would create go to a temporary folder.
    options.data.ephemeral = true;
    options.serving.certDir = '';
    const { config, dispose } = await completeOptions(options);
    await dispose();
    return await placementProblems(config.plugins ?? [], config.disabledPlugins);
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    return error.problems;
  }
}

/** Returns the problems of the packages of a file whose other members are wrong. */
async function packageProblems(file: string): Promise<readonly string[]> {
  const options = defaultOptions('kubenest serve');
  await readConfigFile(file, options, flagTable());
  try {
    return await placementProblems(await loadConfiguredPlugins(options.plugins));
  } catch (error) {
    return errorMessage(error)
      .split('\n')
      .map((problem) => `--config: ${problem}`);
  }
}

/** Returns the problems of admission plugins that never match a request, or whose order contradicts itself: a start finds them last. */
async function placementProblems(loaded: readonly LoadedContribution[], disabled: readonly string[] = []): Promise<readonly string[]> {
  const plugins = contributionsOf(loaded, 'AdmissionPlugin');
  if (plugins.length === 0) return [];
  const [{ refuseUseless }, { knownScheme }, { orderPlugins }, { admissionPlugins }] = await Promise.all([
    import('#cmd/apis/useless-plugins'),
    import('#cmd/apis/known-scheme'),
    import('#apiserver/plugins/order-plugins'),
    import('#cmd/builtin-plugins'),
  ]);
  const checks = [
    () => refuseUseless(loaded, knownScheme()),
    () =>
      orderPlugins(
        [],
        plugins.map(({ described }) => described.options),
        undefined,
        new Set([...admissionPlugins.keys(), ...disabled]),
      ),
  ];
  return checks.flatMap((check) => {
    try {
      check();
      return [];
    } catch (error) {
      return errorMessage(error).split('\n');
    }
  });
}
