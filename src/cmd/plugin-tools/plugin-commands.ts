import { resolve } from 'node:path';
import type { Command } from 'commander';
import { newPluginPackage } from './new-plugin-package.ts';
import { integrityOf } from '#apiserver/plugins/plugin-package';

/** `kubenest plugin …`: what authors of plugin packages need. */
export function addPluginCommands(program: Command): void {
  const plugin = program.command('plugin').description('make and check packages of plugins');
  const orTell = async (work: () => void | Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      plugin.error(`kubenest plugin: ${(error as Error).message}`);
    }
  };
  plugin
    .command('new')
    .description('write a package with one admission plugin, its test and a configuration that loads it')
    .argument('<name>', 'of the package: small letters, digits, dashes; @scope/name')
    .argument('[folder]', 'where to write it (default: the name without its scope)')
    .action((name: string, folder = name.replace(/^@.*\//, '')) =>
      orTell(async () => {
        const files = await newPluginPackage(name, folder);
        console.log(files.map((file) => `${folder}/${file}`).join('\n'));
        console.log(`\ncd ${folder} && npm install && npm test\nkubenest serve --config=${folder}/kubenest.yaml`);
      }),
    );
  plugin
    .command('integrity')
    .description('print what `integrity` of a plugin package in a configuration file must be')
    .argument('<folder>', 'of the installed package')
    .action((folder: string) => orTell(() => console.log(integrityOf(resolve(folder)))));
}
