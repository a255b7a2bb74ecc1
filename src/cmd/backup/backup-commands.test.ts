import { Command } from 'commander';
import { expect, it } from 'vitest';
import { addBackupCommands } from './backup-commands.ts';

it.each([
  [['restore', 'file', '--bump-revision=x'], '--bump-revision=x must be a whole number'],
  [
    ['migrate', '--bump-revision=1', '--revisions=restart', '--', '--data-dir=/x'],
    '--bump-revision=1 and --revisions=restart are mutually exclusive',
  ],
  [['migrate', '--revisions=restart', '--data-dir=/x'], 'separate the flags of the source and of the destination by --'],
  [['restore', '--revisions=restart'], 'the file must be the first argument'],
  [['restore', '/nowhere/file', '--revisions=restart', '--data-dir=/x'], 'cannot open /nowhere/file: there is no such file or folder'],
])('%j fails with the reason', async (args, reason) => {
  let errors = '';
  const program = new Command().name('kubenest').exitOverride().enablePositionalOptions();
  program.configureOutput({ writeErr: (text) => void (errors += text) });
  addBackupCommands(program, args);
  for (const command of program.commands) command.exitOverride().configureOutput({ writeErr: (text) => void (errors += text) });
  await expect(program.parseAsync(args, { from: 'user' })).rejects.toThrow();
  expect(errors).toContain(`kubenest ${args[0]}: ${reason}`);
});
