import { Buffer } from 'node:buffer';
import { sharedMemoryOf } from '#apimachinery/runtime/kept-bytes';
import { weightOf } from './backlog.ts';
import type { Part } from './messages.ts';

/** Entries of one event loop iteration with their byte strings, which entries refer to by index. */
export interface Batch<Entry> {
  readonly entries: readonly Entry[];
  /** Byte strings: the length in `small`, where they are concatenated, or a buffer, or a reference to shared memory. */
  readonly parts: readonly (number | ArrayBuffer | SharedPart)[];
  readonly small: ArrayBuffer | undefined;
  /** Weight of the batch in a backlog. */
  readonly weight: number;
}

interface SharedPart {
  readonly memory: SharedArrayBuffer;
  readonly start: number;
  readonly length: number;
}

/** Minimum size of byte strings with a buffer of their own. */
const ownBufferBytes = 32_768;

/**
 * Collects the messages of one thread to another during one event loop iteration and sends them as one, because the cost of a message is
 * waking the other thread. Bytes are copied once, into transferred buffers, except those in shared memory.
 *
 *     push([write, 1, part(a)]), push([write, 2, part(a)]), push([write, 2, part(b)])
 *     -> { entries: [[write, 1, 0], [write, 2, 0], [write, 2, 1]], parts: [3, 4], small: 'aaabbbb' }
 */
export class Outbox<Entry> {
  /** Number of batches so far; entries pushed while it is constant are sent together. */
  turn = 0;
  readonly #post: (batch: Batch<Entry>, transfer: readonly ArrayBuffer[]) => void;
  #entries: Entry[] = [];
  #parts: Buffer[] = [];
  readonly #places = new Map<Buffer, Part>();

  constructor(post: (batch: Batch<Entry>, transfer: readonly ArrayBuffer[]) => void) {
    this.#post = post;
  }

  push(entry: Entry): void {
    if (this.#entries.push(entry) === 1) setImmediate(this.flush);
  }

  /**
   * Returns the index of a byte string in the current batch; several entries may share it. The bytes must not change until the
   * batch is sent.
   */
  part(bytes: Buffer): Part {
    let place = this.#places.get(bytes);
    if (place === undefined) {
      place = this.#parts.push(bytes) - 1;
      this.#places.set(bytes, place);
    }
    return place;
  }

  /** Sends the current batch; called at the end of each event loop iteration. */
  readonly flush = (): void => {
    if (this.#entries.length === 0) return;
    const entries = this.#entries;
    const { transfer, bytes, ...packed } = pack(this.#parts);
    this.#entries = [];
    this.#parts = [];
    this.#places.clear();
    this.turn += 1;
    this.#post({ entries, ...packed, weight: weightOf(entries.length, bytes) }, transfer);
  };
}

function pack(
  parts: readonly Buffer[],
): Pick<Batch<unknown>, 'parts' | 'small'> & { readonly bytes: number; readonly transfer: readonly ArrayBuffer[] } {
  const transfer: ArrayBuffer[] = [];
  const own = (length: number): Buffer => {
    const buffer = Buffer.allocUnsafeSlow(length);
    transfer.push(buffer.buffer as ArrayBuffer);
    return buffer;
  };
  let bytes = 0;
  let smallBytes = 0;
  for (const part of parts) {
    if (sharedMemoryOf(part)) continue;
    bytes += part.length;
    if (part.length < ownBufferBytes) smallBytes += part.length;
  }
  const small = smallBytes > 0 ? own(smallBytes) : undefined;
  let at = 0;
  const places = parts.map((part) => {
    const memory = sharedMemoryOf(part);
    if (memory) return { memory, start: part.byteOffset, length: part.length };
    if (part.length < ownBufferBytes) {
      if (small) at += part.copy(small, at);
      return part.length;
    }
    const copy = own(part.length);
    part.copy(copy);
    return copy.buffer as ArrayBuffer;
  });
  return { parts: places, small: small?.buffer as ArrayBuffer | undefined, bytes, transfer };
}

/** Returns the byte strings of a batch. `keeps` is true if each may be retained without the batch. */
export function partsOf({ parts, small }: Batch<unknown>, keeps: boolean): Buffer[] {
  let at = 0;
  return parts.map((part) => {
    if (typeof part !== 'number') return 'memory' in part ? Buffer.from(part.memory, part.start, part.length) : Buffer.from(part);
    if (!small) return Buffer.alloc(0);
    const bytes = Buffer.from(small, at, part);
    at += part;
    return keeps ? Buffer.from(bytes) : bytes;
  });
}
