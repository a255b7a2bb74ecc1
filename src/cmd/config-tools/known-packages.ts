import { errorMessage } from '#apiserver/base/system-error';
import { readPluginOptions } from '#cmd/options/configured-plugins';
import { OptionsError } from '#cmd/options/options-error';
import type { KnownPackage } from './configuration-schema.ts';

/**
 * Imports packages by name or folder, and those of a configuration file. Their configurations are not read. Rejects with an OptionsError.
 */
export async function knownPackages(names: readonly string[], file: string | undefined): Promise<KnownPackage[]> {
  const ofFile = file === undefined ? undefined : await readPluginOptions(file);
  const places = [
    ...names.map((name) => ({ name, folder: process.cwd() })),
    ...(ofFile?.packages.map((one) => ({ name: one.package, folder: ofFile.folder })) ?? []),
  ];
  if (places.length === 0) return [];
  const [{ describePackage }, { serveSdk }] = await Promise.all([
    import('#apiserver/plugins/load-plugins'),
    import('#apiserver/plugins/serve-sdk'),
  ]);
  serveSdk();
  return Promise.all(
    places.map(async ({ name, folder }) => {
      try {
        return { package: name, contributions: await describePackage(name, folder) };
      } catch (cause) {
        throw new OptionsError([`plugin package ${name}: ${errorMessage(cause)}`]);
      }
    }),
  );
}
