import { Quantity } from 'kubenest/sdk';
import type { Container, ContainerStatus, Pod, ResourceList } from './pod-walker.ts';

/** Quantities by resource name. */
export type Amounts = Map<string, Quantity>;
type Which = 'requests' | 'limits';

export interface PodResourcesOptions {
  /** True for resources that can be specified at pod level, where they replace the sum of the containers. */
  readonly isPodLevelResource: (name: string) => boolean;
  /** True if the resources that a container still holds during a resize are included. */
  readonly useStatus?: boolean;
  /** True if the pod's overhead is included. */
  readonly overhead?: boolean;
}

export function amountsOf(list: ResourceList | undefined): Amounts {
  return new Map(Object.entries(list ?? {}).map(([name, text]) => [name, Quantity.parse(text)]));
}

/** Adds `more` to `amounts` in place. */
export function addAmounts(amounts: Amounts, more: ReadonlyMap<string, Quantity>): void {
  for (const [name, quantity] of more) amounts.set(name, amounts.get(name)?.add(quantity) ?? quantity);
}

function raise(amounts: Amounts, least: ReadonlyMap<string, Quantity>): void {
  for (const [name, quantity] of least) {
    const present = amounts.get(name);
    if (!present || quantity.compare(present) > 0) amounts.set(name, quantity);
  }
}

/**
 * True for resources that pods can specify as a whole since PodLevelResources. Upstream: component-helpers/resource
 * (IsSupportedPodLevelResource).
 */
export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

/**
 * Returns the requests or limits of a pod: the sum of its containers and sidecars, or the maximum of an init container plus
 * the sidecars before it, whichever is larger; pod-level resources replace it. Upstream: component-helpers/resource
 * (PodRequests, PodLimits).
 */
export function podResources(pod: Pod, which: Which, options: PodResourcesOptions): Amounts {
  const total = aggregate(pod, which, options.useStatus ?? false);
  for (const [name, quantity] of amountsOf(pod.spec.resources?.[which])) if (options.isPodLevelResource(name)) total.set(name, quantity);
  if (options.overhead) {
    for (const [name, quantity] of amountsOf(pod.spec.overhead)) {
      const present = total.get(name);
      if (which === 'requests') total.set(name, present?.add(quantity) ?? quantity);
      else if (present && present.sign !== 0) total.set(name, present.add(quantity));
    }
  }
  return total;
}

function aggregate(pod: Pod, which: Which, useStatus: boolean): Amounts {
  const total: Amounts = new Map();
  for (const container of pod.spec.containers ?? []) addAmounts(total, needsOf(pod, container, which, useStatus));
  const sidecars: Amounts = new Map();
  const most: Amounts = new Map();
  for (const container of pod.spec.initContainers ?? []) {
    if (isSidecar(container)) {
      const needs = needsOf(pod, container, which, useStatus);
      addAmounts(total, needs);
      addAmounts(sidecars, needs);
      raise(most, sidecars);
    } else {
      const needs = needsOf(pod, container, which, false);
      addAmounts(needs, sidecars);
      raise(most, needs);
    }
  }
  raise(total, most);
  return total;
}

export function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === 'Always';
}

function needsOf(pod: Pod, container: Container, which: Which, useStatus: boolean): Amounts {
  const wanted = amountsOf(container.resources?.[which]);
  const status = useStatus ? statusOf(pod, container.name) : undefined;
  if (!status?.resources) return wanted;
  const actual = amountsOf(status.resources[which]);
  if (which === 'requests') raise(actual, amountsOf(status.allocatedResources));
  if (!isResizeInfeasible(pod)) raise(actual, wanted);
  return actual;
}

function statusOf({ status }: Pod, name: string): ContainerStatus | undefined {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return all.findLast((one) => one.name === name);
}

function isResizeInfeasible({ status }: Pod): boolean {
  return status?.conditions?.find(({ type }) => type === 'PodResizePending')?.reason === 'Infeasible';
}

/**
 * True for the QoS class BestEffort: taken from the status if set; otherwise true if no cpu or memory is requested or
 * limited, by the pod-level resources if there are any, else by any container. Upstream:
 * kubernetes/pkg/apis/core/v1/helper/qos.
 */
export function isBestEffort({ spec, status }: Pod): boolean {
  if (status?.qosClass) return status.qosClass === 'BestEffort';
  const all = spec.resources
    ? [spec.resources]
    : [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ resources }) => resources);
  return all.every((one) =>
    [one?.requests, one?.limits].every((list) =>
      [...amountsOf(list)].every(([name, quantity]) => (name !== 'cpu' && name !== 'memory') || quantity.sign <= 0),
    ),
  );
}
