import type { Duplex } from 'node:stream';
import type { Endpoint } from '#apiserver/network/endpoint';

/** Destination of a connection: control plane services, cluster (nodes, pods, services) or the store. */
export type EgressType = 'controlplane' | 'cluster' | 'etcd';

/** Opens a connection that is ready for data. Rejects with an Error that states the cause, also if the signal aborts. */
export type Dial = (endpoint: Endpoint, signal?: AbortSignal) => Promise<Duplex>;

/** Selects the dialer of the server's outgoing connections. Upstream: apiserver/pkg/server/egressselector/egress_selector.go. */
export interface EgressSelector {
  /** Returns the dialer for a destination; undefined: connect directly. */
  dial(type: EgressType): Dial | undefined;
}

export const EgressSelector = Symbol.for('kubenest.EgressSelector');

/** Returns the address as used in URLs and CONNECT requests. */
export function addressOf({ host, port }: Endpoint): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
