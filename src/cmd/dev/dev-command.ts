import type { Command } from 'commander';
import { errorMessage } from '#apiserver/base/system-error';

interface Flags {
  readonly plugin: readonly string[];
  readonly config?: string;
  readonly inspect?: string | true;
  readonly allTraces: boolean;
}

/** Throws an Error if the text is not a port. */
function portOf(text: string | true): number {
  const port = text === true ? 9_229 : Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error(`--inspect: ${JSON.stringify(text)} is not a port`);
  return port;
}

/** Adds `kubenest dev`, which runs a server that follows changes of plugin sources. */
export function addDevCommands(program: Command): void {
  const command = program
    .command('dev')
    .description(
      'serve with plugin packages under development: rebuild and reload them on each change, and print the traces of the writes that their plugins handled',
    )
    .option(
      '--plugin <folder>',
      'folder of a package; may be repeated (default: this folder)',
      (value, before: string[]) => [...before, value],
      [],
    )
    .option('--config <file>', 'file of kind ServerConfiguration (default: kubenest.yaml of the first package)')
    .option('--inspect [port]', 'port of 127.0.0.1 to which debuggers attach (default: 9229)')
    .option('--all-traces', 'print the traces of all writes, also those of controllers', false)
    .argument('[flags...]', 'flags of the server, after --')
    .action(async (flags: readonly string[]) => {
      const { plugin, config, inspect, allTraces } = command.opts<Flags>();
      const end = new AbortController();
      process.once('SIGINT', () => end.abort()).once('SIGTERM', () => end.abort());
      const { dev } = await import('./dev.ts');
      try {
        await dev({
          plugins: plugin.length > 0 ? plugin : ['.'],
          config,
          flags,
          inspect: inspect === undefined ? undefined : portOf(inspect),
          allTraces,
          signal: end.signal,
          log: (text) => console.log(text),
        });
      } catch (error) {
        command.error(`kubenest dev: ${errorMessage(error)}`);
      }
    });
  program
    .command('dev-server', { hidden: true })
    .argument('[flags...]')
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (flags: readonly string[]) => {
      const [{ runDevServer }, { problemsOf }] = await Promise.all([import('./dev-server.ts'), import('#cmd/commands/problems')]);
      try {
        await runDevServer(flags);
      } catch (error) {
        for (const problem of problemsOf(error)) console.error(problem);
        process.exit(1);
      }
    });
}
