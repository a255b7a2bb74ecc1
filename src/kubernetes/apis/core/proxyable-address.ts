import { lookup } from 'node:dns/promises';
import { newBadRequest } from '#apimachinery/api/errors';
import { parseIPSloppy } from '#apimachinery/validation/ip';

/** Go's IP.IsGlobalUnicast: true unless unspecified, loopback, link-local, multicast or broadcast. Private addresses are global unicast. */
export function isGlobalUnicast(address: string): boolean {
  const ip = parseIPSloppy(address);
  if (!ip) return false;
  const bytes = [...ip.bytes];
  const mapped = bytes.length === 16 && bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255;
  const v4 = bytes.length === 4 ? bytes : mapped ? bytes.slice(12) : undefined;
  const [first = 0, second = 0] = v4 ?? bytes;
  if (v4) {
    const isBroadcast = v4.every((byte) => byte === 255);
    const isUnspecified = v4.every((byte) => byte === 0);
    return !isBroadcast && !isUnspecified && first !== 127 && !(first === 169 && second === 254) && !(first >= 224 && first < 240);
  }
  const isUnspecifiedOrLoopback = bytes.slice(0, 15).every((byte) => byte === 0) && (bytes[15] ?? 0) <= 1;
  return !isUnspecifiedOrLoopback && first !== 0xff && !(first === 0xfe && (second & 0xc0) === 0x80);
}

/**
 * Resolves a host once and returns the address to dial, so that a second resolution cannot give another one (CVE-2020-8562). Throws
 * BadRequest for a host that must not be proxied to.
 */
export async function proxyableAddress(host: string): Promise<string> {
  let found: readonly { readonly address: string }[];
  try {
    found = await lookup(host, { all: true });
  } catch {
    throw newBadRequest(`lookup ${host}: no such host`);
  }
  const [first] = found;
  if (!first) throw newBadRequest('no addresses for hostname');
  if (!found.every(({ address }) => isGlobalUnicast(address))) throw newBadRequest('address not allowed');
  return first.address;
}
