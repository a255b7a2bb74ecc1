import { Buffer } from 'node:buffer';
import { AllocationError } from './allocation-error.ts';

/** `--service-node-port-range` */
export interface PortRange {
  readonly base: number;
  readonly size: number;
}

/** Formats `30000-32767`. Upstream: apimachinery/pkg/util/net/port_range.go. */
export function formatPortRange({ base, size }: PortRange): string {
  return `${base}-${base + size - 1}`;
}

/**
 * The set of allocated ports of a range. Dynamic allocation uses the upper band first; the lower band, a thirty-second of the range (16 to
 * 128 ports), is reserved for ports that users choose. Upstream: core/service/{portallocator,allocator}.
 */
export class PortBitmap {
  readonly #taken: Uint8Array;
  readonly #lower: number;
  #count = 0;

  constructor(readonly range: PortRange) {
    this.#taken = new Uint8Array(range.size);
    this.#lower = range.size <= 16 ? 0 : Math.min(Math.max(16, Math.floor(range.size / 32)), 128);
  }

  get count(): number {
    return this.#count;
  }

  /** Throws AllocationError `notInRange`. */
  checkRange(port: number): void {
    if (!this.contains(port)) {
      throw new AllocationError(
        'notInRange',
        `provided port is not in the valid range. The range of valid ports is ${formatPortRange(this.range)}`,
      );
    }
  }

  contains(port: number): boolean {
    return port >= this.range.base && port < this.range.base + this.range.size;
  }

  has(port: number): boolean {
    return this.contains(port) && this.#taken[port - this.range.base] === 1;
  }

  /** Sets or clears a port; does nothing for a port out of range. */
  set(port: number, taken: boolean): void {
    if (!this.contains(port) || this.has(port) === taken) return;
    this.#taken[port - this.range.base] = taken ? 1 : 0;
    this.#count += taken ? 1 : -1;
  }

  /** Returns a port that is neither allocated nor `excluded`; undefined if there is none. */
  findFree(excluded: { has(port: number): boolean }, random: () => number = Math.random): number | undefined {
    const { base, size } = this.range;
    return this.#scan(base + this.#lower, size - this.#lower, excluded, random) ?? this.#scan(base, this.#lower, excluded, random);
  }

  #scan(from: number, size: number, excluded: { has(port: number): boolean }, random: () => number): number | undefined {
    const start = Math.floor(random() * size);
    for (let i = 0; i < size; i += 1) {
      const port = from + ((start + i) % size);
      if (!this.has(port) && !excluded.has(port)) return port;
    }
    return undefined;
  }

  *[Symbol.iterator](): Iterator<number> {
    for (let offset = 0; offset < this.range.size; offset += 1) if (this.#taken[offset] === 1) yield this.range.base + offset;
  }

  copy(): PortBitmap {
    const copy = new PortBitmap(this.range);
    copy.#taken.set(this.#taken);
    copy.#count = this.#count;
    return copy;
  }

  equals(other: PortBitmap): boolean {
    return this.#count === other.#count && this.#taken.every((bit, at) => bit === other.#taken[at]);
  }

  /** Encodes upstream's form: one big-endian number whose bit n is the port base+n, without leading zero bytes. */
  toBytes(): Buffer {
    const bytes = Buffer.alloc(Math.ceil(this.range.size / 8));
    for (let offset = 0; offset < this.range.size; offset += 1) {
      if (this.#taken[offset] === 1) {
        const at = bytes.length - 1 - (offset >> 3);
        bytes[at] = (bytes[at] as number) | (1 << (offset & 7));
      }
    }
    let zeros = 0;
    while (bytes[zeros] === 0) zeros += 1;
    return bytes.subarray(zeros);
  }

  static fromBytes(range: PortRange, bytes: Uint8Array): PortBitmap {
    const bitmap = new PortBitmap(range);
    for (let offset = 0; offset < range.size; offset += 1) {
      const at = bytes.length - 1 - (offset >> 3);
      if (at >= 0 && ((bytes[at] as number) >> (offset & 7)) & 1) bitmap.set(range.base + offset, true);
    }
    return bitmap;
  }
}
