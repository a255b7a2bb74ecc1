import { deepEqual } from 'kubenest/sdk';
import type { Service } from 'kubenest/types/core_v1';
import type { Endpoint, EndpointSlice } from 'kubenest/types/discovery_v1';
import {
  type AddressType,
  type EndpointGroup,
  endpointKey,
  isOwnedBy,
  labelsFor,
  newSlice,
  portsKey,
  withoutHints,
} from './desired-slices.ts';
import { wantsZones } from './zone-allocations.ts';

/** Upstream: --max-endpoints-per-slice. */
export const maxEndpointsPerSlice = 100;

/** Writes that bring the slices of a service to the desired state. */
export interface SlicePlan {
  readonly create: EndpointSlice[];
  readonly update: EndpointSlice[];
  readonly delete: EndpointSlice[];
}

/**
 * Plans the slices of one address type: endpoints stay in their slice if they can, changed slices are filled first, then one unchanged
 * slice, then new ones. Upstream: k8s.io/endpointslice reconciler.go.
 */
export function planSlices(
  service: Service,
  existing: readonly EndpointSlice[],
  groups: ReadonlyMap<string, EndpointGroup>,
  addressType: AddressType,
): SlicePlan {
  const plan: SlicePlan = { create: [], update: [], delete: [] };
  const owned = Map.groupBy(
    existing.filter((slice) => isOwnedBy(slice, service)),
    ({ ports }) => portsKey(ports),
  );
  plan.delete.push(...existing.filter((slice) => !isOwnedBy(slice, service)));
  for (const [key, group] of groups) planGroup(plan, service, owned.get(key) ?? [], group, addressType);
  for (const [key, slices] of owned) if (!groups.has(key)) plan.delete.push(...slices);
  if (existing.length === plan.delete.length && plan.create.length === 0) addPlaceholder(plan, service, addressType);
  reuseDeleted(plan, service);
  return plan;
}

/** A slice with its endpoints in the new state. */
interface Draft {
  readonly slice: EndpointSlice;
  endpoints: Endpoint[];
  isChanged: boolean;
}

function planGroup(
  plan: SlicePlan,
  service: Service,
  existing: readonly EndpointSlice[],
  group: EndpointGroup,
  addressType: AddressType,
): void {
  const missing = new Map(group.endpoints);
  const drafts: Draft[] = [];
  for (const slice of existing) {
    const draft = keptIn(slice, missing, service);
    if (draft.endpoints.length === 0 && (slice.endpoints ?? []).length > 0) plan.delete.push(slice);
    else drafts.push(draft);
  }
  const fill = (endpoints: Endpoint[]): void => {
    for (const [key, endpoint] of missing) {
      if (endpoints.length >= maxEndpointsPerSlice) return;
      endpoints.push(endpoint);
      missing.delete(key);
    }
  };
  for (const draft of drafts.filter(({ isChanged }) => isChanged).sort((a, b) => b.endpoints.length - a.endpoints.length))
    fill(draft.endpoints);
  while (missing.size > 0) {
    const target = missing.size < maxEndpointsPerSlice ? fullestWithRoom(drafts, missing.size) : undefined;
    if (target) {
      target.isChanged = true;
      target.endpoints = [...target.endpoints];
      fill(target.endpoints);
    } else {
      const endpoints: Endpoint[] = [];
      fill(endpoints);
      plan.create.push({ ...newSlice(service, addressType, group.ports), endpoints });
    }
  }
  const labels = labelsFor(service);
  for (const { slice, endpoints, isChanged } of drafts)
    if (isChanged) plan.update.push({ ...slice, metadata: { ...slice.metadata, labels }, endpoints });
}

/** Takes the endpoints that stay in a slice out of `missing`. */
function keptIn(slice: EndpointSlice, missing: Map<string, Endpoint>, service: Service): Draft {
  const endpoints: Endpoint[] = [];
  let isChanged = !deepEqual(slice.metadata.labels ?? {}, labelsFor(service));
  for (const present of slice.endpoints ?? []) {
    const key = endpointKey(present);
    const desired = missing.get(key);
    missing.delete(key);
    if (desired) endpoints.push(desired);
    // The hints for zones are distributed later, over all slices.
    if (!desired || !isSame(desired, wantsZones(service) ? withoutHints(present) : present)) isChanged = true;
  }
  return { slice, endpoints, isChanged };
}

/** Compares endpoints, apart from the resourceVersion of the pod. */
function isSame(a: Endpoint, b: Endpoint): boolean {
  const plain = ({ targetRef, ...endpoint }: Endpoint): object => ({ ...endpoint, targetRef: targetRef?.uid });
  return deepEqual(plain(a), plain(b));
}

/** Returns the unchanged slice that the endpoints fill best; undefined if they fit into none. */
function fullestWithRoom(drafts: readonly Draft[], count: number): Draft | undefined {
  return drafts
    .filter(({ isChanged, endpoints }) => !isChanged && endpoints.length + count <= maxEndpointsPerSlice)
    .sort((a, b) => b.endpoints.length - a.endpoints.length)[0];
}

/** A service without endpoints has one empty slice. */
function addPlaceholder(plan: SlicePlan, service: Service, addressType: AddressType): void {
  const [only] = plan.delete;
  const placeholder = newSlice(service, addressType, []);
  const isPresent =
    plan.delete.length === 1 &&
    only !== undefined &&
    isOwnedBy(only, service) &&
    (only.endpoints ?? []).length === 0 &&
    (only.ports ?? []).length === 0 &&
    deepEqual(only.metadata.labels ?? {}, placeholder.metadata.labels);
  if (isPresent) plan.delete.length = 0;
  else plan.create.push(placeholder);
}

/** Updates slices that would be deleted instead of creating others. */
function reuseDeleted(plan: SlicePlan, service: Service): void {
  for (let at = 0; at < plan.delete.length && plan.create.length > 0; ) {
    const old = plan.delete[at] as EndpointSlice;
    const fresh = plan.create.at(-1) as EndpointSlice;
    if (old.addressType === fresh.addressType && isOwnedBy(old, service)) {
      plan.create.pop();
      plan.delete.splice(at, 1);
      plan.update.push({
        ...old,
        metadata: { ...old.metadata, labels: labelsFor(service) },
        ports: fresh.ports ?? [],
        endpoints: fresh.endpoints ?? [],
      });
    } else at += 1;
  }
}
