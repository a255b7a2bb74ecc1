import { Counter, type Registry } from 'prom-client';

/** Coordinates of a resource, as labels. */
export interface ResourceLabels {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

const resourceLabels = ['group', 'version', 'resource'] as const;

/** Metrics of requests that peers serve, and of their discovery. Upstream: apiserver/pkg/util/peerproxy/metrics. */
export class PeerMetrics {
  readonly #proxied: Counter<'code' | keyof ResourceLabels>;
  readonly #proxyErrors: Counter<'type' | keyof ResourceLabels>;
  readonly #discoveryErrors: Counter<'type'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#proxied = new Counter({
      name: 'apiserver_rerouted_request_total',
      help: "Total number of requests that were proxied to a peer kube-apiserver because the local apiserver was not capable of serving it, broken down by 'group', 'version', and 'resource' indicating the GVR of the request. If all three are empty (\"\"), the request is a discovery request.",
      labelNames: ['code', ...resourceLabels],
      registers,
    });
    this.#proxyErrors = new Counter({
      name: 'apiserver_peer_proxy_errors_total',
      help: 'Total number of errors encountered while proxying requests to a peer kube apiserver',
      labelNames: ['type', ...resourceLabels],
      registers,
    });
    this.#discoveryErrors = new Counter({
      name: 'apiserver_peer_discovery_sync_errors_total',
      help: 'Total number of errors encountered while syncing discovery information from a peer kube-apiserver',
      labelNames: ['type'],
      registers,
    });
  }

  /** @param code HTTP status of the response */
  proxied(code: number, resource: ResourceLabels): void {
    this.#proxied.inc({ code: String(code), ...resource });
  }

  /** Called for a request whose peers have no endpoint. */
  hasNoEndpoint(resource: ResourceLabels): void {
    this.#proxyErrors.inc({ type: 'endpoint_resolution', ...resource });
  }

  /** Called if the discovery of a peer could not be read. */
  discoveryFailed(type: 'hostport_resolution' | 'fetch_discovery'): void {
    this.#discoveryErrors.inc({ type });
  }
}
