/** Relations of IP prefixes and addresses. Upstream: pkg/api/servicecidr. */
import { type Cidr, type IpAddress, parseCIDRSloppy } from '#sdk/internal';

/** Returns the prefixes of a ServiceCIDR; the API server has validated them. */
export function prefixesOf(cidrs: readonly string[] = []): Cidr[] {
  return cidrs.flatMap((text) => parseCIDRSloppy(text) ?? []);
}

/** True if the prefixes share addresses: then one of them contains the other. */
export function overlaps(a: Cidr, b: Cidr): boolean {
  return hasSameBits(a, b, Math.min(a.prefix, b.prefix));
}

/** True if all addresses of `inner` are in `outer`, which may be the same prefix. */
export function containsPrefix(outer: Cidr, inner: Cidr): boolean {
  return outer.prefix <= inner.prefix && overlaps(outer, inner);
}

/** True if a Service may have the address from this prefix: the network address and the broadcast address of IPv4 are never allocated. */
export function containsAddress(prefix: Cidr, address: IpAddress): boolean {
  if (!hasSameBits(prefix, address, prefix.prefix)) return false;
  const bits = address.bytes.length * 8;
  const hostBits = Array.from({ length: bits - prefix.prefix }, (_, at) => bitOf(address, prefix.prefix + at));
  if (hostBits.every((bit) => bit === 0)) return false;
  return bits === 128 || hostBits.includes(0);
}

function hasSameBits(a: IpAddress, b: IpAddress, count: number): boolean {
  if (a.bytes.length !== b.bytes.length) return false;
  for (let at = 0; at < count; at += 1) if (bitOf(a, at) !== bitOf(b, at)) return false;
  return true;
}

function bitOf({ bytes }: IpAddress, at: number): number {
  return ((bytes[at >> 3] as number) >> (7 - (at & 7))) & 1;
}
