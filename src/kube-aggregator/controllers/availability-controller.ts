import type { QueueMetrics } from '#apiserver/base/metrics/workqueue-metrics';
import { deepEqual } from '#apimachinery/runtime/equality';
import { now } from '#apimachinery/runtime/time';
import type { LoopbackClient, LoopbackTarget } from '#apiserver/server/loopback-client';
import type { APIService } from '#kube-aggregator/schema/apiregistration_v1.gen';
import type { ExtensionServer } from '../apiserver/extension-server.ts';
import { urlOf } from '../apiserver/remote-server.ts';
import {
  type Availability,
  type EndpointSliceObject,
  failedDiscoveryCheck,
  localAvailability,
  passedAvailability,
  type ServiceObject,
  serviceProblem,
  withAvailability,
} from './availability.ts';
import { KeyedQueue } from './keyed-queue.ts';

export const apiServicesTarget: LoopbackTarget = { group: 'apiregistration.k8s.io', version: 'v1', resource: 'apiservices' };
const statusTarget: LoopbackTarget = { ...apiServicesTarget, subresource: 'status' };
const servicesTarget: LoopbackTarget = { group: '', version: 'v1', resource: 'services' };
const slicesTarget: LoopbackTarget = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' };
const serviceNameLabel = 'kubernetes.io/service-name';

const attempts = 5;
const attemptTimeoutMs = 5_000;
/** A member of system:masters, so that extension servers authorize it. */
export const aggregatorUser = { name: 'system:kube-aggregator', groups: ['system:masters'] };

export interface AvailabilityControllerOptions {
  readonly client: LoopbackClient;
  /** Returns the server of an APIService that has a service. */
  server(name: string): ExtensionServer | undefined;
  onError(error: unknown): void;
  readonly queueMetrics?: QueueMetrics | undefined;
}

/**
 * Maintains the condition Available of APIServices. Those without a service are always available; for the others it checks the service, its
 * endpoints and the server's discovery after each change, and every 30 seconds. Upstream: kube-aggregator/pkg/controllers/status.
 */
export class AvailabilityController implements Disposable {
  readonly #apiServices = new Map<string, APIService>();
  readonly #queue: KeyedQueue;
  readonly #subscriptions = new DisposableStack();

  constructor(readonly options: AvailabilityControllerOptions) {
    this.#queue = new KeyedQueue({
      work: (name) => this.#sync(name),
      firstRetryMs: 5,
      lastRetryMs: 30_000,
      resyncMs: 30_000,
      onError: options.onError,
      metrics: options.queueMetrics,
    });
  }

  start(): void {
    const { client } = this.options;
    const services = client.informer<ServiceObject>(servicesTarget);
    const slices = client.informer<EndpointSliceObject>(slicesTarget);
    this.#subscriptions.use(services.subscribe((_type, { metadata }) => this.#serviceChanged(metadata.namespace, metadata.name)));
    this.#subscriptions.use(
      slices.subscribe((_type, { metadata }) => this.#serviceChanged(metadata.namespace, metadata.labels?.[serviceNameLabel])),
    );
  }

  /** Must be called for each change. */
  observe(type: 'ADDED' | 'MODIFIED' | 'DELETED', apiService: APIService): void {
    const { name = '' } = apiService.metadata;
    if (type === 'DELETED') {
      this.#apiServices.delete(name);
      this.#queue.forget(name);
      return;
    }
    if (!apiService.spec?.service && !withAvailability(apiService.status, localAvailability, '')) {
      this.#apiServices.delete(name);
      this.#queue.forget(name);
      return;
    }
    this.#apiServices.set(name, apiService);
    this.#queue.add(name);
  }

  [Symbol.dispose](): void {
    this.#subscriptions.dispose();
    this.#queue[Symbol.dispose]();
  }

  #serviceChanged(namespace: string | undefined, name: string | undefined): void {
    for (const [apiService, { spec }] of this.#apiServices)
      if (spec?.service?.name === name && spec?.service?.namespace === namespace) this.#queue.add(apiService);
  }

  async #sync(name: string): Promise<boolean> {
    const apiService = this.#apiServices.get(name);
    if (!apiService) return true;
    const availability = await this.#check(name, apiService);
    await this.options.client.update(statusTarget, '', name, (object) => {
      const current = object as APIService;
      // A concurrent change triggers another check.
      if (!deepEqual(current.spec, apiService.spec)) return undefined;
      const status = withAvailability(current.status, availability, now());
      return status && { ...current, status };
    });
    return availability.reason !== 'FailedDiscoveryCheck';
  }

  async #check(name: string, { spec = {} }: APIService): Promise<Availability> {
    const { service } = spec;
    if (!service) return localAvailability;
    const { client } = this.options;
    const { namespace = '' } = service;
    const present = client.informer<ServiceObject>(servicesTarget).get(namespace, service.name ?? '');
    const slices = client
      .informer<EndpointSliceObject>(slicesTarget)
      .list(namespace)
      .filter(({ metadata }) => metadata.labels?.[serviceNameLabel] === service.name);
    const problem = serviceProblem(service, present, slices);
    if (problem) return problem;
    const server = this.options.server(name);
    if (!server) return passedAvailability;
    return askDiscovery(server, name === 'v1.' ? '/api/v1' : `/apis/${spec.group}/${spec.version}`);
  }
}

/** Sends several requests in parallel: one good response is enough. */
async function askDiscovery(server: ExtensionServer, path: string): Promise<Availability> {
  try {
    await Promise.any(Array.from({ length: attempts }, () => askOnce(server, path)));
    return passedAvailability;
  } catch (error) {
    const last: unknown = (error as AggregateError).errors.at(-1);
    return failedDiscoveryCheck((last as Error).message);
  }
}

async function askOnce(server: ExtensionServer, path: string): Promise<void> {
  const endpoint = server.resolve();
  const url = urlOf(endpoint, path);
  const problem = await server.get(path, { user: aggregatorUser, timeoutMs: attemptTimeoutMs }, endpoint).then(
    ({ status }) => (status >= 200 && status < 300 ? undefined : `bad status from ${url}: ${status}`),
    (error: unknown) => (error as Error).message,
  );
  if (problem !== undefined) throw new Error(`failing or missing response from ${url}: ${problem}`);
}
