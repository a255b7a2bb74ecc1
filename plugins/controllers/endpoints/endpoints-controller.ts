import {
  Controller,
  ControllerClient,
  deepEqual,
  EventRecorder,
  inject,
  type KubeObject,
  type ReconcileRequest,
  RequestQueue,
  type SharedInformer,
  SharedInformers,
  Watches,
} from 'kubenest/sdk';
import type { Endpoints, EndpointSubset, Pod, Service } from 'kubenest/types/core_v1';
import { asManager } from '../common/as-manager.ts';
import { isNamespaceTerminating } from '../common/namespace-terminating.ts';
import { isHeadless, podsOf, servicesOfPod, TriggerTimes, triggerTimeAnnotation } from '../common/service-endpoints.ts';
import { comparable, subsetsOf, truncated } from './subsets.ts';

const services = { group: '', version: 'v1', resource: 'services', kind: 'Service' } as const;
const endpoints = { group: '', version: 'v1', resource: 'endpoints' };
const pods = { group: '', resource: 'pods' };
const headlessLabel = 'service.kubernetes.io/headless';
const managedByLabel = 'endpoints.kubernetes.io/managed-by';
const manager = 'endpoint-controller';
const capacityAnnotation = 'endpoints.kubernetes.io/over-capacity';
/** Endpoints with this annotation are locks of old leader elections. */
const electionAnnotation = 'control-plane.alpha.kubernetes.io/leader';

/** Keeps the Endpoints of services with a selector. Upstream: pkg/controller/endpoint/endpoints_controller.go. */
@Controller({
  name: 'endpoints-controller',
  serviceAccount: 'endpoint-controller',
  component: 'endpoint-controller',
  for: services,
  concurrency: 5,
  ...asManager,
})
export class EndpointsController {
  readonly #services: SharedInformer<Service>;
  readonly #endpoints: SharedInformer<Endpoints>;
  readonly #pods: SharedInformer<Pod>;
  readonly #triggerTimes = new TriggerTimes();

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(EventRecorder) private readonly recorder: EventRecorder,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(RequestQueue) private readonly queue: RequestQueue,
  ) {
    this.#services = informers.for<Service>(services);
    this.#endpoints = informers.for<Endpoints>(endpoints);
    this.#pods = informers.for<Pod>(pods);
  }

  @Watches(pods)
  requestsOfPod(pod: Pod, old: Pod | undefined): Iterable<ReconcileRequest> {
    return servicesOfPod(this.#services, pod, old);
  }

  /** Endpoints that a client created need no service; those that were deleted are created again. */
  @Watches(endpoints)
  *requestsOfEndpoints({ metadata: { namespace = '', name = '' } }: KubeObject): Iterable<ReconcileRequest> {
    if (this.#endpoints.get(namespace, name) === undefined) yield { namespace, name };
  }

  /** Looks for Endpoints whose service was deleted while no controller ran. */
  run(): void {
    for (const { metadata } of this.#endpoints.list()) {
      const { namespace = '', name = '', annotations } = metadata;
      if (!annotations?.[electionAnnotation]) this.queue.add({ namespace, name });
    }
  }

  async reconcile({ namespace, name }: ReconcileRequest): Promise<void> {
    const service = this.#services.get(namespace, name);
    const present = this.#endpoints.get(namespace, name);
    if (!service) {
      this.#triggerTimes.forget(`${namespace}/${name}`);
      if (present) await this.client.remove(endpoints, namespace, name);
      return;
    }
    if (service.spec?.type === 'ExternalName' || !service.spec?.selector) return;
    const selected = podsOf(service, this.#pods);
    const triggerTime = this.#triggerTimes.of(service, selected);
    const subsets = subsetsOf(service, selected);
    const cut = truncated(subsets);
    const labels = labelsOf(service);
    if (present && isUpToDate(present, cut ?? subsets, labels, cut !== undefined)) return;
    const { [triggerTimeAnnotation]: _time, [capacityAnnotation]: _capacity, ...kept } = present?.metadata.annotations ?? {};
    const annotations = {
      ...kept,
      ...(triggerTime && { [triggerTimeAnnotation]: triggerTime }),
      ...(cut && { [capacityAnnotation]: 'truncated' }),
    };
    const metadata = { ...(present?.metadata ?? { namespace, name }), labels, annotations };
    await this.#write({ apiVersion: 'v1', kind: 'Endpoints', metadata, subsets: cut ?? subsets }, present !== undefined);
  }

  async #write(object: Endpoints, isPresent: boolean): Promise<void> {
    const { namespace, name } = object.metadata;
    try {
      await (isPresent ? this.client.replace(endpoints, object) : this.client.create(endpoints, object));
    } catch (error) {
      if (isNamespaceTerminating(error)) return;
      const [reason, text] = isPresent
        ? ['FailedToUpdateEndpoint', `Failed to update endpoint ${namespace}/${name}`]
        : ['FailedToCreateEndpoint', `Failed to create endpoint for service ${namespace}/${name}`];
      this.recorder.event(object, 'Warning', reason, `${text}: ${(error as Error).message}`);
      throw error;
    }
  }
}

function labelsOf(service: Service): Record<string, string> {
  const { [headlessLabel]: _, ...labels } = service.metadata.labels ?? {};
  return { ...labels, ...(isHeadless(service) && { [headlessLabel]: '' }), [managedByLabel]: manager };
}

function isUpToDate(
  { subsets: present, metadata }: Endpoints,
  subsets: readonly EndpointSubset[],
  labels: Readonly<Record<string, string>>,
  isCut: boolean,
): boolean {
  const hasAnnotation = metadata.annotations?.[capacityAnnotation] !== undefined;
  return hasAnnotation === isCut && deepEqual(metadata.labels ?? {}, labels) && comparable(present ?? []) === comparable(subsets);
}
