import type { Registry } from 'prom-client';
import type { FeatureGates } from '#apiserver/base/feature-gates';
import type { Dial } from '#apiserver/network/egress-selector/egress-selector';
import type { GenericServer } from '#apiserver/server/generic-server';
import type { LoopbackClient } from '#apiserver/server/loopback-client';
import type { Storage } from '#apiserver/storage/storage';
import type { ProxyClientCertificate } from '#kube-aggregator/apiserver/remote-server';
import { PeerMetrics } from '#kube-aggregator/peerproxy/peer-metrics';
import { PeerProxy } from '#kube-aggregator/peerproxy/peer-proxy';
import { advertisedEndpoint } from '#kubernetes/controlplane/advertise-address';
import { type ControlPlaneOptions, defaultControlPlaneOptions } from '#kubernetes/controlplane/control-plane-options';
import { apiServerId, watchIdentities } from '#kubernetes/controlplane/identity-lease';
import { PeerEndpoints, peerProxyGate } from '#kubernetes/controlplane/peer-endpoints';
import { periodically } from '#kubernetes/controlplane/periodic';
import type { Log } from '#cmd/logging/log';
import { ServerPart } from '#cmd/modules/server-part';
import type { AggregationConfig, ServerConfig } from '#cmd/server-config';
import type { Published } from '#cmd/serving/non-resource-routes';

export interface PeerServersParts {
  readonly config: Pick<ServerConfig, 'aggregation' | 'controlPlane'>;
  readonly features: FeatureGates;
  readonly client: LoopbackClient;
  readonly storage: Storage;
  /** Dialer of connections to other servers; undefined: connect directly. */
  readonly dial: Dial | undefined;
  readonly registry: Registry;
  readonly log: Pick<Log, 'error'>;
}

const renewalMs = 10_000;

/**
 * The other servers on the same store: publishes the address of this one, and proxies requests for resources that only others serve.
 * Upstream: kubernetes/pkg/controlplane/apiserver/peer.go.
 */
@ServerPart()
export class PeerServers implements ServerPart, Disposable {
  readonly #options: ControlPlaneOptions;
  readonly #id: string;
  readonly #endpoints: PeerEndpoints;
  #certificate: ProxyClientCertificate | undefined;
  #ca: string | undefined;
  #proxy: PeerProxy | undefined;

  constructor(private readonly parts: PeerServersParts) {
    this.#options = { ...defaultControlPlaneOptions, ...parts.config.controlPlane };
    this.#id = apiServerId(this.#options.host);
    this.#endpoints = new PeerEndpoints(parts.storage);
    this.#certificate = parts.config.aggregation?.clientCertificate;
    this.#ca = parts.config.aggregation?.peerCa;
  }

  install(server: GenericServer, { discovery }: Published): void {
    if (!this.parts.features.enabled(peerProxyGate)) return;
    const { hooks, director } = server;
    const name = 'peer-endpoint-reconciler-controller';
    hooks.addPostStart({ name, run: (signal) => this.#publish(server, signal) });
    hooks.addPreShutdown({ name, run: () => this.#endpoints.remove(this.#id) });
    if (this.#ca === undefined) return;
    const proxy = new PeerProxy({
      ca: () => this.#ca as string,
      dial: this.parts.dial,
      clientCertificate: () => this.#certificate as ProxyClientCertificate,
      endpointOf: (id) => this.#endpoints.of(id),
      isShared: (group, version) => discovery.isForeign(group, version),
      onDiscovery: (servers) => discovery.setPeers(this.#id, servers),
      onError: this.#onError('cannot read the discovery of another server'),
      metrics: new PeerMetrics(this.parts.registry),
    });
    this.#proxy = proxy;
    director.elsewhere = proxy.handlerOf;
    hooks.addPostStart({
      name: 'mixed-version-proxy-handler',
      run: async (signal) => {
        const watch = watchIdentities(this.parts.client, (id, isPresent) => {
          if (id !== this.#id) isPresent ? proxy.add(id) : proxy.remove(id);
        });
        signal.addEventListener('abort', () => watch[Symbol.dispose](), { once: true });
      },
    });
    // Nothing is left to do for these hooks: served resources are known, and the events of the informer start the work.
    for (const done of ['local-discovery-cache-sync', 'peer-discovery-workers'])
      hooks.addPostStart({ name: done, run: () => Promise.resolve() });
  }

  /** Makes new connections use another client certificate and other authorities. */
  reload({ clientCertificate, peerCa }: AggregationConfig): void {
    this.#certificate = clientCertificate;
    this.#ca = peerCa;
    this.#proxy?.reconnect();
  }

  [Symbol.dispose](): void {
    this.#proxy?.[Symbol.dispose]();
  }

  async #publish({ address }: GenericServer, signal: AbortSignal): Promise<void> {
    const endpoint = this.#options.peerEndpoint ?? advertisedEndpoint(this.#options.advertiseAddress, address);
    if (!endpoint) return;
    const renew = (): Promise<void> => this.#endpoints.renew(this.#id, endpoint);
    const onError = this.#onError('cannot write the address of this server for others');
    await renew().catch(onError);
    periodically(renewalMs, signal, renew, onError);
  }

  #onError(message: string): (error: unknown) => void {
    return (error) => this.parts.log.error({ reason: error instanceof Error ? error.message : String(error) }, message);
  }
}
