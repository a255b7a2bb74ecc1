import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { errorMessage } from '#apiserver/base/system-error';
import { HeldPort } from './held-port.ts';
import type { DevCommand, DevMessage, ServedAddress } from './messages.ts';

/** Time in which a process must answer the command to end; a process that does not answer has a plugin that blocks its event loop. */
const answerMs = 5_000;

/** The serving process, and a loaded process that waits to replace it. */
export class Servers {
  #serving: ChildProcess | undefined;
  #spare: ChildProcess | undefined;
  #port: HeldPort | undefined;

  constructor(
    readonly args: readonly string[],
    readonly begin: Omit<Extract<DevCommand, { readonly command: 'begin' }>, 'command' | 'address'>,
    readonly log: (text: string) => void,
  ) {}

  /**
   * Replaces the serving process by the next one, if that can create a server. Resolves with the startup message of the new process, with
   * 'kept' if the previous one continues, or with undefined if none is left.
   */
  async replace(): Promise<string | undefined> {
    const next = this.#spare ?? this.#load();
    this.#spare = undefined;
    const answer = await ask(next, 'tried', { command: 'try' });
    const port = answer && (await this.#portOf(answer.tried));
    if (!port) {
      if (answer) await this.#end(next);
      this.#spare = this.#load();
      return this.#serving ? 'kept' : undefined;
    }
    port.passTo(undefined);
    if (this.#port !== port) this.#port?.close();
    this.#port = port;
    await this.#end(this.#serving);
    this.#serving = next;
    next.on('message', (message: DevMessage) => {
      if ('accepts' in message) port.passTo(next);
    });
    const message = await ask(next, 'started', { command: 'begin', address: port.address, ...this.begin });
    this.#spare = this.#load();
    if (message) return message.started;
    port.close();
    this.#port = undefined;
    this.#serving = undefined;
    return undefined;
  }

  async stop(): Promise<void> {
    this.#port?.close();
    await Promise.all([this.#end(this.#serving), this.#end(this.#spare)]);
  }

  /** Returns the open port of an address; undefined, after a message, if it cannot be opened. */
  async #portOf(served: ServedAddress): Promise<HeldPort | undefined> {
    const open = this.#port?.served;
    if (open?.host === served.host && open.port === served.port) return this.#port;
    try {
      return await HeldPort.open(served);
    } catch (error) {
      this.log(`cannot listen on ${served.host}:${served.port}: ${errorMessage(error)}`);
      return undefined;
    }
  }

  #load(): ChildProcess {
    const main = process.argv[1] as string;
    return spawn(process.execPath, [...process.execArgv, main, 'dev-server', ...this.args], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
  }

  /** Ends a process after its requests. One that does not answer is killed. */
  async #end(child: ChildProcess | undefined): Promise<void> {
    if (!child || hasExited(child)) return;
    const exited = once(child, 'exit');
    const timer = setTimeout(() => {
      this.log('the previous server does not answer, because its thread is busy: it is killed');
      child.kill('SIGKILL');
    }, answerMs);
    await ask(child, 'ending', { command: 'end' });
    clearTimeout(timer);
    await exited;
  }
}

function hasExited({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Sends a command. Resolves with the answer that has the member, or with undefined if the process exits. */
async function ask<K extends string>(
  child: ChildProcess,
  member: K,
  command: DevCommand,
): Promise<Extract<DevMessage, Readonly<Record<K, unknown>>> | undefined> {
  const exited = new AbortController();
  const onExit = (): void => exited.abort();
  child.once('exit', onExit);
  // An error means that the process has ended or is about to.
  if (child.connected) child.send(command, () => undefined);
  try {
    for (;;) {
      if (hasExited(child)) return undefined;
      const [message] = (await once(child, 'message', { signal: exited.signal })) as [DevMessage];
      if (member in message) return message as Extract<DevMessage, Readonly<Record<K, unknown>>>;
    }
  } catch {
    return undefined;
  } finally {
    child.off('exit', onExit);
  }
}
