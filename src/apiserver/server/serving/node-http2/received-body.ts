import { Buffer } from 'node:buffer';

const blockBytes = 16 * 1024;

/** Octets of a body that nobody has taken yet, in whole blocks: chunks of one octet must not be a buffer each. */
export class ReceivedBody {
  #blocks: Buffer[] = [];
  /** Octets of the last block that are used. */
  #used = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Copies the chunk. */
  add(chunk: Buffer): void {
    this.#length += chunk.length;
    for (let at = 0; at < chunk.length; ) {
      if (this.#blocks.length === 0 || this.#used === blockBytes) {
        this.#blocks.push(Buffer.allocUnsafeSlow(blockBytes));
        this.#used = 0;
      }
      const count = Math.min(blockBytes - this.#used, chunk.length - at);
      (this.#blocks.at(-1) as Buffer).set(chunk.subarray(at, at + count), this.#used);
      this.#used += count;
      at += count;
    }
  }

  /** Removes all and returns it in as few chunks as there are blocks. */
  take(): Buffer[] {
    const blocks = this.#blocks;
    const last = blocks.pop();
    if (last) blocks.push(this.#used === blockBytes ? last : Buffer.from(last.subarray(0, this.#used)));
    this.#blocks = [];
    this.#used = 0;
    this.#length = 0;
    return blocks;
  }
}
