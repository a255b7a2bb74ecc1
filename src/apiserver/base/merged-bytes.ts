import { Buffer } from 'node:buffer';

const smallestBytes = 256;
const empty = Buffer.alloc(0);

/**
 * Appends chunks to one buffer, which grows by doubling. The cost of a chunk is proportional to its size, whereas an array of
 * chunks costs an object and a backing store for each.
 */
export class MergedBytes {
  #buffer = empty;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Appended bytes; valid until the next `append`. */
  get view(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  append(part: Uint8Array): void {
    const length = this.#length + part.length;
    if (length > this.#buffer.length) this.#grow(length);
    this.#buffer.set(part, this.#length);
    this.#length = length;
  }

  /** Returns the appended bytes and clears the buffer. */
  take(): Buffer {
    const bytes = this.view;
    this.#buffer = empty;
    this.#length = 0;
    return bytes;
  }

  #grow(length: number): void {
    // A single chunk is allocated at its exact length.
    const isFirst = this.#length === 0;
    const grown = isFirst ? Buffer.allocUnsafe(length) : Buffer.allocUnsafeSlow(Math.max(smallestBytes, length, this.#buffer.length * 2));
    grown.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = grown;
  }
}
