import { formatIP, parseCIDRSloppy, parseIPSloppy } from '#apimachinery/validation/ip';

export type IPFamily = 'IPv4' | 'IPv6';

/**
 * Returns the family of an address in any form that Go's net.ParseIP accepts; undefined if it is malformed. IPv4-mapped addresses are IPv4.
 */
export function familyOf(ip: string): IPFamily | undefined {
  const address = parseIPSloppy(ip);
  return address && (address.bytes.length === 4 ? 'IPv4' : 'IPv6');
}

/**
 * The service addresses of a CIDR. The lower band is reserved for addresses that users choose; the server first allocates from the upper
 * band:
 *
 *     10.0.0.0/24:  .0 network | .1 … .16 lower band | .17 … .254 upper band | .255 broadcast
 *
 * Upstream: core/service/ipallocator/ipallocator.go (NewIPAllocator), KEP-3070.
 */
export class AddressRange {
  readonly family: IPFamily;
  /** The network address, which is never allocated. */
  readonly network: bigint;
  /** The first and last allocatable address; `first > last` if there is none. */
  readonly first: bigint;
  readonly last: bigint;
  /** Start of the upper band. */
  readonly upper: bigint;
  readonly #end: bigint;

  private constructor(
    readonly cidr: string,
    bytes: readonly number[],
    prefix: number,
  ) {
    this.family = bytes.length === 4 ? 'IPv4' : 'IPv6';
    const hostBits = BigInt(bytes.length * 8 - prefix);
    const size = 1n << hostBits;
    this.network = (toBigInt(bytes) >> hostBits) << hostBits;
    this.#end = this.network + size - 1n;
    this.first = this.network + 1n;
    this.last = this.family === 'IPv4' ? this.#end - 1n : this.#end;
    this.upper = this.first + lowerBandSize(size);
  }

  /** Parses a CIDR. Returns undefined if it is malformed, or an IPv6 range with more than 64 host bits. */
  static parse(cidr: string): AddressRange | undefined {
    const parsed = parseCIDRSloppy(cidr);
    if (!parsed || (parsed.bytes.length === 16 && parsed.prefix < 64)) return undefined;
    return new AddressRange(cidr, parsed.bytes, parsed.prefix);
  }

  /** True if it is an allocatable address of this range. Upstream: api/servicecidr (PrefixContainsIP). */
  contains(family: IPFamily, address: bigint): boolean {
    return family === this.family && address >= this.first && address <= this.last;
  }

  /** True if it is an address of this range, allocatable or not. */
  includes(family: IPFamily, address: bigint): boolean {
    return family === this.family && address >= this.network && address <= this.#end;
  }

  format(address: bigint): string {
    return formatAddress(this.family, address);
  }

  /** Yields all addresses once: the upper band from a random start, then the lower band likewise. `random` returns 0 <= x < 1. */
  *candidates(random: () => number = Math.random): Iterable<bigint> {
    yield* circle(this.upper, this.last, random);
    yield* circle(this.first, this.upper - 1n < this.last ? this.upper - 1n : this.last, random);
  }
}

export function parseAddress(ip: string): { readonly family: IPFamily; readonly address: bigint } | undefined {
  const parsed = parseIPSloppy(ip);
  return parsed && { family: parsed.bytes.length === 4 ? 'IPv4' : 'IPv6', address: toBigInt(parsed.bytes) };
}

export function formatAddress(family: IPFamily, address: bigint): string {
  const bytes = new Array<number>(family === 'IPv4' ? 4 : 16);
  let rest = address;
  for (let at = bytes.length - 1; at >= 0; at -= 1) {
    bytes[at] = Number(rest & 0xffn);
    rest >>= 8n;
  }
  return formatIP({ bytes });
}

/** Returns a sixteenth of the range, at least 16 and at most 256 addresses; 0 for ranges of up to 16. */
function lowerBandSize(size: bigint): bigint {
  if (size <= 16n) return 0n;
  const part = size / 16n;
  return part < 16n ? 16n : part > 256n ? 256n : part;
}

function* circle(first: bigint, last: bigint, random: () => number): Iterable<bigint> {
  const size = last - first + 1n;
  if (size <= 0n) return;
  const start = first + (BigInt(Math.floor(random() * Number(size))) % size);
  for (let at = start; at <= last; at += 1n) yield at;
  for (let at = first; at < start; at += 1n) yield at;
}

function toBigInt(bytes: readonly number[]): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return value;
}
