import { once } from 'node:events';
import { traceText } from '#apiserver/tracing/trace-text';
import { readServerOptions } from '#cmd/options/read-server-options';

/** Message from a server under development to its parent process. */
export interface DevMessage {
  readonly started: string;
}

/**
 * Runs the server under development in its own process. It loads the modules, waits for the start message, and prints the trace of each
 * write request. It ends with its parent process.
 */
export async function runDevServer(args: readonly string[]): Promise<void> {
  process.on('disconnect', () => process.exit());
  const [{ runServer }] = await Promise.all([import('#cmd/commands/run'), import('#cmd/app')]);
  await once(process, 'message');
  const command = await readServerOptions(args);
  if (!('options' in command)) throw new Error('the flags do not start a server');
  await runServer(command.options, {
    onTrace: (trace) => console.log(`\n${traceText(trace)}`),
    onStarted: (started) => process.send?.({ started } satisfies DevMessage),
  });
  process.disconnect();
}
