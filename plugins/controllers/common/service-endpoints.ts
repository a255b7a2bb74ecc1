import { selects } from '../../common/selectors.ts';
import { isPodReady } from './pods.ts';
import { keyOf, type ReconcileRequest, type SharedInformer } from 'kubenest/sdk';
import type { Pod, Service, ServicePort } from 'kubenest/types/core_v1';

/** Returns the services that a change of a pod concerns: those that select it before or after. */
export function* servicesOfPod(services: SharedInformer<Service>, pod: Pod, old: Pod | undefined): Iterable<ReconcileRequest> {
  if (old && !isEndpointChanged(pod, old)) return;
  const namespace = pod.metadata.namespace ?? '';
  for (const service of services.list(namespace)) {
    const { name = '' } = service.metadata;
    if (selects(service, pod.metadata.labels) || (old && selects(service, old.metadata.labels))) yield { namespace, name };
  }
}

/** True if a change of a pod can change endpoints. */
function isEndpointChanged(pod: Pod, old: Pod): boolean {
  const relevant = ({ metadata, spec, status }: Pod): unknown[] => [
    metadata.labels,
    metadata.deletionTimestamp,
    spec?.nodeName,
    spec?.hostname,
    spec?.subdomain,
    status?.phase,
    status?.podIPs,
    isPodReady({ status } as Pod),
  ];
  return JSON.stringify(relevant(pod)) !== JSON.stringify(relevant(old));
}

/** True if the pod has an address and runs. Upstream: k8s.io/endpointslice/util ShouldPodBeInEndpoints. */
export function belongsToEndpoints({ metadata, status }: Pod, includesTerminating: boolean): boolean {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return false;
  if (!status?.podIP && !status?.podIPs?.length) return false;
  return includesTerminating || metadata.deletionTimestamp === undefined;
}

/** Returns the hostname of a pod under the domain of the service; undefined if it has none. */
export function hostnameOf({ metadata, spec }: Pod, service: Service): string | undefined {
  const isNamed = spec?.hostname && spec.subdomain === service.metadata.name && metadata.namespace === service.metadata.namespace;
  return isNamed ? spec.hostname : undefined;
}

/**
 * Returns the number of a service's port in a pod; undefined if the pod has no port of its name. Upstream: k8s.io/endpointslice FindPort.
 */
export function portIn({ spec }: Pod, { targetPort, protocol }: ServicePort): number | undefined {
  if (typeof targetPort === 'number') return targetPort;
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  for (const { ports = [] } of [...(spec?.containers ?? []), ...sidecars]) {
    const port = ports.find((one) => one.name === targetPort && (one.protocol ?? 'TCP') === (protocol ?? 'TCP'));
    if (port) return port.containerPort;
  }
  return undefined;
}

/** Returns the pods that a service selects. */
export function podsOf(service: Service, pods: SharedInformer<Pod>): Pod[] {
  return pods.list(service.metadata.namespace).filter(({ metadata }) => selects(service, metadata.labels));
}

export function isHeadless({ spec }: Service): boolean {
  return !spec?.clusterIP || spec.clusterIP === 'None';
}

/** Times of the changes that endpoints reflect. */
interface Known {
  readonly service: string;
  readonly pods: ReadonlyMap<string, string>;
}

/**
 * Computes the annotation with the time of the change that led to new endpoints. Upstream: k8s.io/endpointslice/util TriggerTimeTracker.
 */
export class TriggerTimes {
  readonly #known = new Map<string, Known>();

  /** Returns the time in RFC 3339; undefined if no change has a time. */
  of(service: Service, pods: readonly Pod[]): string | undefined {
    const key = keyOf(service);
    const known = this.#known.get(key);
    const created = service.metadata.creationTimestamp ?? '';
    const times = new Map<string, string>();
    const changed: string[] = [];
    for (const { metadata, status } of pods) {
      const time = status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
      if (!time) continue;
      const name = metadata.name as string;
      times.set(name, time);
      if (time > (known?.pods.get(name) ?? '')) changed.push(time);
    }
    if (created > (known?.service ?? '')) changed.push(created);
    this.#known.set(key, { service: created, pods: times });
    return known ? changed.sort()[0] : created;
  }

  forget(key: string): void {
    this.#known.delete(key);
  }
}

export const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time';
