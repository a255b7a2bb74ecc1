/**
 * Extended resources that a DeviceClass backs: a pod requests an amount of a resource as before, and the scheduler creates a claim for
 * devices. Upstream: pkg/scheduler/framework/plugins/dynamicresources/extendeddynamicresources.go.
 */
import type { Container, ContainerExtendedResourceRequest, Pod } from 'kubenest/types/core_v1';
import type { DeviceClass, DeviceRequest, ResourceClaim } from 'kubenest/types/resource_v1';
import { isExtendedResourceName } from '../../common/resource-names.ts';
import { amountOf } from '../framework/resources.ts';

/** Start of the name of the resource that each DeviceClass backs; the rest is the name of the class. */
const classPrefix = 'deviceclass.resource.kubernetes.io/';
/** Annotation of the claims that the scheduler creates. */
const claimAnnotation = 'resource.kubernetes.io/extended-resource-claim';

/** Name of a claim in messages until it is created. */
const nameInMemory = '<extended-resources>';

/** Reads of device classes from a cache. */
interface ClassLister {
  get(namespace: string, name: string): DeviceClass | undefined;
  list(): readonly DeviceClass[];
}

/** Returns the class that backs a resource. The newer one of several has precedence, of the same age the first by name. */
export function classOfResource(resource: string, classes: ClassLister): DeviceClass | undefined {
  if (resource.startsWith(classPrefix)) return classes.get('', resource.slice(classPrefix.length));
  if (!isExtendedResourceName(resource)) return undefined;
  const created = ({ metadata }: DeviceClass): number => Date.parse(metadata.creationTimestamp ?? '');
  const isBefore = (one: DeviceClass, other: DeviceClass): boolean => (one.metadata.name ?? '') < (other.metadata.name ?? '');
  return classes
    .list()
    .filter(({ spec }) => spec?.extendedResourceName === resource)
    .reduce<DeviceClass | undefined>((best, one) => {
      const age = best && created(one) - created(best);
      return !best || (age as number) > 0 || (age === 0 && isBefore(one, best)) ? one : best;
    }, undefined);
}

/** Returns the claim that the scheduler created for the pod. */
export function extendedClaimOf({ metadata }: Pod, claims: readonly ResourceClaim[]): ResourceClaim | undefined {
  return claims.find(
    (claim) =>
      claim.metadata.annotations?.[claimAnnotation] === 'true' &&
      claim.metadata.ownerReferences?.some(({ name, uid, controller }) => controller && name === metadata.name && uid === metadata.uid),
  );
}

/** A claim to create, with the requests of the claim that each container uses. */
export interface ExtendedClaim {
  /** The name and the UID stand for it until it is created. */
  readonly claim: ResourceClaim;
  readonly mappings: readonly ContainerExtendedResourceRequest[];
}

/** Returns the claim of a pod for the resources, each with the class that backs it. */
export function extendedClaimFor(pod: Pod, resources: ReadonlyMap<string, DeviceClass>): ExtendedClaim {
  const { namespace, name = '', uid = '' } = pod.metadata;
  const parts = [...resources].sort(([a], [b]) => (a < b ? -1 : 1)).map(([resource, { metadata }]) => partOf(pod, resource, metadata.name));
  const requests = parts.flatMap((part) => part.requests).sort((a, b) => ((a.name ?? '') < (b.name ?? '') ? -1 : 1));
  return {
    claim: {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'ResourceClaim',
      metadata: {
        ...(namespace !== undefined && { namespace }),
        name: nameInMemory,
        generateName: `${name}-extended-resources-`,
        uid: `extended-resources/${uid}`,
        annotations: { [claimAnnotation]: 'true' },
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: true }],
      },
      spec: { devices: { requests } },
    },
    mappings: parts.flatMap((part) => part.mappings),
  };
}

interface Part {
  readonly requests: readonly DeviceRequest[];
  readonly mappings: readonly ContainerExtendedResourceRequest[];
}

/**
 * Requests for one resource: one for each container and sidecar, and one for the init container that needs most beyond those of later
 * containers, which start only after it.
 */
function partOf({ spec = {} }: Pod, resource: string, className = ''): Part {
  const { initContainers = [], containers = [] } = spec;
  const all = [...initContainers, ...containers];
  const isShort = (container: Container, at: number): boolean => at < initContainers.length && container.restartPolicy !== 'Always';
  const make = (container: Container, at: number, reusable: readonly (DeviceRequest | undefined)[]): ContainerPart =>
    requestOf(container, at, resource, className, reusable);
  const long = all.map((container, at) => (isShort(container, at) ? undefined : make(container, at, [])));
  const ofLong = long.map((part) => part?.request);
  const short = all.flatMap((container, at) => (isShort(container, at) ? [make(container, at, ofLong.slice(at))] : []));
  const ofShort = short.flatMap(({ request }) => request ?? []);
  const most = ofShort.reduce<DeviceRequest | undefined>((best, one) => (best && countOf(best) >= countOf(one) ? best : one), undefined);
  const replaced = new Set(ofShort.map(({ name }) => name));
  const mappingsOfShort = short
    .flatMap(({ mappings }) => mappings)
    .map((mapping) => (most && replaced.has(mapping.requestName) ? { ...mapping, requestName: most.name ?? '' } : mapping));
  return {
    requests: [...(most ? [most] : []), ...ofLong.flatMap((request) => request ?? [])],
    mappings: [...long.flatMap((part) => part?.mappings ?? []), ...mappingsOfShort],
  };
}

interface ContainerPart {
  /** Undefined if the container needs no devices besides those of the reusable requests. */
  readonly request?: DeviceRequest;
  readonly mappings: readonly ContainerExtendedResourceRequest[];
}

const countOf = ({ exactly }: DeviceRequest): number => exactly?.count ?? 0;

function requestOf(
  { name = '', resources }: Container,
  at: number,
  resource: string,
  deviceClassName: string,
  reusable: readonly (DeviceRequest | undefined)[],
): ContainerPart {
  const amounts = resources?.requests ?? {};
  const wanted = amounts[resource] === undefined ? 0 : amountOf(resource, amounts[resource]);
  const mappings: ContainerExtendedResourceRequest[] = [];
  if (wanted === 0) return { mappings };
  const use = (requestName: string): number => mappings.push({ containerName: name, resourceName: resource, requestName });
  let sum = 0;
  for (const request of reusable) {
    if (!request) continue;
    sum += countOf(request);
    use(request.name ?? '');
    if (sum >= wanted) return { mappings };
  }
  const requestName = `container-${at}-request-${Object.keys(amounts).sort().indexOf(resource)}`;
  use(requestName);
  const exactly = { deviceClassName, allocationMode: 'ExactCount', count: wanted - sum };
  return { request: { name: requestName, exactly }, mappings };
}
