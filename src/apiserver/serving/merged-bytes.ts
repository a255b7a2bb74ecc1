import { Buffer } from 'node:buffer';

const smallestBytes = 256;
const empty = Buffer.alloc(0);

/**
 * Octets that come in parts, copied into one buffer as they come. It grows by doubling: a part costs its octets, however small it is, where an
 * array of parts costs an object and a backing store for each.
 */
export class MergedBytes {
  #buffer = empty;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** What has come, until the next part does. */
  get view(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  append(part: Uint8Array): void {
    const length = this.#length + part.length;
    if (length > this.#buffer.length) this.#grow(length);
    this.#buffer.set(part, this.#length);
    this.#length = length;
  }

  /** Returns what has come, and begins anew. */
  take(): Buffer {
    const bytes = this.view;
    this.#buffer = empty;
    this.#length = 0;
    return bytes;
  }

  #grow(length: number): void {
    // What comes whole needs no more than its own length.
    const isFirst = this.#length === 0;
    const grown = isFirst ? Buffer.allocUnsafe(length) : Buffer.allocUnsafeSlow(Math.max(smallestBytes, length, this.#buffer.length * 2));
    grown.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = grown;
  }
}
