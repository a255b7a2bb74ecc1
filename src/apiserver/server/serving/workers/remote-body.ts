import { Buffer } from 'node:buffer';
import { Readable } from 'node:stream';
import { BodyTooLargeError, ClientGoneError } from '#apiserver/endpoints/request/exchange';
import { windowBytes } from './messages.ts';

interface Reader {
  readonly limit: number;
  resolve(body: Buffer): void;
  reject(error: Error): void;
}

/** What comes from the client of a request by its worker: told unasked up to a window, and beyond it as it is asked for. */
export class RemoteBody {
  readonly #window: number;
  readonly #grant: (bytes: number) => void;
  #chunks: Buffer[] = [];
  #size = 0;
  #isWhole = false;
  #isGone = false;
  #reader: Reader | undefined;
  #readable: Readable | undefined;
  /** Of the readable: what it has got since it asked last. */
  #ungranted = 0;

  /** `window`: so much comes unasked; `grant` asks for more. */
  constructor(window: number, grant: (bytes: number) => void) {
    this.#window = window;
    this.#grant = grant;
  }

  /** The whole of it. `expected` is its Content-Length, 0 if unknown. */
  read(expected: number, limit: number): Promise<Buffer> {
    if (expected > limit) return Promise.reject(new BodyTooLargeError(`the body has ${expected} bytes`));
    return new Promise((resolve, reject) => {
      this.#reader = { limit, resolve, reject };
      if (!this.#isWhole && (expected === 0 || expected > this.#window)) this.#grant(limit);
      this.#check();
    });
  }

  /** As it comes. It closes without an end where the client leaves, as the other bodies do. */
  open(): Readable {
    const readable = new Readable({
      highWaterMark: windowBytes,
      read: () => {
        if (this.#ungranted > 0 && !this.#isWhole) this.#grant(this.#ungranted);
        this.#ungranted = 0;
      },
    });
    this.#readable = readable;
    for (const chunk of this.#chunks) this.#pass(chunk);
    this.#chunks = [];
    if (this.#isWhole) readable.push(null);
    else if (this.#isGone) readable.destroy();
    return readable;
  }

  data(chunk: Buffer): void {
    if (this.#readable) return this.#pass(chunk);
    this.#size += chunk.length;
    this.#chunks.push(chunk);
    if (this.#reader) this.#check();
  }

  end(): void {
    this.#isWhole = true;
    this.#readable?.push(null);
    if (this.#reader) this.#check();
  }

  /** The client is gone. */
  close(): void {
    if (this.#isWhole) return;
    this.#isGone = true;
    this.#readable?.destroy();
    if (this.#reader) this.#check();
  }

  #pass(chunk: Buffer): void {
    this.#ungranted += chunk.length;
    this.#readable?.push(chunk);
  }

  #check(): void {
    const reader = this.#reader as Reader;
    if (this.#size > reader.limit) {
      this.#chunks = [];
      reader.reject(new BodyTooLargeError(`the body has more than ${reader.limit} bytes`));
    } else if (this.#isWhole) {
      reader.resolve(this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks));
    } else if (this.#isGone) reader.reject(gone());
  }
}

function gone(): ClientGoneError {
  return new ClientGoneError('the client closed the connection');
}
