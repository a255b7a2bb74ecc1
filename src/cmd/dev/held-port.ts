import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** An address on which a server listens. */
export interface ServedAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Keeps an address open while one server ends and the next one starts: connections wait instead of being refused. Both servers share the
 * port.
 */
export class HeldPort {
  readonly #waiting = new Set<Socket>();

  private constructor(
    private readonly address: ServedAddress,
    private readonly listener: Server,
  ) {
    listener.on('connection', (socket: Socket) => {
      this.#waiting.add(socket);
      socket.on('error', () => {}).once('close', () => this.#waiting.delete(socket));
    });
  }

  /** Returns undefined if the address cannot be shared. */
  static async open(address: ServedAddress): Promise<HeldPort | undefined> {
    const listener = createServer({ pauseOnConnect: true });
    const held = new HeldPort(address, listener);
    try {
      listener.listen({ ...address, reusePort: true });
      await once(listener, 'listening');
      return held;
    } catch {
      return undefined;
    }
  }

  /** Passes the connections to the server that listens now, or ends them if there is none. */
  release(isServed: boolean): void {
    this.listener.close();
    for (const socket of this.#waiting) {
      if (isServed) this.#pass(socket);
      else socket.destroy();
    }
    this.#waiting.clear();
  }

  #pass(socket: Socket): void {
    const { host, port } = this.address;
    const local = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
    const server = connect(port, local);
    server.on('error', () => socket.destroy()).once('close', () => socket.destroy());
    socket.once('close', () => server.destroy());
    socket.pipe(server).pipe(socket);
  }
}
