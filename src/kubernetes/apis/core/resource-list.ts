import { Quantity } from '#apimachinery/api/quantity';
import { noteKeys, presentKeys } from '#apimachinery/runtime/wide-objects';
import type { Container, PodSpec } from '#kubernetes/schema/core_v1.gen';

/** Amounts by resource name: `{ cpu: '500m', memory: '1Gi' }`, canonical quantities. */
export type ResourceList = Record<string, string>;

/** Sets an amount, also under names of Object.prototype such as `__proto__`. */
export function setAmount(list: ResourceList, name: string, amount: string): void {
  if (name === '__proto__') Object.defineProperty(list, name, { value: amount, enumerable: true, configurable: true, writable: true });
  else list[name] = amount;
}

/** Adds the amounts of `from` that `list` lacks. Returns the list, a new one if it was undefined. */
export function addMissing(list: ResourceList | undefined, from: ResourceList): ResourceList {
  const names = presentKeys(from);
  const to = list ?? {};
  for (const name of names) if (!Object.hasOwn(to, name)) setAmount(to, name, from[name]!);
  return list ?? noteKeys(to, names);
}

/** Rounds amounts up to thousandths, for compatibility with milli-value quantities. Upstream: SetDefaults_ResourceList. */
export function defaultResourceList(list: ResourceList | undefined): void {
  if (list === undefined) return;
  for (const name of presentKeys(list)) {
    const amount = list[name]!;
    if (mayBeFiner(amount)) {
      const quantity = Quantity.parse(amount);
      setAmount(list, name, finerThanMilli(quantity) ? Quantity.fromMilli(quantity.milliValue(), quantity.format).toString() : amount);
    }
  }
}

/** True if a canonical quantity may have digits below a thousandth: `5u`, `1n`, `1.0001`, `3e-6`. */
function mayBeFiner(amount: string): boolean {
  const last = amount.charCodeAt(amount.length - 1);
  return last === 0x75 || last === 0x6e || amount.includes('.') || amount.includes('e-');
}

function finerThanMilli(quantity: Quantity): boolean {
  return !Quantity.fromMilli(quantity.milliValue()).equals(quantity);
}

export const hugePagesPrefix = 'hugepages-';

export function isHugePageResourceName(name: string): boolean {
  return name.startsWith(hugePagesPrefix);
}

/** True for names without a prefix or with kubernetes.io. */
export function isNativeResource(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

/** True for resources that a pod can request as a whole. */
export function isSupportedPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || isHugePageResourceName(name);
}

type Totals = Map<string, Quantity>;

function add(totals: Totals, list: ResourceList | undefined): void {
  for (const name in list) {
    const quantity = Quantity.parse(list[name]!);
    totals.set(name, totals.get(name)?.add(quantity) ?? quantity);
  }
}

/**
 * Returns the resources that the containers of a pod need at the same time: the larger of the sum of containers and sidecars, and the need
 * of each init container together with the sidecars that started before it. `which` selects requests or limits. Upstream:
 * component-helpers/resource, AggregateContainerRequests and AggregateContainerLimits.
 */
export function aggregateContainers(spec: PodSpec, which: 'requests' | 'limits'): ReadonlyMap<string, Quantity> {
  const totals: Totals = new Map();
  for (const { resources } of spec.containers ?? []) add(totals, resources?.[which]);
  const sidecars: Totals = new Map();
  const most: Totals = new Map();
  for (const container of spec.initContainers ?? []) {
    let needs: Totals;
    if (isSidecar(container)) {
      add(totals, container.resources?.[which]);
      add(sidecars, container.resources?.[which]);
      needs = sidecars;
    } else {
      needs = new Map();
      add(needs, container.resources?.[which]);
      for (const [name, quantity] of sidecars) needs.set(name, needs.get(name)?.add(quantity) ?? quantity);
    }
    raise(most, needs);
  }
  raise(totals, most);
  return totals;
}

function raise(totals: Totals, least: Totals): void {
  for (const [name, quantity] of least) {
    const present = totals.get(name);
    if (!present || quantity.compare(present) > 0) totals.set(name, quantity);
  }
}

/** True for a sidecar: an init container that keeps running beside the main containers. */
export function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === 'Always';
}
