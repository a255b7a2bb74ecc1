import { hostname } from 'node:os';
import type { Endpoint } from '#apiserver/network/endpoint';
import type { LeaderElectionTimers } from './leader-election/leader-elector.ts';
import type { PortRange } from './services/port-bitmap.ts';

/** Feature gate of the UIDs of users that proxies vouch for. */
export const remoteUidGate = 'RemoteRequestHeaderUID';

/** Request header authentication for extension API servers behind this one: the `--requestheader-…` flags. */
export interface RequestHeaderInfo {
  /** CA bundle for client certificates of proxies, in PEM. */
  readonly clientCa: string;
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
  readonly allowedNames: readonly string[];
}

export interface ControlPlaneOptions {
  /** `--service-node-port-range` */
  readonly serviceNodePortRange: PortRange;
  /** `--advertise-address`; undefined to derive it from the bind address and the network interfaces. */
  readonly advertiseAddress: string | undefined;
  /** `--peer-advertise-ip` and `--peer-advertise-port`; undefined: the advertised address. */
  readonly peerEndpoint: Endpoint | undefined;
  /** Name of the machine, from which the identity of the server among those on the same store is derived. */
  readonly host: string;
  /** `--kubernetes-service-node-port`; 0 for a service of type ClusterIP. */
  readonly kubernetesServiceNodePort: number;
  /**
   * `--endpoint-reconciler-type`: the endpoints of the kubernetes service are the servers that hold a lease (`lease`), or as many as
   * `--apiserver-count` (`master-count`); `none` leaves them unmanaged.
   */
  readonly endpointReconcilerType: 'lease' | 'none' | 'master-count';
  /** `--apiserver-count` */
  readonly apiserverCount: number;
  /** undefined if request header authentication is off. */
  readonly requestHeader: RequestHeaderInfo | undefined;
  /** `--coordinated-leadership-…`: timers of the election of the server that elects leaders for other components. */
  readonly leadership: LeaderElectionTimers;
}

/** Upstream's defaults. */
export const defaultControlPlaneOptions: ControlPlaneOptions = {
  serviceNodePortRange: { base: 30_000, size: 2_768 },
  advertiseAddress: undefined,
  peerEndpoint: undefined,
  host: hostname(),
  kubernetesServiceNodePort: 0,
  endpointReconcilerType: 'lease',
  apiserverCount: 1,
  requestHeader: undefined,
  leadership: { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 },
};
