import type { Socket } from 'node:net';

/**
 * Accepted connections whose clients have not sent anything yet. TLS is started with the first bytes: its state takes half a megabyte and some
 * milliseconds, which a client would get for a connection that costs it nothing.
 */
export class SilentConnections {
  /** Connections with the time of their begin, on the clock of `performance.now()`. */
  readonly #since = new Map<Socket, number>();
  readonly #start: (socket: Socket) => void;
  readonly #mostMs: number;
  readonly #onTimeout: (() => void) | undefined;

  /** `start` takes over a connection; `onTimeout` is called for one that was closed after `mostMs`. */
  constructor(start: (socket: Socket) => void, mostMs: number, onTimeout: (() => void) | undefined) {
    this.#start = start;
    this.#mostMs = mostMs;
    this.#onTimeout = onTimeout;
  }

  add(socket: Socket): void {
    this.#since.set(socket, performance.now());
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#since.delete(socket));
    socket.once('readable', () => {
      this.#since.delete(socket);
      // The end of the client's side is readable, too.
      if (socket.readableLength === 0) socket.destroy();
      else this.#start(socket);
    });
  }

  checkDeadlines(now: number): void {
    for (const [socket, since] of this.#since) {
      if (now - since < this.#mostMs) continue;
      socket.destroy();
      this.#onTimeout?.();
    }
  }

  destroy(): void {
    for (const socket of this.#since.keys()) socket.destroy();
  }
}
