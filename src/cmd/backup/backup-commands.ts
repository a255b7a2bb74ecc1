import { resolve } from 'node:path';
import type { Command } from 'commander';
import { OptionsError } from '#cmd/options/options-error';
import type { RevisionRule } from './backup.ts';

interface Verb {
  readonly name: string;
  readonly description: string;
  readonly usage: string;
  run(args: readonly string[]): Promise<string>;
}

const verbs: readonly Verb[] = [
  {
    name: 'backup',
    description: 'write all objects of a store to a file, also while servers use it',
    usage: '<file> [flags of the store, as of serve]',
    async run([file, ...flags]) {
      const { backUp } = await import('./backup.ts');
      const { revision, records } = await backUp(fileOf(file), flags);
      return `${records} records of revision ${revision} are in ${file}`;
    },
  },
  {
    name: 'restore',
    description: 'write what is in a backup to an empty store, under higher revisions',
    usage: '<file> [--bump-revision=N | --revisions=restart] [flags of the store, as of serve]',
    async run([file, ...args]) {
      const { restore } = await import('./backup.ts');
      const { rule, flags } = takeRevisions(args);
      const { objects, revision } = await restore(fileOf(file), flags, rule);
      return `${objects} objects of ${file} are in the store, which is at revision ${revision}`;
    },
  },
  {
    name: 'migrate',
    description: 'copy all objects from one store to another that is empty, under higher revisions; no server may use them',
    usage: '[--bump-revision=N | --revisions=restart] [flags of the source] -- [flags of the destination]',
    async run(args) {
      const { migrate } = await import('./backup.ts');
      const { rule, flags } = takeRevisions(args);
      const at = flags.indexOf('--');
      if (at < 0) throw new OptionsError(['the flags of the source and of the destination must be parted by --']);
      const { objects, revision } = await migrate(flags.slice(0, at), flags.slice(at + 1), rule);
      return `${objects} objects are in the destination, which is at revision ${revision}`;
    },
  },
];

/** `kubenest backup`, `restore` and `migrate`. `args`: the whole command line, of which commander takes the verb alone; the flags of stores are those of `serve`, in pflag's syntax. */
export function addBackupCommands(program: Command, args: readonly string[]): void {
  for (const { name, description, usage, run } of verbs) {
    const command = program
      .command(name)
      .description(description)
      .usage(usage)
      .argument('[arguments...]')
      .allowUnknownOption()
      .passThroughOptions();
    command.action(async () => {
      try {
        console.log(await run(args.slice(1)));
      } catch (error) {
        const problems = error instanceof OptionsError ? error.problems : [(error as Error).message];
        command.error(problems.map((problem) => `kubenest ${name}: ${problem}`).join('\n'));
      }
    });
  }
}

function fileOf(file: string | undefined): string {
  if (file === undefined || file.startsWith('-')) throw new OptionsError(['the file comes first']);
  return resolve(file);
}

/** What becomes of revisions, and the other flags. */
function takeRevisions(args: readonly string[]): { rule: RevisionRule; flags: string[] } {
  const [bumpName, restart] = ['--bump-revision=', '--revisions=restart'];
  const given = args.findLast((arg) => arg.startsWith(bumpName));
  const flags = args.filter((arg) => !arg.startsWith(bumpName) && arg !== restart);
  const report = (progress: string): void => console.error(progress);
  if (args.includes(restart)) {
    if (given !== undefined) throw new OptionsError([`${given} and ${restart} exclude each other`]);
    return { rule: { bump: 'restart', report }, flags };
  }
  if (given === undefined) return { rule: { report }, flags };
  const text = given.slice(bumpName.length);
  if (!/^[0-9]{1,15}$/.test(text)) throw new OptionsError([`--bump-revision=${text} must be a whole number`]);
  return { rule: { bump: Number(text), report }, flags };
}
