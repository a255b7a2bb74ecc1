import { Buffer } from 'node:buffer';
import type { Readable } from 'node:stream';
import { BodyTooLargeError, ClientGoneError } from '#apiserver/endpoints/request/exchange';

/** A request's body, put together from its parts. */
export class CollectedBody {
  readonly whole: Promise<Buffer>;
  readonly #limit: number;
  #chunks: Buffer[] = [];
  #size = 0;
  #ended = false;
  #resolve!: (body: Buffer) => void;
  #reject!: (reason: Error) => void;

  /** `expected`: its Content-Length, 0 if unknown: a body that announces more than `limit` is refused before it is read. */
  constructor(expected: number, limit: number) {
    this.#limit = limit;
    this.whole = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (expected > limit) this.#reject(new BodyTooLargeError(`the body has ${expected} bytes`));
  }

  data(chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size <= this.#limit) return void this.#chunks.push(chunk);
    this.#chunks = [];
    this.#reject(new BodyTooLargeError(`the body has more than ${this.#limit} bytes`));
  }

  end(): void {
    this.#ended = true;
    this.#resolve(this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks));
  }

  gone(): void {
    // An error costs its stack trace, also where nobody would see it.
    if (!this.#ended) this.#reject(new ClientGoneError('the client closed the connection'));
  }
}

/** Collects what `source` reads; see CollectedBody. */
export function collectBody(source: Readable, expected: number, limit: number): Promise<Buffer> {
  const body = new CollectedBody(expected, limit);
  if (expected > limit) return body.whole;
  // Listeners stay: to take them off costs more than the calls that come to nothing.
  source.on('data', (chunk: Buffer) => body.data(chunk));
  source.on('end', () => body.end());
  source.on('close', () => body.gone());
  return body.whole;
}
