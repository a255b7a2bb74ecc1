import { deepEqual } from '#apimachinery/runtime/equality';
import type { WorkQueueMetrics } from '#apiserver/base/metrics/workqueue-metrics';
import type { DiscoverableGroup } from '#apiserver/endpoints/discovery/discovery-registry';
import type { DocumentBuilder } from '#apiserver/endpoints/openapi/document-builder';
import type { Handler } from '#apiserver/request/request-context';
import type { LoopbackClient } from '#apiserver/server/loopback-client';
import type { APIService, APIServiceSpec } from '#kube-aggregator/schema/apiregistration_v1.gen';
import { apiRegistrationGroup } from '../apis/apiregistration/group.ts';
import { isAvailable } from '../controllers/availability.ts';
import type { AvailabilityMetrics } from '../controllers/availability-metrics.ts';
import { apiServicesTarget, AvailabilityController } from '../controllers/availability-controller.ts';
import { DiscoveryManager } from '../controllers/discovery-manager.ts';
import { OpenApiController } from '../controllers/openapi-controller.ts';
import { ExtensionServer, type ExtensionServerOptions } from './extension-server.ts';
import { ProxyHandler } from './proxy-handler.ts';

export interface ApiAggregatorOptions extends ExtensionServerOptions {
  readonly client: LoopbackClient;
  /** Receives the handlers of proxied group versions, by `group/version`. */
  readonly proxied: Map<string, Handler>;
  readonly rejectsRedirects: boolean;
  readonly metrics: AvailabilityMetrics;
  readonly queues: WorkQueueMetrics;
  onDiscovery(groups: readonly DiscoverableGroup[]): void;
  onOpenApi(documents: ReadonlyMap<string, DocumentBuilder>): void;
  onError(error: unknown): void;
}

interface Registered {
  spec: APIServiceSpec;
  server: ExtensionServer;
  readonly groupVersion: string;
  readonly handler: ProxyHandler;
}

/**
 * Proxies the group versions of APIServices with a service to their servers. APIServices without a service are local and not affected.
 * Upstream: kube-aggregator/pkg/apiserver/apiserver.go.
 */
export class ApiAggregator implements Disposable {
  readonly #registered = new Map<string, Registered>();
  readonly #availability: AvailabilityController;
  readonly #discovery: DiscoveryManager;
  readonly #openApi: OpenApiController;
  readonly #servers = new Set<ExtensionServer>();
  #subscription: Disposable | undefined;

  constructor(readonly options: ApiAggregatorOptions) {
    const { client, onError, onDiscovery, onOpenApi, queues } = options;
    this.#availability = new AvailabilityController({
      client,
      onError,
      queueMetrics: queues.queue('RemoteAvailabilityController'),
      server: (name) => this.#registered.get(name)?.server,
    });
    this.#discovery = new DiscoveryManager({ onError, queueMetrics: queues.queue('discovery-manager'), onChange: onDiscovery });
    const openApiQueue = queues.queue('open_api_v3_aggregation_controller');
    this.#openApi = new OpenApiController({ onError, queueMetrics: openApiQueue, onChange: onOpenApi });
  }

  /** Resolves when the initial APIServices are served. */
  async start(): Promise<void> {
    this.#availability.start();
    this.#subscription = this.options.client.informer<APIService>(apiServicesTarget).subscribe((type, apiService) => {
      this.#follow(apiService.metadata.name ?? '', type === 'DELETED' ? undefined : apiService);
      this.#availability.observe(type, apiService);
      this.options.metrics.observe(type, apiService);
    });
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Makes new connections use the current client certificate. */
  reloadClientCertificate(): void {
    for (const [name, registered] of this.#registered) {
      this.#connect(registered);
      this.#publish(name, registered);
    }
  }

  [Symbol.dispose](): void {
    this.#subscription?.[Symbol.dispose]();
    this.#availability[Symbol.dispose]();
    this.#discovery[Symbol.dispose]();
    this.#openApi[Symbol.dispose]();
    for (const server of this.#servers) server[Symbol.dispose]();
  }

  #follow(name: string, apiService: APIService | undefined): void {
    const spec = apiService?.spec;
    const present = this.#registered.get(name);
    // The aggregator's own group is never proxied.
    if (!spec?.service || spec.group === apiRegistrationGroup.group) {
      if (present) this.#remove(name, present);
      return;
    }
    const registered = present ?? this.#add(name, spec);
    const isChanged = !deepEqual(registered.spec, spec);
    const before = registered.handler.isAvailable;
    registered.handler.isAvailable = isAvailable(apiService?.status);
    if (isChanged) {
      registered.spec = spec;
      this.#connect(registered);
    }
    if (!present || isChanged || before !== registered.handler.isAvailable) this.#publish(name, registered);
  }

  #add(name: string, spec: APIServiceSpec): Registered {
    const server = this.#newServer(spec);
    const groupVersion = `${spec.group ?? ''}/${spec.version ?? ''}`;
    const registered = { spec, server, groupVersion, handler: new ProxyHandler(server, this.options.rejectsRedirects) };
    this.#registered.set(name, registered);
    this.options.proxied.set(groupVersion, registered.handler.serve);
    return registered;
  }

  #remove(name: string, { groupVersion, server }: Registered): void {
    this.#registered.delete(name);
    this.options.proxied.delete(groupVersion);
    this.#retire(server);
    this.#discovery.set(name, undefined);
    this.#openApi.set(name, undefined);
  }

  #connect(registered: Registered): void {
    this.#retire(registered.server);
    registered.server = this.#newServer(registered.spec);
    registered.handler.server = registered.server;
  }

  #newServer(spec: APIServiceSpec): ExtensionServer {
    const server = new ExtensionServer(spec, this.options);
    this.#servers.add(server);
    return server;
  }

  #retire(server: ExtensionServer): void {
    server.retire();
    this.#servers.delete(server);
  }

  #publish(name: string, { spec, server }: Registered): void {
    const { group = '', version = '', groupPriorityMinimum = 0, versionPriority = 0 } = spec;
    this.#discovery.set(name, { group, version, groupPriorityMinimum, versionPriority, server });
    this.#openApi.set(name, {
      path: group === '' ? `api/${version}` : `apis/${group}/${version}`,
      group,
      groupPriorityMinimum,
      server,
    });
  }
}
