import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { familyOf } from './services/address-range.ts';

/**
 * Returns the address under which other hosts reach this server: the bind address if it is specific, else the address of the interface with
 * the default route, else the first global one; undefined without a network. Upstream: apimachinery/pkg/util/net/interface.go
 * (ResolveBindAddress).
 */
export function resolveAdvertiseAddress(bindAddress: string): string | undefined {
  if (!isUnspecified(bindAddress) && !isLoopback(bindAddress)) return bindAddress;
  const interfaces = networkInterfaces();
  const route = defaultRouteInterface();
  const addresses = Object.entries(interfaces)
    .sort(([a], [b]) => Number(b === route) - Number(a === route))
    .flatMap(([, list]) => list ?? [])
    .filter(({ internal, address }) => !internal && !isLinkLocal(address));
  const wanted = familyOf(bindAddress) ?? 'IPv4';
  return (addresses.find(({ family }) => family === wanted) ?? addresses[0])?.address;
}

const isUnspecified = (address: string): boolean => address === '' || address === '0.0.0.0' || address === '::';
const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1' || address === 'localhost';
const isLinkLocal = (address: string): boolean => address.startsWith('169.254.') || address.toLowerCase().startsWith('fe80:');

/** Returns the interface of the default route on Linux; undefined elsewhere. */
function defaultRouteInterface(): string | undefined {
  let table: string;
  try {
    table = readFileSync('/proc/net/route', 'utf8');
  } catch {
    return undefined;
  }
  return table
    .split('\n')
    .map((line) => line.split('\t'))
    .find(([, destination, , flags]) => destination === '00000000' && (Number.parseInt(flags ?? '0', 16) & 2) !== 0)?.[0];
}
