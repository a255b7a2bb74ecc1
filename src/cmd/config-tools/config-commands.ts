import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { problemsOf } from '#cmd/commands/problems';

/** Adds `kubenest config …`, the tools for configuration files. `exitWith` sets the exit code. */
export function addConfigCommands(program: Command, exitWith: (code: number) => void): void {
  const config = program.command('config').description('create and check configuration files');
  const reporting = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      for (const problem of problemsOf(error)) console.error(`kubenest config: ${problem}`);
      exitWith(1);
    }
  };
  config
    .command('schema')
    .description('print the JSON Schema of ServerConfiguration, with the configurations of packages')
    .option('--config <file>', 'configuration file whose packages are included')
    .argument('[packages...]', 'further packages: names, or folders that start with ./ or /')
    .action((packages: readonly string[], { config: file }: { readonly config?: string }) =>
      reporting(async () => {
        const [{ configurationSchema }, { knownPackages }] = await Promise.all([
          import('./configuration-schema.ts'),
          import('./known-packages.ts'),
        ]);
        console.log(JSON.stringify(await configurationSchema(await knownPackages(packages, file)), undefined, 2));
      }),
    );
  config
    .command('validate')
    .description('report all errors of a configuration file, its packages and the files that it names')
    .argument('<file>', 'file of kind ServerConfiguration')
    .action((file: string) =>
      reporting(async () => {
        const { configurationProblems } = await import('./validate-configuration.ts');
        const problems = await configurationProblems(file);
        for (const problem of problems) console.error(problem);
        if (problems.length > 0) exitWith(1);
        else console.log(`${file} is valid`);
      }),
    );
  config
    .command('init')
    .description('write a configuration file that has every option as a comment with its default')
    .argument('[file]', 'file to create', 'kubenest.yaml')
    .action((file: string) =>
      reporting(async () => {
        const { initialConfiguration } = await import('./initial-configuration.ts');
        await writeFile(file, initialConfiguration(), { flag: 'wx' });
        console.log(file);
      }),
    );
}
