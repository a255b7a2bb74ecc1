import {
  Controller,
  ControllerClient,
  EventRecorder,
  inject,
  type ReconcileRequest,
  type SharedInformer,
  SharedInformers,
  Watches,
} from 'kubenest/sdk';
import type { Node, Pod, Service } from 'kubenest/types/core_v1';
import type { EndpointSlice } from 'kubenest/types/discovery_v1';
import { asManager } from '../common/as-manager.ts';
import { isNamespaceTerminating } from '../common/namespace-terminating.ts';
import { podsOf, servicesOfPod, TriggerTimes, triggerTimeAnnotation } from '../common/service-endpoints.ts';
import { addressTypesOf, desiredEndpoints, managedByLabel, manager, serviceNameLabel } from './desired-slices.ts';
import { planSlices, type SlicePlan } from './plan-slices.ts';
import { TopologyHints } from './topology-hints.ts';
import { isReady, zoneLabel } from './zone-allocations.ts';

const services = { group: '', version: 'v1', resource: 'services', kind: 'Service' } as const;
const slices = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' };
const pods = { group: '', resource: 'pods' };
const nodes = { group: '', resource: 'nodes' };
/** Index of the slices of this controller by their service. */
const byService = 'endpointslice-controller/service';

/** Keeps the EndpointSlices of services with a selector. Upstream: pkg/controller/endpointslice, k8s.io/endpointslice. */
@Controller({
  name: 'endpointslice-controller',
  component: 'endpoint-slice-controller',
  for: services,
  concurrency: 5,
  // Each failure records an event. Upstream also waits for a second first, even after a conflict.
  minBackoffMs: 100,
  ...asManager,
})
export class EndpointSliceController {
  readonly #services: SharedInformer<Service>;
  readonly #slices: SharedInformer<EndpointSlice>;
  readonly #pods: SharedInformer<Pod>;
  readonly #nodes: SharedInformer<Node>;
  readonly #triggerTimes = new TriggerTimes();
  readonly #hints = new TopologyHints(() => this.#nodes.list());

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(EventRecorder) private readonly recorder: EventRecorder,
    @inject(SharedInformers) informers: SharedInformers,
  ) {
    this.#services = informers.for<Service>(services);
    this.#slices = informers.for<EndpointSlice>(slices);
    this.#pods = informers.for<Pod>(pods);
    this.#nodes = informers.for<Node>(nodes);
    this.#slices.addIndex(byService, (slice) => [...requestsOf(slice)].map(({ namespace, name }) => `${namespace}/${name}`));
  }

  @Watches(pods)
  requestsOfPod(pod: Pod, old: Pod | undefined): Iterable<ReconcileRequest> {
    return servicesOfPod(this.#services, pod, old);
  }

  @Watches(slices)
  requestsOfSlice(slice: EndpointSlice): Iterable<ReconcileRequest> {
    return requestsOf(slice);
  }

  /** Services of pods on a node that appears, or changes its zone, and those whose endpoints must go to other zones then. */
  @Watches(nodes)
  *requestsOfNode(node: Node, old: Node | undefined): Iterable<ReconcileRequest> {
    const zone = (of: Node): string | undefined => of.metadata.labels?.[zoneLabel];
    if (!old || zone(node) !== zone(old) || isReady(node) !== isReady(old)) yield* this.#hints.nodesChanged().map(requestOf);
    if (old && zone(node) === zone(old)) return;
    for (const pod of this.#pods.list())
      if (pod.spec?.nodeName === node.metadata.name) yield* servicesOfPod(this.#services, pod, undefined);
  }

  async reconcile({ namespace, name }: ReconcileRequest): Promise<void> {
    const service = this.#services.get(namespace, name);
    const key = `${namespace}/${name}`;
    // The garbage collector deletes the slices of a deleted service.
    if (!service) return this.#forget(key);
    if (service.spec?.type === 'ExternalName' || !service.spec?.selector) return;
    const selected = podsOf(service, this.#pods);
    const triggerTime = this.#triggerTimes.of(service, selected);
    const existing = this.#slices.byIndex(byService, key).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const addressTypes = addressTypesOf(service);
    const problems: string[] = [];
    for (const addressType of addressTypes) {
      const { groups, withoutNode } = desiredEndpoints(service, selected, (node) => this.#nodes.get('', node), addressType);
      const ofType = existing.filter((slice) => slice.addressType === addressType);
      const plan = planSlices(service, ofType, groups, addressType);
      const events = this.#hints.apply(service, addressType, ofType, plan);
      for (const { type, reason, message } of events) this.recorder.event(service, type, reason, message);
      await this.#write(service, plan, triggerTime);
      for (const { metadata, spec } of withoutNode)
        problems.push(`skipping Pod ${metadata.name} for Service ${key}: Node ${spec?.nodeName ?? ''} Not Found`);
    }
    const foreign = existing.filter(({ addressType }) => !addressTypes.some((type) => type === addressType));
    await this.#write(service, { create: [], update: [], delete: foreign }, triggerTime);
    if (problems.length > 0) this.#reportFailure(service, problems.join(', '));
  }

  #forget(key: string): void {
    this.#triggerTimes.forget(key);
    this.#hints.forget(key);
  }

  async #write(service: Service, plan: SlicePlan, triggerTime: string | undefined): Promise<void> {
    const stamped = (slice: EndpointSlice): EndpointSlice => {
      const { [triggerTimeAnnotation]: _, ...annotations } = slice.metadata.annotations ?? {};
      const metadata = {
        ...slice.metadata,
        annotations: triggerTime ? { ...annotations, [triggerTimeAnnotation]: triggerTime } : annotations,
      };
      return { ...slice, metadata };
    };
    try {
      // The garbage collector would delete the new slices of a service that is being deleted.
      if (!service.metadata.deletionTimestamp) for (const slice of plan.create) await this.client.create(slices, stamped(slice));
      for (const slice of plan.update) await this.client.replace(slices, stamped(slice));
      for (const { metadata } of plan.delete) await this.client.remove(slices, metadata.namespace ?? '', metadata.name as string);
    } catch (error) {
      if (isNamespaceTerminating(error)) return;
      this.#reportFailure(service, (error as Error).message);
    }
  }

  /** Reports a failure as an event and ends the reconcile, which is then repeated. */
  #reportFailure(service: Service, message: string): never {
    const { namespace, name } = service.metadata;
    this.recorder.event(
      service,
      'Warning',
      'FailedToUpdateEndpointSlices',
      `Error updating Endpoint Slices for Service ${namespace}/${name}: ${message}`,
    );
    throw new Error(message);
  }
}

function requestOf(key: string): ReconcileRequest {
  const [namespace, name] = key.split('/') as [string, string];
  return { namespace, name };
}

/** Returns the service of a slice that this controller manages. */
function* requestsOf({ metadata: { namespace = '', labels } }: EndpointSlice): Iterable<ReconcileRequest> {
  const name = labels?.[serviceNameLabel];
  if (name && labels[managedByLabel] === manager) yield { namespace, name };
}
