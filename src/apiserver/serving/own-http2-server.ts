import type { TLSSocket } from 'node:tls';
import { Http2Connection } from './http2/http2-connection.ts';
import type { Http2Server, Http2ServerOptions, OnStream } from './http2-server.ts';

/** HTTP/2 by the implementation in `http2/`. */
export class OwnHttp2Server implements Http2Server {
  readonly #options: Http2ServerOptions;
  readonly #onStream: OnStream;
  readonly #connections = new Set<Http2Connection>();
  #isGoingAway = false;

  constructor(options: Http2ServerOptions, onStream: OnStream) {
    this.#options = options;
    this.#onStream = onStream;
  }

  serve(socket: TLSSocket): void {
    const connection = new Http2Connection(socket, this.#options, {
      onStream: (stream) => this.#onStream(stream, socket),
      onClose: () => this.#connections.delete(connection),
    });
    this.#connections.add(connection);
    if (this.#isGoingAway) connection.closeAfterFirst();
  }

  announceEnd(): void {
    this.#isGoingAway = true;
    for (const connection of this.#connections) connection.announceEnd();
  }

  goAway(): void {
    for (const connection of this.#connections) connection.closeAfterFirst();
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }

  destroy(): void {
    for (const connection of this.#connections) connection.destroy();
  }

  checkDeadlines(now: number): void {
    for (const connection of this.#connections) connection.checkDeadlines(now);
  }
}
