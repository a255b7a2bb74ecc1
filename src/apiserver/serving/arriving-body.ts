import type { Buffer } from 'node:buffer';
import { Readable } from 'node:stream';
import { MergedBytes } from './merged-bytes.ts';

/**
 * A request's body as it arrives, for those who read it as a stream. It hands out one chunk when it is read, and merges what arrives until it is
 * read again: parts of one octet would else each be a buffer in the stream's queue.
 */
export class ArrivingBody extends Readable {
  readonly #pending = new MergedBytes();
  readonly #taken: (bytes: number) => void;
  #isAsked = false;
  #isWhole = false;

  /** `taken` is called with the length of each chunk that is handed out: there is room for as much again. */
  constructor(taken: (bytes: number) => void) {
    super({ highWaterMark: 1 });
    this.#taken = taken;
  }

  /** Octets that have arrived and were not handed out. */
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

  /** The client has left, or broke the body off: the stream closes without an end. */
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
