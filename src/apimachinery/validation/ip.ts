/**
 * IP addresses and CIDRs, in the current strict form and in the lenient one of older fields. Upstream:
 * apimachinery/pkg/util/validation/ip.go.
 */
import { quote } from '../runtime/quote.ts';
import { type FieldError, type Path, invalid } from './field.ts';

/** An address as bytes: 4 for IPv4 (also if written as `::ffff:1.2.3.4`), 16 for IPv6. */
export interface IpAddress {
  readonly bytes: readonly number[];
  /** True if it was written as an IPv4-mapped IPv6 address. */
  readonly mapped: boolean;
  /** True if an octet has a leading zero. */
  readonly leadingZeros: boolean;
}

export interface Cidr extends IpAddress {
  readonly prefix: number;
}

function parseIPv4(text: string): { bytes: number[]; leadingZeros: boolean } | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  const bytes: number[] = [];
  let leadingZeros = false;
  for (const part of parts) {
    if (!/^[0-9]+$/.test(part) || Number(part) > 255) return undefined;
    if (part.length > 1 && part.startsWith('0')) leadingZeros = true;
    bytes.push(Number(part));
  }
  return { bytes, leadingZeros };
}

/** Parses like Go's old net.ParseIP: leading zeros of octets are ignored, zones are rejected. undefined if malformed. */
export function parseIPSloppy(text: string): IpAddress | undefined {
  if (!text.includes(':')) {
    const address = parseIPv4(text);
    return address && { ...address, mapped: false };
  }
  let head = text;
  let tail: { bytes: number[]; leadingZeros: boolean } | undefined;
  const lastColon = text.lastIndexOf(':');
  if (text.includes('.')) {
    tail = parseIPv4(text.slice(lastColon + 1));
    if (!tail) return undefined;
    head = `${text.slice(0, lastColon + 1)}0:0`;
  }
  const halves = head.split('::');
  if (halves.length > 2) return undefined;
  const groups = halves.map((half) => (half === '' ? [] : half.split(':')));
  const count = groups.flat().length;
  if (halves.length === 2 ? count > 7 : count !== 8) return undefined;
  // Like old versions of Go, it accepts more than four digits if the first ones are zeros.
  if (!groups.flat().every((group) => /^[0-9a-fA-F]{1,8}$/.test(group) && Number.parseInt(group, 16) <= 0xffff)) return undefined;
  const longGroup = groups.flat().some((group) => group.length > 4);
  const [front, back = []] = groups as [string[], string[]?];
  const words = [...front, ...new Array<string>(8 - count).fill('0'), ...back].map((group) => Number.parseInt(group, 16));
  const bytes = words.flatMap((word) => [word >> 8, word & 0xff]);
  if (tail) bytes.splice(12, 4, ...tail.bytes);
  const mapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  return { bytes: mapped ? bytes.slice(12) : bytes, mapped, leadingZeros: longGroup || (tail?.leadingZeros ?? false) };
}

/** Parses `10.0.0.0/8`, also with host bits. undefined if malformed. */
export function parseCIDRSloppy(text: string): Cidr | undefined {
  const slash = text.indexOf('/');
  if (slash < 0) return undefined;
  const address = parseIPSloppy(text.slice(0, slash));
  const length = text.slice(slash + 1);
  if (!address || !/^[0-9]+$/.test(length)) return undefined;
  const written = Number(length);
  const ipv6 = address.mapped || address.bytes.length === 16;
  if (written > (ipv6 ? 128 : 32)) return undefined;
  return {
    ...address,
    prefix: address.mapped && written >= 96 ? written - 96 : written,
    leadingZeros: address.leadingZeros || (length.length > 1 && length.startsWith('0')),
  };
}

/** Returns the canonical text (RFC 5952). */
export function formatIP({ bytes }: Pick<IpAddress, 'bytes'>): string {
  if (bytes.length === 4) return bytes.join('.');
  const words: number[] = [];
  for (let i = 0; i < 16; i += 2) words.push((bytes[i]! << 8) | bytes[i + 1]!);
  let best = { start: -1, length: 1 };
  for (let i = 0; i < 8; i++) {
    let length = 0;
    while (i + length < 8 && words[i + length] === 0) length++;
    if (length > best.length) best = { start: i, length };
  }
  const hex = (part: number[]): string => part.map((word) => word.toString(16)).join(':');
  if (best.start < 0) return hex(words);
  return `${hex(words.slice(0, best.start))}::${hex(words.slice(best.start + best.length))}`;
}

/** Returns the address with its host bits cleared. */
function masked({ bytes, prefix }: Cidr): number[] {
  return bytes.map((byte, i) => byte & (0xff << Math.max(0, Math.min(8, 8 * (i + 1) - prefix))) & 0xff);
}

/** Formats `10.0.0.0/8` with cleared host bits. */
export function formatCIDR(cidr: Cidr): string {
  return `${formatIP({ bytes: masked(cidr) })}/${cidr.prefix}`;
}

function strictIP(path: Path, value: string, strict: boolean): { address?: IpAddress; errors: FieldError[] } {
  const address = parseIPSloppy(value);
  if (!address) return { errors: [invalid(path, value, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')] };
  const errors: FieldError[] = [];
  if (strict && address.leadingZeros) errors.push(invalid(path, value, 'must not have leading 0s'));
  else if (strict && address.mapped) errors.push(invalid(path, value, 'must not be an IPv4-mapped IPv6 address'));
  return { address, errors };
}

/** Requires an address in canonical form. */
export function isValidIP(path: Path, value: string): FieldError[] {
  const { address, errors } = strictIP(path, value, true);
  if (!address || errors.length > 0) return errors;
  const text = formatIP(address);
  return value === text ? [] : [invalid(path, value, `must be in canonical form (${quote(text)})`)];
}

const none: ReadonlySet<string> = new Set();

/** Requires an address in any form, for fields older than the strict rules; `validOldIPs` (of the stored object) are always valid. */
export function isValidIPForLegacyField(path: Path, value: string, strict: boolean, validOldIPs = none): FieldError[] {
  return validOldIPs.has(value) ? [] : strictIP(path, value, strict).errors;
}

function strictCIDR(path: Path, value: string, strict: boolean): { cidr?: Cidr; errors: FieldError[] } {
  const cidr = parseCIDRSloppy(value);
  if (!cidr) return { errors: [invalid(path, value, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')] };
  if (!strict) return { cidr, errors: [] };
  if (cidr.leadingZeros) return { cidr, errors: [invalid(path, value, 'must not have leading 0s in IP or prefix length')] };
  if (cidr.mapped) return { cidr, errors: [invalid(path, value, 'must not have an IPv4-mapped IPv6 address')] };
  const clear = masked(cidr).every((byte, i) => byte === cidr.bytes[i]);
  return { cidr, errors: clear ? [] : [invalid(path, value, 'must not have bits set beyond the prefix length')] };
}

/** Requires a subnet in canonical form. */
export function isValidCIDR(path: Path, value: string): FieldError[] {
  const { cidr, errors } = strictCIDR(path, value, true);
  if (!cidr || errors.length > 0) return errors;
  const text = formatCIDR(cidr);
  return value === text ? [] : [invalid(path, value, `must be in canonical form (${quote(text)})`)];
}

/** Requires a subnet in any form, like `isValidIPForLegacyField`. */
export function isValidCIDRForLegacyField(path: Path, value: string, strict: boolean, validOldCIDRs = none): FieldError[] {
  return validOldCIDRs.has(value) ? [] : strictCIDR(path, value, strict).errors;
}

/** Requires an address with its prefix length: `192.168.1.5/24`. */
export function isValidInterfaceAddress(path: Path, value: string): FieldError[] {
  const cidr = parseCIDRSloppy(value);
  if (!cidr) return [invalid(path, value, 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)')];
  const text = `${formatIP(cidr)}/${cidr.prefix}`;
  return value === text ? [] : [invalid(path, value, `must be in canonical form (${quote(text)})`)];
}

/** Warnings for an accepted address in an old form. The value must have passed `isValidIPForLegacyField`. */
export function getWarningsForIP(path: Path, value: string): string[] {
  const address = parseIPSloppy(value);
  if (!address) return [];
  const text = formatIP(address);
  if (address.leadingZeros || address.mapped)
    return [`${path.toString()}: non-standard IP address ${quote(value)} is invalid: use ${quote(text)}`];
  if (address.bytes.length === 16 && text !== value) {
    return [`${path.toString()}: IPv6 address ${quote(value)} should be in RFC 5952 canonical format (${quote(text)})`];
  }
  return [];
}

/** Warnings for an accepted CIDR in an old form. The value must have passed `isValidCIDRForLegacyField`. */
export function getWarningsForCIDR(path: Path, value: string): string[] {
  const cidr = parseCIDRSloppy(value);
  if (!cidr) return [];
  const warnings: string[] = [];
  const subnet = formatCIDR(cidr);
  if (!masked(cidr).every((byte, i) => byte === cidr.bytes[i])) {
    const single = `${formatIP(cidr)}/${cidr.bytes.length * 8}`;
    warnings.push(
      `${path.toString()}: CIDR value ${quote(value)} is ambiguous in this context (should be ${quote(subnet)} or ${quote(single)}?)`,
    );
  }
  if (cidr.leadingZeros || cidr.mapped) {
    warnings.push(`${path.toString()}: non-standard CIDR value ${quote(value)} is invalid: use ${quote(subnet)}`);
  }
  const text = `${formatIP(cidr)}/${cidr.prefix}`;
  if (warnings.length === 0 && cidr.bytes.length === 16 && text !== value) {
    warnings.push(`${path.toString()}: IPv6 CIDR value ${quote(value)} should be in RFC 5952 canonical format (${quote(text)})`);
  }
  return warnings;
}
