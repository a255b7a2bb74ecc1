import type { Registry } from 'prom-client';
import type { FeatureGates } from '#apiserver/base/feature-gates';
import type { Handler } from '#apiserver/request/request-context';
import type { LoopbackClient } from '#apiserver/server/loopback-client';
import type { GenericServer } from '#apiserver/server/generic-server';
import { remoteUidGate } from '#kubernetes/controlplane/control-plane-options';
import type { ServiceResolver } from '#apiserver/network/service-resolver';
import { ApiAggregator } from '#kube-aggregator/apiserver/api-aggregator';
import type { WorkQueueMetrics } from '#apiserver/base/metrics/workqueue-metrics';
import { AvailabilityMetrics } from '#kube-aggregator/controllers/availability-metrics';
import type { ProxyClientCertificate } from '#kube-aggregator/apiserver/remote-server';
import { ServerPart } from '#cmd/modules/server-part';
import type { Log } from '#cmd/logging/log';
import type { Published } from '#cmd/serving/non-resource-routes';
import type { AggregationConfig } from '#cmd/server-config';

export interface AggregationParts {
  readonly client: LoopbackClient;
  readonly services: ServiceResolver;
  readonly features: FeatureGates;
  readonly config: AggregationConfig;
  readonly registry: Registry;
  readonly queues: WorkQueueMetrics;
  readonly log: Pick<Log, 'error'>;
}

/** Upstream's hooks that this server combines in one start. Each has its own entry in the health endpoints. */
const hooksOfTheSameStart = [
  'start-kube-aggregator-informers',
  'apiservice-status-local-available-controller',
  'apiservice-status-remote-available-controller',
  'apiservice-discovery-controller',
  'apiservice-openapi-controller',
  'apiservice-openapiv3-controller',
];

/** The aggregation layer: from the start on, proxies requests to the servers that APIServices name. */
@ServerPart()
export class Aggregation implements ServerPart, Disposable {
  readonly #metrics: AvailabilityMetrics;
  #certificate: ProxyClientCertificate | undefined;
  #aggregator: ApiAggregator | undefined;

  constructor(private readonly parts: AggregationParts) {
    this.#metrics = new AvailabilityMetrics(parts.registry);
    this.#certificate = parts.config.clientCertificate;
  }

  install({ director, hooks }: GenericServer, published: Published): void {
    const proxied = new Map<string, Handler>();
    const aggregator = this.#newAggregator(proxied, published);
    this.#aggregator = aggregator;
    director.proxied = proxied;
    if (this.#certificate) hooks.addPostStart({ name: 'aggregator-reload-proxy-client-cert', run: () => Promise.resolve() });
    hooks.addPostStart({ name: 'apiservice-registration-controller', run: () => aggregator.start() });
    for (const name of hooksOfTheSameStart) hooks.addPostStart({ name, run: () => Promise.resolve() });
  }

  reloadClientCertificate(certificate: ProxyClientCertificate | undefined): void {
    this.#certificate = certificate;
    this.#aggregator?.reloadClientCertificate();
  }

  [Symbol.dispose](): void {
    this.#aggregator?.[Symbol.dispose]();
  }

  #newAggregator(proxied: Map<string, Handler>, { discovery, openApi }: Published): ApiAggregator {
    const { client, services, features, config, log } = this.parts;
    return new ApiAggregator({
      client,
      services,
      sendsUid: features.enabled(remoteUidGate),
      proxied,
      metrics: this.#metrics,
      queues: this.parts.queues,
      rejectsRedirects: config.rejectsRedirects,
      clientCertificate: () => this.#certificate,
      onDiscovery: (groups) => discovery.set('aggregator', groups),
      onOpenApi: (documents) => openApi.setForeign(documents),
      onError: (error) => log.error({ reason: error instanceof Error ? error.message : String(error) }, 'cannot update an APIService'),
    });
  }
}
