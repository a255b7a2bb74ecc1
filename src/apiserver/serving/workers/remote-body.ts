import type { Buffer } from 'node:buffer';
import type { Readable } from 'node:stream';
import { BodyTooLargeError, ClientGoneError } from '#apiserver/request/exchange';
import { ArrivingBody } from '../arriving-body.ts';
import { MergedBytes } from '#apiserver/base/merged-bytes';

interface Reader {
  readonly limit: number;
  resolve(body: Buffer): void;
  reject(error: Error): void;
}

/** Body of a request whose connection is in a worker. The worker forwards a window of bytes, and more as they are granted. */
export class RemoteBody {
  readonly #window: number;
  readonly #grant: (bytes: number) => void;
  readonly #bytes = new MergedBytes();
  #isTooLarge = false;
  #isWhole = false;
  #isGone = false;
  #reader: Reader | undefined;
  #readable: ArrivingBody | undefined;

  /** `window` is the number of bytes without a grant; `grant` requests more. */
  constructor(window: number, grant: (bytes: number) => void) {
    this.#window = window;
    this.#grant = grant;
  }

  /** Reads the whole body. `expected` is its Content-Length, 0 if unknown. */
  read(expected: number, limit: number): Promise<Buffer> {
    if (expected > limit) return Promise.reject(new BodyTooLargeError(limit));
    return new Promise((resolve, reject) => {
      const reader = { limit, resolve, reject };
      this.#reader = reader;
      if (!this.#isWhole && (expected === 0 || expected > this.#window)) this.#grant(limit);
      this.#check(reader);
    });
  }

  /** Returns the body as a stream. Like other bodies, it closes without an end if the client disconnects. */
  open(): Readable {
    const readable = new ArrivingBody((bytes) => {
      if (!this.#isWhole) this.#grant(bytes);
    });
    this.#readable = readable;
    if (this.#bytes.length > 0) readable.data(this.#bytes.take());
    if (this.#isWhole) readable.end();
    else if (this.#isGone) readable.gone();
    return readable;
  }

  /** Appends a chunk, which is copied. */
  data(chunk: Buffer): void {
    if (this.#readable) return this.#readable.data(chunk);
    if (!this.#isTooLarge) this.#bytes.append(chunk);
    if (this.#reader) this.#check(this.#reader);
  }

  end(): void {
    this.#isWhole = true;
    this.#readable?.end();
    if (this.#reader) this.#check(this.#reader);
  }

  /** Reports that the client is gone. */
  close(): void {
    if (this.#isWhole) return;
    this.#isGone = true;
    this.#readable?.gone();
    if (this.#reader) this.#check(this.#reader);
  }

  #check(reader: Reader): void {
    if (this.#bytes.length > reader.limit) {
      this.#isTooLarge = true;
      this.#bytes.take();
      reader.reject(new BodyTooLargeError(reader.limit));
    } else if (this.#isWhole) {
      reader.resolve(this.#bytes.take());
    } else if (this.#isGone) reader.reject(gone());
  }
}

function gone(): ClientGoneError {
  return new ClientGoneError('the client closed the connection');
}
