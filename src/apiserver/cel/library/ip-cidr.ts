/** IP addresses and networks. Upstream: apiserver/pkg/cel/{ip,cidr}.go, pkg/cel/library/{ip,cidr}.go, Go's net/netip. */
import { parseAddrProblem } from '#apimachinery/runtime/netip';
import { quote } from '#apimachinery/runtime/quote';
import { formatIP, parseIPSloppy } from '#apimachinery/validation/ip';
import { func, type FunctionDeclaration, global, member } from '../check/declarations.ts';
import { boolType, intType, opaqueType, stringType } from '../check/types.ts';
import type { Library } from '../environment.ts';
import { CelError, type CelObject, noSuchOverload, type Value } from '../runtime/values.ts';

const ipType = opaqueType('net.IP');
const cidrType = opaqueType('net.CIDR');

class Ip implements CelObject {
  readonly celType = ipType;

  constructor(readonly bytes: readonly number[]) {}

  /** Size in bytes, which determines costs. */
  get size(): number {
    return this.bytes.length;
  }

  get text(): string {
    return formatIP(this);
  }

  equals(other: Value): Value {
    return other instanceof Ip ? other.text === this.text : noSuchOverload();
  }
}

class Network implements CelObject {
  readonly celType = cidrType;

  constructor(
    readonly ip: Ip,
    readonly prefix: number,
  ) {}

  get size(): number {
    return Math.ceil(this.prefix / 8);
  }

  get text(): string {
    return `${this.ip.text}/${this.prefix}`;
  }

  equals(other: Value): Value {
    return other instanceof Network ? other.text === this.text : noSuchOverload();
  }

  /** Returns the network with the host bits cleared. */
  masked(): Network {
    const bytes = this.ip.bytes.map((byte, index) => byte & (0xff << Math.max(0, Math.min(8, 8 * (index + 1) - this.prefix))) & 0xff);
    return new Network(new Ip(bytes), this.prefix);
  }

  contains(ip: Ip): boolean {
    return ip.size === this.ip.size && new Network(ip, this.prefix).masked().text === this.masked().text;
  }
}

/** Parses an address; returns the error of netip.ParseAddr if it is invalid. The caller handles IPv4-mapped IPv6 addresses. */
function parseAddress(text: string): { ip: Ip; mapped: boolean } | string {
  const percent = text.indexOf('%');
  const parsed = parseIPSloppy(percent < 0 ? text : text.slice(0, percent));
  if (!parsed || parsed.leadingZeros || (percent >= 0 && !text.includes(':'))) return parseAddrProblem(text);
  return { ip: new Ip(parsed.bytes), mapped: parsed.mapped };
}

function parseIp(text: string): Ip | CelError {
  const address = parseAddress(text);
  if (typeof address === 'string') return new CelError(`IP Address ${quote(text)} parse error during conversion from string: ${address}`);
  if (text.includes('%')) return new CelError(`IP address ${quote(text)} with zone value is not allowed`);
  return address.mapped ? new CelError(`IPv4-mapped IPv6 address ${quote(text)} is not allowed`) : address.ip;
}

/** Parses a network; returns the error of netip.ParsePrefix if it is invalid. */
function parsePrefix(text: string): Network | string {
  const slash = text.lastIndexOf('/');
  const failed = (reason: string): string =>
    `network address parse error during conversion from string: netip.ParsePrefix(${quote(text)}): ${reason}`;
  if (slash < 0) return failed("no '/'");
  const address = parseAddress(text.slice(0, slash));
  if (typeof address === 'string') return failed(address);
  if (text.includes('%')) return failed('IPv6 zones cannot be present in a prefix');
  const bits = text.slice(slash + 1);
  if (!/^(?:0|[1-9][0-9]{0,8})$/.test(bits)) return failed(`bad bits after slash: ${quote(bits)}`);
  if (address.mapped) return `IPv4-mapped IPv6 address ${quote(text)} is not allowed`;
  return Number(bits) > address.ip.size * 8 ? failed('prefix length out of range') : new Network(address.ip, Number(bits));
}

function parseNetwork(text: string): Network | CelError {
  const network = parsePrefix(text);
  return typeof network === 'string' ? new CelError(`network address parse error during conversion from string: ${network}`) : network;
}

function startsWith(bytes: readonly number[], ...start: readonly number[]): boolean {
  return start.every((byte, index) => bytes[index] === byte);
}

function isUnspecified({ bytes }: Ip): boolean {
  return bytes.every((byte) => byte === 0);
}

function isLoopback({ bytes, size }: Ip): boolean {
  return size === 4 ? bytes[0] === 127 : bytes.at(-1) === 1 && bytes.slice(0, -1).every((byte) => byte === 0);
}

function isMulticast({ bytes, size }: Ip): boolean {
  return size === 4 ? (bytes[0]! & 0xf0) === 0xe0 : bytes[0] === 0xff;
}

function isLinkLocalMulticast({ bytes, size }: Ip): boolean {
  return size === 4 ? startsWith(bytes, 224, 0, 0) : bytes[0] === 0xff && (bytes[1]! & 0x0f) === 2;
}

function isLinkLocalUnicast({ bytes, size }: Ip): boolean {
  return size === 4 ? startsWith(bytes, 169, 254) : bytes[0] === 0xfe && (bytes[1]! & 0xc0) === 0x80;
}

function isGlobalUnicast(ip: Ip): boolean {
  const broadcast = ip.size === 4 && ip.bytes.every((byte) => byte === 255);
  return !broadcast && !isUnspecified(ip) && !isLoopback(ip) && !isMulticast(ip) && !isLinkLocalUnicast(ip);
}

function ipPredicate(name: string, id: string, holds: (ip: Ip) => boolean): FunctionDeclaration {
  return func(name, member(id, [ipType], boolType, holds));
}

const ipFunctions: readonly FunctionDeclaration[] = [
  func('ip', global('string_to_ip', [stringType], ipType, parseIp)),
  func(
    'family',
    member('ip_family', [ipType], intType, ({ size }: Ip) => (size === 4 ? 4 : 6)),
  ),
  func(
    'ip.isCanonical',
    global('ip_is_canonical', [stringType], boolType, (text: string) => {
      const ip = parseIp(text);
      return ip instanceof CelError ? ip : ip.text === text;
    }),
  ),
  ipPredicate('isUnspecified', 'ip_is_unspecified', isUnspecified),
  ipPredicate('isLoopback', 'ip_is_loopback', isLoopback),
  ipPredicate('isLinkLocalMulticast', 'ip_is_link_local_multicast', isLinkLocalMulticast),
  ipPredicate('isLinkLocalUnicast', 'ip_is_link_local_unicast', isLinkLocalUnicast),
  ipPredicate('isGlobalUnicast', 'ip_is_global_unicast', isGlobalUnicast),
  func(
    'isIP',
    global('is_ip', [stringType], boolType, (text: string) => !(parseIp(text) instanceof CelError)),
  ),
  func(
    'string',
    global('ip_to_string', [ipType], stringType, ({ text }: Ip) => text),
  ),
];

function containsNetwork(network: Network, other: Network): boolean {
  return network.prefix <= other.prefix && network.contains(other.ip);
}

const cidrFunctions: readonly FunctionDeclaration[] = [
  func('cidr', global('string_to_cidr', [stringType], cidrType, parseNetwork)),
  func(
    'containsIP',
    member('cidr_contains_ip_string', [cidrType, stringType], boolType, (network: Network, text: string) => {
      const ip = parseIp(text);
      return ip instanceof CelError ? noSuchOverload() : network.contains(ip);
    }),
    member('cidr_contains_ip_ip', [cidrType, ipType], boolType, (network: Network, ip: Ip) => network.contains(ip)),
  ),
  func(
    'containsCIDR',
    member('cidr_contains_cidr_string', [cidrType, stringType], boolType, (network: Network, text: string) => {
      const other = parseNetwork(text);
      return other instanceof CelError ? other : containsNetwork(network, other);
    }),
    member('cidr_contains_cidr', [cidrType, cidrType], boolType, containsNetwork),
  ),
  func(
    'ip',
    member('cidr_ip', [cidrType], ipType, ({ ip }: Network) => ip),
  ),
  func(
    'prefixLength',
    member('cidr_prefix_length', [cidrType], intType, ({ prefix }: Network) => prefix),
  ),
  func(
    'masked',
    member('cidr_masked', [cidrType], cidrType, (network: Network) => network.masked()),
  ),
  func(
    'isCIDR',
    global('is_cidr', [stringType], boolType, (text: string) => !(parseNetwork(text) instanceof CelError)),
  ),
  func(
    'string',
    global('cidr_to_string', [cidrType], stringType, ({ text }: Network) => text),
  ),
];

export const ipCidrLibrary: Library = { functions: [...ipFunctions, ...cidrFunctions], types: [ipType, cidrType] };
