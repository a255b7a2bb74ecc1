import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { ConnectionSource } from '#apiserver/serving/secure-server';
import type { DevCommand, ServedAddress } from './messages.ts';

/**
 * The port of the server under development. This process accepts its connections and passes them to the process that serves, so that the
 * port stays open while one server ends and the next one starts: connections wait, and none is refused or reset. (A second listener with
 * SO_REUSEPORT would not do: when the first one closes, the kernel resets the connections that it had queued for it.)
 */
export class HeldPort {
  readonly #waiting = new Set<Socket>();
  #serving: ChildProcess | undefined;

  private constructor(
    readonly served: ServedAddress,
    private readonly listener: Server,
  ) {
    listener.on('connection', (socket: Socket) => {
      socket.on('error', () => {}).once('close', () => this.#waiting.delete(socket));
      this.#pass(socket);
    });
  }

  /** Rejects with the system's error if the port cannot be opened. */
  static async open(served: ServedAddress): Promise<HeldPort> {
    const listener = createServer({ pauseOnConnect: true });
    listener.listen({ ...served, backlog: 4096 });
    await once(listener, 'listening');
    return new HeldPort(served, listener);
  }

  get address(): AddressInfo {
    return this.listener.address() as AddressInfo;
  }

  /** Passes the connections to a process from now on, or lets them wait for the next one. */
  passTo(serving: ChildProcess | undefined): void {
    this.#serving = serving;
    for (const socket of [...this.#waiting]) this.#pass(socket);
  }

  close(): void {
    this.listener.close();
    for (const socket of this.#waiting) socket.destroy();
  }

  #pass(socket: Socket): void {
    const to = this.#serving;
    if (!to?.connected) return void this.#waiting.add(socket);
    this.#waiting.delete(socket);
    // A process that ended unexpectedly does not take it.
    to.send({ command: 'serve' } satisfies DevCommand, socket, (error) => error && this.#pass(socket));
  }
}

/** The connections that the parent process passes. */
export class PassedConnections implements ConnectionSource {
  #onConnection: ((socket: Socket) => void) | undefined;

  /** `onReady` is called once they are wanted. */
  constructor(
    readonly address: AddressInfo,
    private readonly onReady: () => void,
  ) {}

  accept(onConnection: (socket: Socket) => void): void {
    this.#onConnection = onConnection;
    this.onReady();
  }

  pass(socket: Socket): void {
    this.#onConnection?.(socket);
  }
}
