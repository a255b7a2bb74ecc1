import { isIPv6 } from 'node:net';
import type { ServerAddress } from '#apiserver/endpoints/discovery/discovery-registry';
import { resolveAdvertiseAddress } from '#kubernetes/controlplane/advertise-address';
import { AddressRange, parseAddress } from '#kubernetes/controlplane/services/address-range';
import type { ServerConfig } from '#cmd/server-config';

/** The parts of the configuration that determine at which addresses clients reach the server. */
export type AddressConfig = Pick<ServerConfig, 'externalHostname' | 'controlPlane' | 'serviceClusterIpRange'>;

/**
 * Returns host and port of the server for its clients; `bound` is the address of the listener. Upstream: apiserver/pkg/server/config.go
 * (Complete), server_run_options.go (ExternalHost).
 */
export function externalAddress({ externalHostname, controlPlane }: AddressConfig, bound?: { address: string; port: number }): string {
  const host = externalHostname ?? controlPlane?.advertiseAddress ?? (bound && resolveAdvertiseAddress(bound.address)) ?? '127.0.0.1';
  if (/^(?:\[.*\]|[^:]*):\d+$/.test(host)) return host;
  return joined(host, bound?.port ?? 443);
}

/**
 * Returns the addresses that discovery shows: clients with a service address also have that of the kubernetes Service. Upstream:
 * apiserver/pkg/endpoints/discovery/addresses.go, controlplane/instance.go.
 */
export function serverAddresses(
  config: AddressConfig,
  bound: { address: string; port: number } | undefined,
  clientIP: string | undefined,
): ServerAddress[] {
  const addresses = [{ clientCIDR: '0.0.0.0/0', serverAddress: externalAddress(config, bound) }];
  const range = AddressRange.parse(config.serviceClusterIpRange.split(',')[0] ?? '');
  const client = clientIP === undefined ? undefined : parseAddress(clientIP);
  if (range && client && range.includes(client.family, client.address))
    addresses.push({ clientCIDR: range.cidr, serverAddress: joined(range.format(range.first), 443) });
  return addresses;
}

function joined(host: string, port: number): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
