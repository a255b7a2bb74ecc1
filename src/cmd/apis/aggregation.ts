import type { Registry } from 'prom-client';
import type { Handler } from '#apiserver/endpoints/request/request-context';
import type { LoopbackClient } from '#apiserver/registry/loopback-client';
import type { GenericServer } from '#apiserver/server/generic-server';
import type { ServiceResolver } from '#apiserver/server/service-resolver';
import { ApiAggregator } from '#kube-aggregator/apiserver/api-aggregator';
import { AvailabilityMetrics } from '#kube-aggregator/controllers/availability-metrics';
import type { ProxyClientCertificate } from '#kube-aggregator/apiserver/extension-server';
import type { Log } from '#cmd/logging/log';
import type { Published } from '#cmd/serving/non-resource-routes';
import type { AggregationConfig } from '#cmd/server-config';

export interface AggregationParts extends Published {
  readonly server: GenericServer;
  readonly client: LoopbackClient;
  readonly services: ServiceResolver;
  readonly config: AggregationConfig;
  readonly registry: Registry;
  readonly log: Pick<Log, 'error'>;
}

/** The aggregation layer of a server. */
export interface Aggregation extends Disposable {
  reloadClientCertificate(certificate: ProxyClientCertificate | undefined): void;
}

/** Upstream starts its controllers one by one; here they are one, and health tells of all by their names. */
const hooksOfTheSameStart = [
  'start-kube-aggregator-informers',
  'apiservice-status-local-available-controller',
  'apiservice-status-remote-available-controller',
  'apiservice-discovery-controller',
  'apiservice-openapi-controller',
  'apiservice-openapiv3-controller',
];

/** Sends requests on to the servers that APIServices name, from the first moment on. */
export function installAggregation(parts: AggregationParts): Aggregation {
  const { server, client, services, config, registry, log, discovery, openApi } = parts;
  const proxied = new Map<string, Handler>();
  let certificate = config.clientCertificate;
  const aggregator = new ApiAggregator({
    client,
    services,
    proxied,
    metrics: new AvailabilityMetrics(registry),
    rejectsRedirects: config.rejectsRedirects,
    clientCertificate: () => certificate,
    onDiscovery: (groups) => discovery.set('aggregator', groups),
    onOpenApi: (documents) => openApi.setForeign(documents),
    onError: (error) =>
      log.error({ reason: error instanceof Error ? error.message : String(error) }, 'an APIService could not be brought up to date'),
  });
  server.director.proxied = proxied;
  if (certificate) server.hooks.addPostStart({ name: 'aggregator-reload-proxy-client-cert', run: () => Promise.resolve() });
  server.hooks.addPostStart({ name: 'apiservice-registration-controller', run: () => aggregator.start() });
  for (const name of hooksOfTheSameStart) server.hooks.addPostStart({ name, run: () => Promise.resolve() });
  return {
    reloadClientCertificate(next) {
      certificate = next;
      aggregator.reloadClientCertificate();
    },
    [Symbol.dispose]: () => aggregator[Symbol.dispose](),
  };
}
