import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import type { Endpoint } from '#apiserver/network/endpoint';
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

/**
 * Returns the endpoint by which others reach a server that listens at `bound`; undefined without one. `configured` is its address if it is
 * not derived from that of the listener.
 */
export function advertisedEndpoint(
  configured: string | undefined,
  bound: { readonly address: string; readonly port: number } | undefined,
): Endpoint | undefined {
  if (!bound) return undefined;
  const host = configured ?? resolveAdvertiseAddress(bound.address);
  return host === undefined ? undefined : { host, port: bound.port };
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
