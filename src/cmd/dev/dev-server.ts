import { EventEmitter, once } from 'node:events';
import inspector from 'node:inspector';
import type { Socket } from 'node:net';
import { resolve } from 'node:path';
import { traceText } from '#apiserver/tracing/trace-text';
import type { ContributionKind } from '#apiserver/base/contribution';
import type { TraceDocument } from '#apiserver/request/request-trace';
import { loadConfiguredPlugins } from '#cmd/options/configured-plugins';
import { completeOptions } from '#cmd/options/complete';
import { readServerOptions } from '#cmd/options/read-server-options';
import type { ServerOptions } from '#cmd/options/server-options';
import { PassedConnections } from './held-port.ts';
import type { DevCommand, DevMessage } from './messages.ts';

/**
 * Runs the server under development in its own process. It loads the modules and waits. On `try` it creates a server with an empty store
 * and no port, so that a wrong configuration or a constructor that throws is known while the previous server still serves. On `begin` it
 * starts, and prints the traces of the writes that the plugins under development handled, and of the reconciles of their controllers. It
 * ends with its parent process.
 */
export async function runDevServer(args: readonly string[]): Promise<void> {
  process.on('disconnect', () => process.exit());
  process.setSourceMapsEnabled(true);
  const [{ runServer }] = await Promise.all([import('#cmd/commands/run'), import('#cmd/app')]);
  const commands = new Commands();
  await commands.next('try');
  const tried = await optionsOf(args);
  await tryOptions(tried);
  send({ tried: { host: tried.serving.bindAddress, port: tried.serving.securePort } });
  const { inspect, traced, address } = await commands.next('begin');
  if (inspect !== undefined) inspector.open(inspect, '127.0.0.1');
  const options = await optionsOf(args);
  const source = new PassedConnections(address, () => send({ accepts: true }));
  commands.onConnection = (socket) => source.pass(socket);
  const isTraced = traced === 'all' ? () => true : await handledBy(traced, options);
  await runServer(options, {
    restartFile: resolve(options.plugins.file),
    onTrace: (trace) => {
      if (isTraced(trace)) console.log(`\n${traceText(trace)}`);
    },
    onStarted: (started) => send({ started }),
    source,
  });
  inspector.close();
  process.disconnect();
}

/** Returns a test of traces: true if an admission plugin of one of the packages was called, or a controller of them reconciled. */
async function handledBy(packages: readonly string[], { plugins }: ServerOptions): Promise<(trace: TraceDocument) => boolean> {
  const loaded = await loadConfiguredPlugins(plugins);
  const own = loaded.filter(({ origin }) => packages.includes(origin?.package ?? ''));
  const namesOf = (kind: ContributionKind): ReadonlySet<string> =>
    new Set(own.filter(({ described }) => described.kind === kind).map(({ described }) => described.options.name));
  const admissionPlugins = namesOf('AdmissionPlugin');
  const controllers = namesOf('Controller');
  return ({ method, url, steps }) =>
    method === 'RECONCILE'
      ? controllers.has(url.slice(0, url.indexOf(' ')))
      : steps.some(({ stage, name }) => (stage === 'admit' || stage === 'validate') && admissionPlugins.has(name));
}

function send(message: DevMessage): void {
  process.send?.(message);
}

/** The commands of the parent process. */
class Commands {
  onConnection: ((socket: Socket) => void) | undefined;
  readonly #expected = new EventEmitter();
  #isEnding = false;

  constructor() {
    // A terminal sends its signal to this process, too; a second one would end it at once.
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.once(signal, () => {
        this.#isEnding = true;
      });
    process.on('message', (message: DevCommand, socket: Socket | undefined) => {
      if (message.command === 'serve') {
        if (socket) this.onConnection?.(socket);
      } else if (message.command === 'end') this.#end();
      else this.#expected.emit(message.command, message);
    });
  }

  async next<C extends 'try' | 'begin'>(command: C): Promise<Extract<DevCommand, { readonly command: C }>> {
    const [message] = (await once(this.#expected, command)) as [Extract<DevCommand, { readonly command: C }>];
    return message;
  }

  #end(): void {
    send({ ending: true });
    // Before the server has begun, only this class listens.
    if (!this.onConnection) process.exit();
    if (!this.#isEnding) process.emit('SIGTERM', 'SIGTERM');
  }
}

async function optionsOf(args: readonly string[]): Promise<ServerOptions> {
  const command = await readServerOptions(args);
  if (!('options' in command)) throw new Error('the flags do not start a server');
  // The parent process can pass connections only to this thread.
  command.options.serving.servingWorkers = 0;
  return command.options;
}

/** Creates a server and ends it again. Rejects if it cannot be created. */
async function tryOptions(options: ServerOptions): Promise<void> {
  const { config, dispose } = await completeOptions(options);
  const { createApp } = await import('#cmd/app');
  try {
    const app = await createApp({
      ...config,
      storage: { backend: 'embedded', file: undefined },
      serving: undefined,
      audit: undefined,
      verbosity: -1,
    });
    await app.stop();
  } finally {
    await dispose();
  }
}
