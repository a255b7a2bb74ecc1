import { once } from 'node:events';
import { traceText } from '#apiserver/tracing/trace-text';
import { readServerOptions } from '#cmd/options/read-server-options';

/** What a server under development tells the process that began it. */
export interface DevMessage {
  readonly started: string;
}

/**
 * The server under development, in a process of its own: it loads what there is to load, waits until it is told to begin, and
 * prints the trace of each request that writes. It ends with whoever began it.
 */
export async function runDevServer(args: readonly string[]): Promise<void> {
  process.on('disconnect', () => process.exit());
  const [{ runServer }] = await Promise.all([import('#cmd/commands/run'), import('#cmd/app')]);
  await once(process, 'message');
  const command = await readServerOptions(args);
  if (!('options' in command)) throw new Error('the flags ask for no server');
  await runServer(command.options, {
    onTrace: (trace) => console.log(`\n${traceText(trace)}`),
    onStarted: (started) => process.send?.({ started } satisfies DevMessage),
  });
  process.disconnect();
}
