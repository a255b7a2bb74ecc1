import type { Buffer } from 'node:buffer';
import { Duplex } from 'node:stream';
import { windowBytes } from './messages.ts';
import type { RemoteStream } from './remote-stream.ts';

/** A taken-over connection whose other side is in a worker. */
export class RemoteSocket extends Duplex {
  readonly #stream: RemoteStream;
  readonly #grant: (bytes: number) => void;
  #ungranted = 0;
  #written: (() => void) | undefined;

  /** `grant` requests more of the client's bytes. */
  constructor(stream: RemoteStream, grant: (bytes: number) => void) {
    super({ readableHighWaterMark: windowBytes, writableHighWaterMark: windowBytes });
    this.#stream = stream;
    this.#grant = grant;
    stream.onDrain(() => this.#drained());
  }

  /** Receives bytes of the client. */
  data(chunk: Buffer): void {
    this.#ungranted += chunk.length;
    this.push(chunk);
  }

  override _read(): void {
    if (this.#ungranted > 0) this.#grant(this.#ungranted);
    this.#ungranted = 0;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.#stream.write(chunk)) done();
    else this.#written = done;
  }

  override _final(done: () => void): void {
    this.#stream.end();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#stream.abort();
    done(error);
  }

  #drained(): void {
    const written = this.#written;
    this.#written = undefined;
    written?.();
  }
}
