import type { Buffer } from 'node:buffer';
import { Readable } from 'node:stream';
import { MergedBytes } from '#apiserver/base/merged-bytes';

/**
 * A request body as a stream. It emits one chunk per read and merges the bytes that arrive in between; otherwise chunks of one byte
 * would each be a buffer in the stream's queue.
 */
export class ArrivingBody extends Readable {
  readonly #pending = new MergedBytes();
  readonly #taken: (bytes: number) => void;
  #isAsked = false;
  #isWhole = false;

  /** `taken` is called with the length of each emitted chunk, which frees as much room. */
  constructor(taken: (bytes: number) => void) {
    super({ highWaterMark: 1 });
    this.#taken = taken;
  }

  /** Number of bytes that arrived and were not emitted. */
  get pendingBytes(): number {
    return this.#pending.length;
  }

  data(chunk: Buffer): void {
    this.#pending.append(chunk);
    if (this.#isAsked) this.#hand();
  }

  end(): void {
    this.#isWhole = true;
    if (this.#isAsked) this.#hand();
  }

  /** Closes the stream without an end, because the client disconnected or aborted the body. */
  gone(): void {
    if (!this.#isWhole) this.destroy();
  }

  override _read(): void {
    this.#isAsked = true;
    this.#hand();
  }

  #hand(): void {
    const { length } = this.#pending;
    if (length > 0) {
      this.#isAsked = false;
      this.push(this.#pending.take());
      this.#taken(length);
    } else if (this.#isWhole) {
      this.#isAsked = false;
      this.push(null);
    }
  }
}
