import type { Buffer } from 'node:buffer';
import { BodyTooLargeError, ClientGoneError } from '#apiserver/request/exchange';
import { MergedBytes } from '#apiserver/base/merged-bytes';

/** Collects a request body. It copies the chunks, which may be views of reused memory. */
export class CollectedBody {
  readonly whole: Promise<Buffer>;
  readonly #limit: number;
  readonly #bytes = new MergedBytes();
  #ended = false;
  #isTooLarge = false;
  #resolve!: (body: Buffer) => void;
  #reject!: (reason: Error) => void;

  /** `expected` is the Content-Length, 0 if unknown; a body that announces more than `limit` bytes is rejected immediately. */
  constructor(expected: number, limit: number) {
    this.#limit = limit;
    this.whole = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (expected > limit) this.#reject(new BodyTooLargeError(limit));
  }

  /** True if more bytes than the limit have arrived. */
  get isTooLarge(): boolean {
    return this.#isTooLarge;
  }

  data(chunk: Buffer): void {
    if (this.#isTooLarge) return;
    if (this.#bytes.length + chunk.length <= this.#limit) return this.#bytes.append(chunk);
    this.#isTooLarge = true;
    this.#bytes.take();
    this.#reject(new BodyTooLargeError(this.#limit));
  }

  end(): void {
    this.#ended = true;
    this.#resolve(this.#bytes.take());
  }

  gone(): void {
    // Creating an error captures a stack trace, so it is created only if it is observed.
    if (!this.#ended) this.#reject(new ClientGoneError('the client closed the connection'));
  }
}
