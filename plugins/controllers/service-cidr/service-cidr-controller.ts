import {
  Clock,
  Controller,
  ControllerClient,
  EventRecorder,
  formatTime,
  hasFinalizer,
  inject,
  isNotFound,
  type KubeObject,
  parseTime,
  type ReconcileRequest,
  type ReconcileResult,
  type SharedInformer,
  SharedInformers,
  Watches,
} from 'kubenest/sdk';
import type { IPAddress, ServiceCIDR } from 'kubenest/types/networking_v1';
import { parseIPSloppy } from '#sdk/internal';
import { asManager } from '../common/as-manager.ts';
import { findCondition } from '../common/conditions.ts';
import { containsAddress, containsPrefix, overlaps, prefixesOf } from './prefixes.ts';

const serviceCidrs = {
  group: 'networking.k8s.io',
  version: 'v1',
  resource: 'servicecidrs',
  kind: 'ServiceCIDR',
  isClusterScoped: true,
} as const;
const ipAddresses = { group: 'networking.k8s.io', resource: 'ipaddresses' } as const;
const finalizer = 'networking.k8s.io/service-cidr-finalizer';
const fieldManager = 'service-cidr-controller';
/** Value of the label of the addresses that the API server allocates. Upstream: ipallocator.ControllerName. */
const allocator = 'ipallocator.k8s.io';
const managedBy = 'ipaddress.kubernetes.io/managed-by';
/** Time for which a deleted range is kept, so that all API servers know that they must not allocate from it. */
const graceMs = 10_000;

const ready = { status: 'True', reason: '', message: 'Kubernetes Service CIDR is ready' };
const terminating = {
  status: 'False',
  reason: 'Terminating',
  message: 'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
};

/**
 * Keeps the address ranges of Services, by a finalizer, as long as Services have addresses that no other range contains. Upstream:
 * pkg/controller/servicecidrs.
 */
@Controller({
  name: 'service-cidr-controller',
  serviceAccount: 'service-cidrs-controller',
  for: serviceCidrs,
  concurrency: 5,
  ...asManager,
})
export class ServiceCidrController {
  readonly #cidrs: SharedInformer<ServiceCIDR>;
  readonly #addresses: SharedInformer<IPAddress>;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(EventRecorder) private readonly recorder: EventRecorder,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(Clock) private readonly clock: Clock,
  ) {
    this.#cidrs = informers.for<ServiceCIDR>(serviceCidrs);
    this.#addresses = informers.for<IPAddress>(ipAddresses);
  }

  /** A new range may release an overlapping one that is being deleted. */
  @Watches(serviceCidrs)
  *requestsOfOverlapping(object: ServiceCIDR, old: ServiceCIDR | undefined): Iterable<ReconcileRequest> {
    if (old) return;
    const own = prefixesOf(object.spec?.cidrs);
    for (const { metadata, spec } of this.#cidrs.list()) {
      const isOverlapping = prefixesOf(spec?.cidrs).some((prefix) => own.some((one) => overlaps(one, prefix)));
      if (isOverlapping) yield { namespace: '', name: metadata.name ?? '' };
    }
  }

  /** An added or removed address may change whether its range is in use. */
  @Watches(ipAddresses)
  *requestsOfAddress({ metadata }: KubeObject, old: KubeObject | undefined): Iterable<ReconcileRequest> {
    if (old || metadata.labels?.[managedBy] !== allocator) return;
    for (const { metadata: containing } of this.#containing(metadata.name ?? '')) yield { namespace: '', name: containing.name ?? '' };
  }

  async reconcile({ name }: ReconcileRequest): Promise<ReconcileResult> {
    const cidr = this.#cidrs.get('', name);
    if (!cidr) return {};
    const { deletionTimestamp } = cidr.metadata;
    if (deletionTimestamp === undefined) {
      await this.#keep(cidr);
      return {};
    }
    if (!this.#isDispensable(cidr)) {
      await this.#setReady(cidr, terminating);
      return {};
    }
    const requeueAfterMs = parseTime(deletionTimestamp) + graceMs - this.clock.wallTime();
    if (requeueAfterMs > 0) return { requeueAfterMs };
    if (hasFinalizer(cidr, finalizer)) await this.#patch(name, { '$deleteFromPrimitiveList/finalizers': [finalizer] });
    return {};
  }

  async #keep(cidr: ServiceCIDR): Promise<void> {
    if (!hasFinalizer(cidr, finalizer)) await this.#patch(cidr.metadata.name ?? '', { finalizers: [finalizer] });
    try {
      await this.#setReady(cidr, ready);
    } catch (error) {
      this.recorder.event(cidr, 'Warning', 'KubernetesServiceCIDRError', 'The ServiceCIDR Status can not be set to Ready=True');
      throw error;
    }
  }

  /** True if other ranges contain this one, or all of its addresses that Services have. Upstream: canDeleteCIDR. */
  #isDispensable({ metadata, spec }: ServiceCIDR): boolean {
    const others = this.#cidrs.list().filter((other) => other.metadata.name !== metadata.name);
    const prefixes = prefixesOf(spec?.cidrs);
    const isContained = prefixes.every((prefix) =>
      others.some((other) => prefixesOf(other.spec?.cidrs).some((outer) => containsPrefix(outer, prefix))),
    );
    if (isContained) return true;
    const allocated = this.#addresses.list().filter((address) => address.metadata.labels?.[managedBy] === allocator);
    return !allocated.some((address) => {
      const containing = this.#containing(address.metadata.name ?? '');
      return containing.length === 1 && containing[0]?.metadata.name === metadata.name;
    });
  }

  #containing(ip: string): ServiceCIDR[] {
    const address = parseIPSloppy(ip);
    if (!address) return [];
    return this.#cidrs.list().filter(({ spec }) => prefixesOf(spec?.cidrs).some((prefix) => containsAddress(prefix, address)));
  }

  async #patch(name: string, metadata: object): Promise<void> {
    try {
      await this.client.patch(serviceCidrs, '', name, { type: 'strategic', patch: { metadata } });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async #setReady({ metadata, status }: ServiceCIDR, wanted: typeof ready): Promise<void> {
    const present = findCondition(status?.conditions, 'Ready');
    const { status: state, reason = '', message } = present ?? {};
    if (state === wanted.status && reason === wanted.reason && message === wanted.message) return;
    const condition = { type: 'Ready', ...wanted, lastTransitionTime: formatTime(this.clock.wallTime()) };
    const applied = {
      apiVersion: 'networking.k8s.io/v1',
      kind: serviceCidrs.kind,
      metadata: { name: metadata.name },
      status: { conditions: [condition] },
    };
    await this.client.apply({ ...serviceCidrs, subresource: 'status' }, applied as KubeObject, { force: true, fieldManager });
  }
}
