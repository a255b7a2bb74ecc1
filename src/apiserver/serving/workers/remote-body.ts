import type { Buffer } from 'node:buffer';
import type { Readable } from 'node:stream';
import { BodyTooLargeError, ClientGoneError } from '#apiserver/request/exchange';
import { ArrivingBody } from '../arriving-body.ts';
import { MergedBytes } from '../merged-bytes.ts';

interface Reader {
  readonly limit: number;
  resolve(body: Buffer): void;
  reject(error: Error): void;
}

/** What comes from the client of a request by its worker: told unasked up to a window, and beyond it as it is asked for. */
export class RemoteBody {
  readonly #window: number;
  readonly #grant: (bytes: number) => void;
  readonly #bytes = new MergedBytes();
  #isTooLarge = false;
  #isWhole = false;
  #isGone = false;
  #reader: Reader | undefined;
  #readable: ArrivingBody | undefined;

  /** `window`: so much comes unasked; `grant` asks for more. */
  constructor(window: number, grant: (bytes: number) => void) {
    this.#window = window;
    this.#grant = grant;
  }

  /** The whole of it. `expected` is its Content-Length, 0 if unknown. */
  read(expected: number, limit: number): Promise<Buffer> {
    if (expected > limit) return Promise.reject(new BodyTooLargeError(`the body has ${expected} bytes`));
    return new Promise((resolve, reject) => {
      const reader = { limit, resolve, reject };
      this.#reader = reader;
      if (!this.#isWhole && (expected === 0 || expected > this.#window)) this.#grant(limit);
      this.#check(reader);
    });
  }

  /** As it comes. It closes without an end where the client leaves, as the other bodies do. */
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

  /** `chunk` is copied. */
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

  /** The client is gone. */
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
      reader.reject(new BodyTooLargeError(`the body has more than ${reader.limit} bytes`));
    } else if (this.#isWhole) {
      reader.resolve(this.#bytes.take());
    } else if (this.#isGone) reader.reject(gone());
  }
}

function gone(): ClientGoneError {
  return new ClientGoneError('the client closed the connection');
}
