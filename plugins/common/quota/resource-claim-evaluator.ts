import { type Attributes, type Informer, type KubeObject, Quantity } from 'kubenest/sdk';
import type { DeviceClass, Pod, ResourceClaim } from 'kubenest/kinds';
import type { Amounts } from '../pod-resources.ts';
import { objectCountName, type QuotaEvaluator } from './evaluator.ts';
import { isExtendedResourceNameForQuota, type PodEvaluator } from './pod-evaluator.ts';
import { one, type QuotaAmounts } from './quota-amounts.ts';

/** The common part of exact requests and their alternatives. */
interface DeviceRequest {
  readonly deviceClassName?: string;
  readonly allocationMode?: string;
  readonly count?: number;
}

const countName = objectCountName('resource.k8s.io', 'resourceclaims');
const classSuffix = '.deviceclass.resource.k8s.io/devices';
const implicitPrefix = 'requests.deviceclass.resource.kubernetes.io/';
const extendedAnnotation = 'resource.kubernetes.io/extended-resource-claim';
/** Device limit assumed for requests of all devices. Upstream: resource/v1 (AllocationResultsMaxSize). */
const maxDevices = 32;

/**
 * Counts device claims by class and by the extended resource that represents the class. Upstream:
 * kubernetes/pkg/quota/v1/evaluator/core/resource_claims.go.
 */
export class ResourceClaimEvaluator implements QuotaEvaluator {
  constructor(
    readonly claims: Informer<ResourceClaim>,
    readonly classes: Informer<DeviceClass>,
    readonly pods: Informer<Pod>,
    readonly podEvaluator: PodEvaluator,
  ) {}

  handles({ operation, subresource }: Attributes): boolean {
    return subresource === '' && (operation === 'CREATE' || operation === 'UPDATE');
  }

  matchingResources(names: Iterable<string>): string[] {
    return [...names].filter((name) => {
      if (name === countName || name.endsWith(classSuffix)) return true;
      if (name.startsWith(implicitPrefix)) return this.#extendedName(name.slice(implicitPrefix.length)) !== '';
      return isExtendedResourceNameForQuota(name) && this.#hasClassFor(name.slice('requests.'.length));
    });
  }

  matchesScope(): boolean {
    return false;
  }

  usage(object: ResourceClaim): QuotaAmounts {
    const usage: Amounts = new Map([[countName, one]]);
    for (const { exactly, firstAvailable } of object.spec?.devices?.requests ?? []) {
      if (firstAvailable?.length) addAll(usage, mostOf(firstAvailable));
      else if (exactly) addAll(usage, mostOf([exactly]));
    }
    this.#addExtended(usage, object);
    return usage;
  }

  /** Adds extended resources, except for those already charged to the pod. */
  #addExtended(usage: Amounts, claim: ResourceClaim): void {
    const extended: Amounts = new Map();
    for (const [name, quantity] of usage) {
      if (!name.endsWith(classSuffix) || name === classSuffix) continue;
      const deviceClass = name.slice(0, -classSuffix.length);
      extended.set(implicitPrefix + deviceClass, quantity);
      const resource = this.#extendedName(deviceClass);
      if (resource !== '') extended.set(`requests.${resource}`, quantity);
    }
    const charged = this.#podUsage(claim);
    for (const [name, quantity] of extended) {
      const podQuantity = charged?.get(name);
      const rest = podQuantity ? quantity.sub(podQuantity) : quantity;
      if (rest.sign > 0) usage.set(name, rest);
    }
  }

  #extendedName(deviceClass: string): string {
    return this.classes.get('', deviceClass)?.spec?.extendedResourceName ?? '';
  }

  #hasClassFor(resource: string): boolean {
    return this.classes.list().some(({ spec }) => spec?.extendedResourceName === resource);
  }

  /** Returns the usage of the pod that the claim was created for; undefined for other claims. */
  #podUsage({ metadata }: ResourceClaim): QuotaAmounts | undefined {
    if (metadata.annotations?.[extendedAnnotation] !== 'true') return undefined;
    const owner = metadata.ownerReferences?.find(({ controller }) => controller);
    if (owner?.kind !== 'Pod' || owner.apiVersion !== 'v1') return undefined;
    const namespace = metadata.namespace ?? '';
    const pod = this.pods.get(namespace, owner.name);
    if (!pod || pod.metadata.uid !== owner.uid) return undefined;
    const claimed = pod.status?.extendedResourceClaimStatus;
    if (claimed && claimed.resourceClaimName !== metadata.name) return undefined;
    if (!claimed && this.#hasEarlierClaim(namespace, owner.uid, metadata)) return undefined;
    return this.podEvaluator.usage(pod);
  }

  #hasEarlierClaim(namespace: string, uid: string, { name = '', creationTimestamp = '' }: KubeObject['metadata']): boolean {
    return this.claims.list(namespace).some(({ metadata }) => {
      const owner = metadata.ownerReferences?.find(({ controller }) => controller);
      if (metadata.annotations?.[extendedAnnotation] !== 'true' || owner?.kind !== 'Pod' || owner.apiVersion !== 'v1' || owner.uid !== uid)
        return false;
      const created = metadata.creationTimestamp ?? '';
      return created < creationTimestamp || (created === creationTimestamp && (metadata.name ?? '') < name);
    });
  }
}

function addAll(usage: Amounts, more: QuotaAmounts): void {
  for (const [name, quantity] of more) usage.set(name, usage.get(name)?.add(quantity) ?? quantity);
}

/** Returns the maximum for each class over alternative requests. */
function mostOf(requests: readonly DeviceRequest[]): Amounts {
  const most: Amounts = new Map();
  for (const { deviceClassName = '', allocationMode, count = 0 } of requests) {
    const devices = Quantity.fromInteger(allocationMode === 'All' ? maxDevices : allocationMode === 'ExactCount' ? count : 0);
    const name = deviceClassName + classSuffix;
    const present = most.get(name);
    if (!present || devices.compare(present) > 0) most.set(name, devices);
  }
  return most;
}
