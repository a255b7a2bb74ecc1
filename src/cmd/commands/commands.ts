import { Command } from 'commander';
import { addBackupCommands } from '#cmd/backup/backup-commands';
import { addConfigCommands } from '#cmd/config-tools/config-commands';
import { addDevCommands } from '#cmd/dev/dev-command';
import { addEncryptionCommands } from './encryption-commands.ts';
import { addExplainCommand } from '#cmd/explain/explain-command';
import { addEnvtestCommands } from '#cmd/envtest/envtest-commands';
import { ignoreStreamErrors } from '#cmd/logging/log-output';
import { readServerOptions } from '#cmd/options/read-server-options';
import type { ServerName } from '#cmd/options/server-name';
import { addTestCommand } from '#cmd/policy-tests/test-command';
import { addPluginCommands } from '#cmd/plugin-tools/plugin-commands';
import { addAuditCommand } from '#cmd/policy-audit/audit-command';
import { addWebhookCommand } from '#cmd/webhook/webhook-command';
import { problemsOf } from './problems.ts';
import { gitVersion } from '#cmd/version';

/** Runs a command line, given without the names of Node and the script, and returns the exit code. */
export async function runCommand(args: readonly string[]): Promise<number> {
  let code = 0;
  const exitWith = (result: number): void => {
    code = result;
  };
  const program = new Command('kubenest')
    .description('A Kubernetes API server.')
    .exitOverride()
    .version(gitVersion, '--version', 'print the version')
    .enablePositionalOptions();
  program.helpCommand('help [command]', 'describe a command');
  program
    .command('version')
    .description('print the version')
    .action(() => console.log(gitVersion));
  addPluginCommands(program);
  addConfigCommands(program, exitWith);
  addExplainCommand(program, exitWith);
  addTestCommand(program, exitWith);
  addAuditCommand(program, exitWith);
  addBackupCommands(program, args);
  addEncryptionCommands(program);
  addWebhookCommand(program, exitWith);
  addDevCommands(program);
  addEnvtestCommands(program, args, async (flags) => {
    code = await serve('kube-apiserver', flags);
  });
  // The flags have pflag's syntax, not commander's: the options parse the arguments after the verb.
  for (const [verb, name] of [
    ['serve', 'kubenest serve'],
    ['kube-apiserver', 'kube-apiserver'],
  ] as const) {
    program
      .command(verb, { hidden: verb !== 'serve' })
      .description('serve the API (--help lists the flags)')
      .argument('[flags...]')
      .helpOption(false)
      .allowUnknownOption()
      .passThroughOptions()
      .action(async () => {
        code = await serve(name, args.slice(1));
      });
  }
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    const { exitCode, code: reason } = error as { exitCode?: number; code?: string };
    if (typeof reason !== 'string' || !reason.startsWith('commander.')) throw error;
    return exitCode ?? 1;
  }
  return code;
}

async function serve(name: ServerName, args: readonly string[]): Promise<number> {
  ignoreStreamErrors();
  try {
    const command = await readServerOptions(args, name);
    if ('help' in command) {
      const { serverHelp } = await import('#cmd/options/help');
      process.stdout.write(serverHelp(name));
    } else if ('version' in command) {
      console.log(`Kubernetes ${gitVersion}`);
    } else {
      const { runServer } = await import('./run.ts');
      await runServer(command.options);
    }
    return 0;
  } catch (error) {
    for (const problem of problemsOf(error)) console.error(`${name}: ${problem}`);
    return 1;
  }
}
