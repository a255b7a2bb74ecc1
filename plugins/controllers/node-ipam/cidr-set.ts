import { type Cidr, formatCIDR, parseCIDRSloppy } from '#sdk/internal';

/**
 * The parts of a range, of which each node gets one. They are given in a circle, so that a released part is used again last:
 *
 *     10.244.0.0/16, prefix length 24:  0: 10.244.0.0/24 | 1: 10.244.1.0/24 | … | 255: 10.244.255.0/24
 *
 * Upstream: pkg/controller/nodeipam/ipam/cidrset.
 */
export class CidrSet {
  readonly #range: Cidr;
  readonly #size: number;
  readonly #used = new Set<number>();
  #next = 0;

  /** Throws for a malformed range, or a prefix length of the parts that is shorter than that of the range or too long. */
  constructor(
    cidr: string,
    readonly nodePrefix: number,
  ) {
    const range = parseCIDRSloppy(cidr);
    if (!range) throw new Error(`${cidr} is not a CIDR`);
    const bits = nodePrefix - range.prefix;
    if (bits < 0 || bits > 16 || nodePrefix > range.bytes.length * 8)
      throw new Error(`${cidr} cannot be divided into parts with a prefix length of ${nodePrefix}`);
    this.#range = range;
    this.#size = 2 ** bits;
  }

  /** Returns the next free part. Throws if there is none. */
  allocate(): string {
    if (this.#used.size === this.#size)
      throw new Error('CIDR allocation failed; there are no remaining CIDRs left to allocate in the accepted range');
    while (this.#used.has(this.#next)) this.#next = (this.#next + 1) % this.#size;
    const part = this.#next;
    this.#used.add(part);
    this.#next = (part + 1) % this.#size;
    return this.#format(part);
  }

  /** Marks all parts that share addresses with the CIDR as used. */
  occupy(cidr: string): void {
    for (const part of this.#partsOf(cidr)) this.#used.add(part);
  }

  /** Marks all parts that share addresses with the CIDR as free. */
  release(cidr: string): void {
    for (const part of this.#partsOf(cidr)) this.#used.delete(part);
  }

  /** Returns the parts that share addresses with the CIDR; none if it is malformed, of another family or outside of the range. */
  *#partsOf(text: string): Iterable<number> {
    const cidr = parseCIDRSloppy(text);
    if (cidr?.bytes.length !== this.#range.bytes.length) return;
    const shared = Math.min(cidr.prefix, this.#range.prefix);
    if (bitsOf(cidr, 0, shared) !== bitsOf(this.#range, 0, shared)) return;
    const known = Math.min(Math.max(cidr.prefix, this.#range.prefix), this.nodePrefix);
    const open = 2 ** (this.nodePrefix - known);
    const first = Number(bitsOf(cidr, this.#range.prefix, Math.max(known, this.#range.prefix))) * open;
    for (let part = first; part < first + open; part += 1) yield part;
  }

  #format(part: number): string {
    const { bytes, prefix } = this.#range;
    const all = bytes.length * 8;
    const network = bitsOf(this.#range, 0, prefix) << BigInt(all - prefix);
    let address = network | (BigInt(part) << BigInt(all - this.nodePrefix));
    const formatted = new Array<number>(bytes.length);
    for (let at = bytes.length - 1; at >= 0; at -= 1) {
      formatted[at] = Number(address & 0xffn);
      address >>= 8n;
    }
    return formatCIDR({ bytes: formatted, prefix: this.nodePrefix, mapped: false, leadingZeros: false });
  }
}

/** Returns the bits from `from` to before `to` of an address as a number. */
function bitsOf({ bytes }: Cidr, from: number, to: number): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  const cut = value >> BigInt(bytes.length * 8 - to);
  return cut & ((1n << BigInt(to - from)) - 1n);
}
