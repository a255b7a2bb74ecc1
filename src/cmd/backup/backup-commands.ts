import { resolve } from 'node:path';
import type { Command } from 'commander';
import { errorMessage } from '#apiserver/base/system-error';
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
    description: 'write all objects of a store to a file, even while servers use it',
    usage: '<file> [flags of the store, as for serve]',
    async run([file, ...flags]) {
      const { backUp } = await import('./backup.ts');
      const { revision, records } = await backUp(fileOf(file), flags);
      return `wrote ${records} records of revision ${revision} to ${file}`;
    },
  },
  {
    name: 'restore',
    description: 'write the objects of a backup to an empty store, under higher revisions',
    usage: '<file> [--bump-revision=N | --revisions=restart] [flags of the store, as for serve]',
    async run([file, ...args]) {
      const { restore } = await import('./backup.ts');
      const { rule, flags } = takeRevisions(args);
      const { objects, revision } = await restore(fileOf(file), flags, rule);
      return `restored ${objects} objects of ${file}; the store is at revision ${revision}`;
    },
  },
  {
    name: 'migrate',
    description: 'copy all objects of a store to an empty store, under higher revisions, while no server uses them',
    usage: '[--bump-revision=N | --revisions=restart] [flags of the source] -- [flags of the destination]',
    async run(args) {
      const { migrate } = await import('./backup.ts');
      const { rule, flags } = takeRevisions(args);
      const at = flags.indexOf('--');
      if (at < 0) throw new OptionsError(['separate the flags of the source and of the destination by --']);
      const { objects, revision } = await migrate(flags.slice(0, at), flags.slice(at + 1), rule);
      return `copied ${objects} objects; the destination is at revision ${revision}`;
    },
  },
];

/**
 * Adds `kubenest backup`, `restore` and `migrate`. `args`: the whole command line, of which commander parses only the verb; the flags of
 * stores are those of `serve`, in pflag's syntax.
 */
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
        const problems = error instanceof OptionsError ? error.problems : [errorMessage(error)];
        command.error(problems.map((problem) => `kubenest ${name}: ${problem}`).join('\n'));
      }
    });
  }
}

function fileOf(file: string | undefined): string {
  if (file === undefined || file.startsWith('-')) throw new OptionsError(['the file must be the first argument']);
  return resolve(file);
}

/** Splits the arguments into the revision rule and the other flags. */
function takeRevisions(args: readonly string[]): { rule: RevisionRule; flags: string[] } {
  const [bumpName, restart] = ['--bump-revision=', '--revisions=restart'];
  const given = args.findLast((arg) => arg.startsWith(bumpName));
  const flags = args.filter((arg) => !arg.startsWith(bumpName) && arg !== restart);
  const report = (progress: string): void => console.error(progress);
  if (args.includes(restart)) {
    if (given !== undefined) throw new OptionsError([`${given} and ${restart} are mutually exclusive`]);
    return { rule: { bump: 'restart', report }, flags };
  }
  if (given === undefined) return { rule: { report }, flags };
  const text = given.slice(bumpName.length);
  if (!/^[0-9]{1,15}$/.test(text)) throw new OptionsError([`--bump-revision=${text} must be a whole number`]);
  return { rule: { bump: Number(text), report }, flags };
}
