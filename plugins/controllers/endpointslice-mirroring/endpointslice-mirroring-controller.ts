import {
  Controller,
  ControllerClient,
  EventRecorder,
  inject,
  isConflict,
  type KubeObject,
  type ReconcileRequest,
  type ReconcileResult,
  type SharedInformer,
  SharedInformers,
  Watches,
} from 'kubenest/sdk';
import type { Endpoints, Service } from 'kubenest/types/core_v1';
import type { EndpointSlice } from 'kubenest/types/discovery_v1';
import { asManager } from '../common/as-manager.ts';
import { isNamespaceTerminating } from '../common/namespace-terminating.ts';
import { managedByLabel, serviceNameLabel } from '../endpointslice/desired-slices.ts';
import { maxEndpoints, mirrorManager, planMirror } from './mirrored-slices.ts';

const endpointsKind = { group: '', version: 'v1', resource: 'endpoints', kind: 'Endpoints' } as const;
const slices = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' };
const services = { group: '', resource: 'services' };
/** Index of the slices of this controller by their service. */
const byService = 'endpointslice-mirroring-controller/service';

/** Mirrors Endpoints of services without a selector, which users maintain, to slices. Upstream: pkg/controller/endpointslicemirroring. */
@Controller({
  name: 'endpointslice-mirroring-controller',
  serviceAccount: 'endpointslicemirroring-controller',
  component: 'endpoint-slice-mirroring-controller',
  for: endpointsKind,
  concurrency: 5,
  minBackoffMs: 100,
  maxBackoffMs: 100_000,
  ...asManager,
})
export class EndpointSliceMirroringController {
  readonly #endpoints: SharedInformer<Endpoints>;
  readonly #slices: SharedInformer<EndpointSlice>;
  readonly #services: SharedInformer<Service>;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(EventRecorder) private readonly recorder: EventRecorder,
    @inject(SharedInformers) informers: SharedInformers,
  ) {
    this.#endpoints = informers.for<Endpoints>(endpointsKind);
    this.#slices = informers.for<EndpointSlice>(slices);
    this.#services = informers.for<Service>(services);
    this.#slices.addIndex(byService, (slice) => [...requestsOf(slice)].map(({ namespace, name }) => `${namespace}/${name}`));
  }

  @Watches(services)
  *requestsOfService({ metadata: { namespace = '', name = '' } }: KubeObject): Iterable<ReconcileRequest> {
    yield { namespace, name };
  }

  @Watches(slices)
  requestsOfSlice(slice: EndpointSlice): Iterable<ReconcileRequest> {
    return requestsOf(slice);
  }

  async reconcile({ namespace, name }: ReconcileRequest): Promise<ReconcileResult> {
    const existing = this.#slices.byIndex(byService, `${namespace}/${name}`);
    const endpoints = this.#endpoints.get(namespace, name);
    const service = this.#services.get(namespace, name);
    try {
      if (endpoints && service && !service.spec?.selector && isMirrored(endpoints)) await this.#mirror(endpoints, existing);
      else await this.#deleteAll(existing);
      return {};
    } catch (error) {
      if (isConflict(error)) return { requeue: true };
      if (!isNamespaceTerminating(error)) throw error;
      return {};
    }
  }

  async #mirror(endpoints: Endpoints, existing: readonly EndpointSlice[]): Promise<void> {
    const plan = planMirror(endpoints, existing);
    const { invalidAddresses, surplusAddresses } = plan;
    if (invalidAddresses > 0) {
      const message = `Skipped ${invalidAddresses} invalid IP addresses when mirroring to EndpointSlices`;
      this.recorder.event(endpoints, 'Warning', 'InvalidIPAddress', message);
    }
    if (surplusAddresses > 0) {
      const limit = `A max of ${maxEndpoints} addresses can be mirrored to EndpointSlices per Endpoints subset.`;
      this.recorder.event(
        endpoints,
        'Warning',
        'TooManyAddressesToMirror',
        `${limit} ${surplusAddresses + invalidAddresses} addresses were skipped`,
      );
    }
    if (!endpoints.metadata.deletionTimestamp) for (const slice of plan.create) await this.client.create(slices, slice);
    for (const slice of plan.update) await this.client.replace(slices, slice);
    await this.#deleteAll(plan.delete);
  }

  async #deleteAll(due: readonly EndpointSlice[]): Promise<void> {
    for (const { metadata } of due) await this.client.remove(slices, metadata.namespace ?? '', metadata.name ?? '');
  }
}

function isMirrored({ metadata: { labels = {}, annotations = {} } }: Endpoints): boolean {
  const isElection = Object.hasOwn(annotations, 'control-plane.alpha.kubernetes.io/leader');
  return labels['endpointslice.kubernetes.io/skip-mirror'] !== 'true' && !isElection;
}

/** Returns the Endpoints of a slice that this controller manages. */
function* requestsOf({ metadata: { namespace = '', labels } }: EndpointSlice): Iterable<ReconcileRequest> {
  const name = labels?.[serviceNameLabel];
  if (name && labels[managedByLabel] === mirrorManager) yield { namespace, name };
}
