import type { Buffer } from 'node:buffer';
import { BodyTooLargeError, ClientGoneError } from '#apiserver/request/exchange';
import { MergedBytes } from './merged-bytes.ts';

/** A request's body, put together from its parts as they come: copies, so that parts may be views of memory that is used again. */
export class CollectedBody {
  readonly whole: Promise<Buffer>;
  readonly #limit: number;
  readonly #bytes = new MergedBytes();
  #ended = false;
  #isTooLarge = false;
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

  /** True once more than the limit has come. */
  get isTooLarge(): boolean {
    return this.#isTooLarge;
  }

  data(chunk: Buffer): void {
    if (this.#isTooLarge) return;
    if (this.#bytes.length + chunk.length <= this.#limit) return this.#bytes.append(chunk);
    this.#isTooLarge = true;
    this.#bytes.take();
    this.#reject(new BodyTooLargeError(`the body has more than ${this.#limit} bytes`));
  }

  end(): void {
    this.#ended = true;
    this.#resolve(this.#bytes.take());
  }

  gone(): void {
    // An error costs its stack trace, also where nobody would see it.
    if (!this.#ended) this.#reject(new ClientGoneError('the client closed the connection'));
  }
}
