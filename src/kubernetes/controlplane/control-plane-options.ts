import type { LeaderElectionTimers } from './leader-election/leader-elector.ts';
import type { PortRange } from './services/port-bitmap.ts';

/** What extension API servers are told of requests that come through this one: the `--requestheader-…` flags. */
export interface RequestHeaderInfo {
  /** PEM of the authority of proxies' client certificates. */
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
  /** `--advertise-address`; undefined: found out by the bind address and this machine's networks. */
  readonly advertiseAddress: string | undefined;
  /** `--kubernetes-service-node-port`; 0: the service is of type ClusterIP. */
  readonly kubernetesServiceNodePort: number;
  /**
   * `--endpoint-reconciler-type`: the endpoints of the kubernetes service are the servers that hold a lease, or as many as there are
   * said to be; `none` leaves them to others.
   */
  readonly endpointReconcilerType: 'lease' | 'none' | 'master-count';
  /** `--apiserver-count` */
  readonly apiserverCount: number;
  /** undefined: nobody may speak for others. */
  readonly requestHeader: RequestHeaderInfo | undefined;
  /** `--coordinated-leadership-…`: which server elects leaders for others. */
  readonly leadership: LeaderElectionTimers;
}

/** Upstream's defaults. */
export const defaultControlPlaneOptions: ControlPlaneOptions = {
  serviceNodePortRange: { base: 30_000, size: 2_768 },
  advertiseAddress: undefined,
  kubernetesServiceNodePort: 0,
  endpointReconcilerType: 'lease',
  apiserverCount: 1,
  requestHeader: undefined,
  leadership: { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 },
};
