import type { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import { endSoon } from './end-soon.ts';

/** Beginnings of a TLS record that are HTTP. Upstream: net/http/server.go (tlsRecordHeaderLooksLikeHTTP). */
const httpBeginnings = ['GET /', 'HEAD ', 'POST ', 'PUT /', 'OPTIO'];
const answerToHttp = 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n';

/**
 * Accepted connections until the end of their TLS handshake, with one deadline from acceptance on. TLS is started with the first bytes: its
 * state takes half a megabyte and some milliseconds, which a client would get for a connection that costs it nothing.
 */
export class PendingHandshakes {
  /** Connections with the time of their begin, on the clock of `performance.now()`. */
  readonly #since = new Map<Socket, number>();
  readonly #start: (socket: Socket) => void;
  readonly #mostMs: number;
  readonly #onError: (() => void) | undefined;

  /** `start` starts TLS on a connection; `onError` is called for each one that closes before the end of its handshake. */
  constructor(start: (socket: Socket) => void, mostMs: number, onError: (() => void) | undefined) {
    this.#start = start;
    this.#mostMs = mostMs;
    this.#onError = onError;
  }

  add(socket: Socket): void {
    this.#since.set(socket, performance.now());
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      if (this.#since.delete(socket)) this.#onError?.();
    });
    socket.once('readable', () => {
      const first = socket.read() as Buffer | null;
      // The end of the client's side is readable, too.
      if (first === null) return void socket.destroy();
      if (httpBeginnings.includes(first.toString('latin1', 0, 5))) {
        socket.resume();
        return endSoon(socket, answerToHttp);
      }
      socket.unshift(first);
      this.#start(socket);
    });
  }

  /** Registers the end of the handshake of a connection. */
  finish(socket: Socket): void {
    this.#since.delete(socket);
  }

  /** True if a connection whose handshake has not ended was accepted after this time. */
  isAnySince(time: number): boolean {
    for (const since of this.#since.values()) if (since > time) return true;
    return false;
  }

  checkDeadlines(now: number): void {
    for (const [socket, since] of this.#since) if (now - since >= this.#mostMs) socket.destroy();
  }

  /** Closes all connections, which are no errors. */
  destroy(): void {
    const sockets = [...this.#since.keys()];
    this.#since.clear();
    for (const socket of sockets) socket.destroy();
  }
}
