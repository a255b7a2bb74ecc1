import { resolve } from 'node:path';
import type { Command } from 'commander';
import { errorMessage } from '#apiserver/base/system-error';
import { newPluginPackage } from './new-plugin-package.ts';
import { writeMissingTypes } from './write-missing-types.ts';
import { archiveIntegrity, isArchive } from '#apiserver/plugins/package-archive';
import { integrityOf } from '#apiserver/plugins/package-integrity';

/** Adds `kubenest plugin …`, the tools for authors of plugin packages. */
export function addPluginCommands(program: Command): void {
  const plugin = program.command('plugin').description('create and verify packages of plugins');
  const exitOnError = async (work: () => void | Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      plugin.error(`kubenest plugin: ${errorMessage(error)}`);
    }
  };
  plugin
    .command('new')
    .description('write a package with one admission plugin or controller, its test and a configuration that loads it')
    .option('--controller', 'a controller instead of an admission plugin')
    .argument('<name>', 'name of the package: lower-case letters, digits, dashes; @scope/name')
    .argument('[folder]', 'folder of the package (default: the name without its scope)')
    .action((name: string, given: string | undefined, { controller = false }: { readonly controller?: boolean }) =>
      exitOnError(async () => {
        await writeMissingTypes();
        const folder = given ?? name.replace(/^@.*\//, '');
        const files = await newPluginPackage(name, folder, controller ? 'controller' : 'admission plugin');
        console.log(files.map((file) => `${folder}/${file}`).join('\n'));
        console.log(`\ncd ${folder}\nnpm install && npm test\nnpx kubenest dev`);
      }),
    );
  plugin
    .command('list')
    .description('load the packages of a configuration file and list their contributions')
    .requiredOption('--config <file>', 'file of kind ServerConfiguration')
    .action(({ config }: { readonly config: string }) =>
      exitOnError(async () => {
        const { listPlugins } = await import('./list-plugins.ts');
        console.log(await listPlugins(config));
      }),
    );
  plugin
    .command('integrity')
    .description('print the `integrity` of a plugin package, with its dependencies, for a configuration file')
    .argument('<package>', 'folder of the installed package, or an archive (.tgz)')
    .action((given: string) => exitOnError(() => console.log(isArchive(given) ? archiveIntegrity(given) : integrityOf(resolve(given)))));
}
