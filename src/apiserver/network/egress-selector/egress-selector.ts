import type { Duplex } from 'node:stream';
import type { Endpoint } from '#apiserver/network/endpoint';

/** What a connection is for: the control plane's own services, what the server manages (nodes, pods, services), or the store. */
export type EgressType = 'controlplane' | 'cluster' | 'etcd';

/** Makes a connection that bytes can be sent on at once. Rejects with an Error that says why there is none, also when the signal aborts. */
export type Dial = (endpoint: Endpoint, signal?: AbortSignal) => Promise<Duplex>;

/** How the server's own connections leave it. Upstream: apiserver/pkg/server/egressselector/egress_selector.go. */
export interface EgressSelector {
  /** undefined: straight. */
  dial(type: EgressType): Dial | undefined;
}

export const EgressSelector = Symbol.for('kubenest.EgressSelector');

/** As it stands in URLs and in CONNECT. */
export function addressOf({ host, port }: Endpoint): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
