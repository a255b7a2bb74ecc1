import type { Buffer } from 'node:buffer';
import { Readable } from 'node:stream';
import type { ServerStream } from '../server-stream.ts';
import type { BodyReceiver } from './http2-stream.ts';

/** A request's body as it comes in. The client may send more as fast as it is read. */
export class RequestBody extends Readable implements BodyReceiver {
  readonly #stream: Pick<ServerStream, 'receive' | 'credit'>;
  #unread = 0;

  constructor(stream: Pick<ServerStream, 'receive' | 'credit'>) {
    super();
    this.#stream = stream;
    stream.receive(this);
  }

  data(chunk: Buffer): void {
    this.#unread += chunk.length;
    if (this.push(chunk)) this._read();
  }

  end(): void {
    this.push(null);
  }

  gone(): void {
    this.destroy();
  }

  override _read(): void {
    const bytes = this.#unread;
    this.#unread = 0;
    if (bytes > 0) this.#stream.credit(bytes);
  }
}
