import {
  addFinalizer,
  Controller,
  ControllerClient,
  deepCopy,
  deepEqual,
  EventRecorder,
  hasFinalizer,
  inject,
  isConflict,
  isNotFound,
  keyOf,
  type ReconcileRequest,
  type ReconcileResult,
  removeFinalizer,
  type SharedInformer,
  SharedInformers,
} from 'kubenest/sdk';
import type { LoadBalancerStatus, Service } from 'kubenest/types/core_v1';
import { AddressRange } from './address-range.ts';

const services = { group: '', version: 'v1', resource: 'services', kind: 'Service' } as const;
const finalizer = 'service.kubernetes.io/load-balancer-cleanup';

/**
 * Load balancer of the simulated nodes: gives services of type LoadBalancer an address, behind which nothing listens. Services with a
 * class are left to its own controller. Upstream: cloud-provider/controllers/service.
 */
@Controller({
  name: 'service-lb-controller',
  serviceAccount: 'service-controller',
  component: 'service-controller',
  for: services,
  lease: 'kubenest-nodes',
  events: 'v1',
})
export class SimulatedLoadBalancer {
  readonly #services: SharedInformer<Service>;
  readonly #range = new AddressRange([198, 18, 0, 0], 15);
  /** Addresses that were given, by the key of the service: the informer may not show them yet. */
  readonly #given = new Map<string, string>();

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(EventRecorder) private readonly recorder: EventRecorder,
    @inject(SharedInformers) informers: SharedInformers,
  ) {
    this.#services = informers.for<Service>(services);
  }

  async reconcile({ namespace, name }: ReconcileRequest): Promise<ReconcileResult> {
    const service = this.#services.get(namespace, name);
    if (!service || !wantsLoadBalancer(service)) this.#given.delete(`${namespace}/${name}`);
    try {
      if (service && wantsLoadBalancer(service) && !service.metadata.deletionTimestamp) await this.#ensure(service);
      else if (service && hasFinalizer(service, finalizer)) await this.#delete(service);
      return {};
    } catch (error) {
      if (isConflict(error)) return { requeue: true };
      if (!isNotFound(error)) throw error;
      return {};
    }
  }

  async #ensure(service: Service): Promise<void> {
    const present = service.status?.loadBalancer?.ingress?.[0]?.ip;
    if (present && hasFinalizer(service, finalizer)) return;
    this.recorder.event(service, 'Normal', 'EnsuringLoadBalancer', 'Ensuring load balancer');
    const copy = deepCopy(service);
    if (addFinalizer(copy, finalizer)) await this.#patchFinalizers(copy);
    const ip = present ?? this.#given.get(keyOf(service)) ?? this.#range.free(this.#takenAddresses(), service.spec?.loadBalancerIP);
    if (ip === undefined) {
      this.recorder.event(service, 'Warning', 'SyncLoadBalancerFailed', 'Error syncing load balancer: no address is free');
      return;
    }
    this.#given.set(keyOf(service), ip);
    this.recorder.event(service, 'Normal', 'EnsuredLoadBalancer', 'Ensured load balancer');
    await this.#patchStatus(service, { ingress: [{ ip, ipMode: 'VIP' }] });
  }

  async #delete(service: Service): Promise<void> {
    this.recorder.event(service, 'Normal', 'DeletingLoadBalancer', 'Deleting load balancer');
    const copy = deepCopy(await this.#patchStatus(service, {}));
    removeFinalizer(copy, finalizer);
    await this.#patchFinalizers(copy);
    this.recorder.event(service, 'Normal', 'DeletedLoadBalancer', 'Deleted load balancer');
  }

  #takenAddresses(): Set<string> {
    const shown = this.#services.list().flatMap(({ status }) => status?.loadBalancer?.ingress?.map(({ ip = '' }) => ip) ?? []);
    return new Set([...shown, ...this.#given.values()]);
  }

  /** The finalizers are written through the status, as upstream does: the role of the controller allows no more. */
  async #patchFinalizers({ metadata }: Service): Promise<void> {
    const { namespace = '', name = '', finalizers, resourceVersion } = metadata;
    const patch = { metadata: { finalizers, resourceVersion } };
    await this.client.patch({ ...services, subresource: 'status' }, namespace, name, { type: 'merge', patch });
  }

  async #patchStatus(service: Service, loadBalancer: LoadBalancerStatus): Promise<Service> {
    const { metadata, status } = service;
    if (deepEqual(status?.loadBalancer ?? {}, loadBalancer)) return service;
    const patch = { metadata: { uid: metadata.uid }, status: { loadBalancer: { ingress: loadBalancer.ingress ?? null } } };
    const target = { ...services, subresource: 'status' };
    return this.client.patch<Service>(target, metadata.namespace ?? '', metadata.name ?? '', { type: 'merge', patch });
  }
}

function wantsLoadBalancer({ spec }: Service): boolean {
  return spec?.type === 'LoadBalancer' && spec.loadBalancerClass === undefined;
}
