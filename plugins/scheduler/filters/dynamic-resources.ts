import { isControlledBy } from 'kubenest/sdk';
import type { Node, Pod } from 'kubenest/types/core_v1';
import type { AllocationResult, DeviceClass, ResourceClaim } from 'kubenest/types/resource_v1';
import { matchesNodeSelector } from '../../common/node-affinity.ts';
import { claimOf } from '../../common/resource-claims.ts';
import { AllocationError } from '../devices/allocation-error.ts';
import { readinessOf } from '../devices/binding-conditions.ts';
import { type DeviceAllocator, RecentAllocators } from '../devices/device-allocator.ts';
import { type ExtendedClaim, extendedClaimFor } from '../devices/extended-resources.ts';
import { type ClusterView, type Filter, type Rejection, SchedulingError, unresolvable } from '../framework/framework.ts';
import { keyOf, type PodInfo } from '../framework/pod-info.ts';

/** The claims of a pod in one scheduling cycle. */
export interface PodResourceClaims {
  readonly claims: readonly ResourceClaim[];
  /** Those without an allocation. */
  readonly unallocated: readonly ResourceClaim[];
  /** Returns the allocator of `unallocated` and the given claims; undefined if there are none. */
  allocatorFor(more: readonly ResourceClaim[]): DeviceAllocator | undefined;
  /** Allocations of `unallocated`, and then of the claim for extended resources, by node, as far as nodes were checked. */
  readonly allocations: Map<string, readonly AllocationResult[]>;
  /** Extended resources of the pod that device classes back; undefined if there are none. */
  readonly extended: ExtendedResources | undefined;
  /** Allocated claims that a node could not use. */
  readonly unavailable: Set<ResourceClaim>;
  readonly now: number;
}

/** The extended resources of a pod in one scheduling cycle. */
export interface ExtendedResources {
  readonly classes: ReadonlyMap<string, DeviceClass>;
  /** Claim of an earlier attempt. Its devices may be those of a node that cannot take the pod any more, so it is deleted first. */
  readonly stale: ResourceClaim | undefined;
  /** Claims to create by node, as far as nodes were checked and need one. */
  readonly claims: Map<string, ExtendedClaim>;
}

/**
 * Rejects nodes on which the resource claims of a pod cannot be used or allocated. A pod waits outside of the queue until its claims exist.
 * Upstream: plugins/dynamicresources.
 */
export const dynamicResources: Filter<PodResourceClaims> = {
  name: 'DynamicResources',
  events: ['NodeAdded', 'NodeLabelsChanged', 'NodeTaintsChanged', 'NodeAllocatableChanged', 'ResourceClaimChanged', 'DevicesChanged'],

  gate(pod, cluster) {
    const claims = claimsOf(pod.pod, cluster);
    return typeof claims === 'string' ? claims : undefined;
  },

  prepare(info, cluster) {
    const { pod } = info;
    const claims = claimsOf(pod, cluster);
    if (typeof claims === 'string') return { rejection: unresolvable(claims) };
    const extended = extendedResources(info, cluster);
    if (claims.length === 0 && !extended) return 'skip';
    const unallocated = claims.filter(({ status }) => !status?.allocation);
    const rejection = unallocated.map((claim) => unallocatable(claim, cluster)).find((one) => one !== undefined);
    if (rejection) return { rejection };
    return {
      state: {
        claims,
        unallocated,
        extended,
        allocatorFor: (more) => {
          const all = [...unallocated, ...more];
          return all.length > 0 ? allocatorFor(all, cluster) : undefined;
        },
        allocations: new Map(),
        unavailable: new Set(),
        now: cluster.now(),
      },
    };
  },

  check({ claims, extended, allocatorFor: allocatorOf, allocations, unavailable, now }, { pod }, { name, node, allocatable }) {
    if (extended?.stale) return unresolvable('cannot schedule extended resource claim');
    let isUnavailable = false;
    for (const claim of claims) {
      const allocation = claim.status?.allocation;
      if (!allocation) continue;
      const isElsewhere = allocation.nodeSelector !== undefined && !matchesNodeSelector(allocation.nodeSelector, node);
      const readiness = isElsewhere ? undefined : readinessOf(claim, now);
      if (readiness === 'ready' || readiness === 'waiting') continue;
      isUnavailable = true;
      unavailable.add(claim);
    }
    const needed = extended && claimForNode(pod, extended.classes, allocatable);
    if (needed) extended.claims.set(name, needed);
    const allocator = allocatorOf(needed ? [needed.claim] : []);
    const allocated = allocator && allocate(allocator, node);
    if (typeof allocated === 'string') return unresolvable(allocated);
    if (isUnavailable) return unresolvable('resourceclaim not available on the node');
    if (allocated) allocations.set(name, allocated);
    return undefined;
  },

  reserve({ unallocated, extended, allocations }, node, cluster) {
    const claims = [...unallocated, extended?.claims.get(node)?.claim];
    for (const [i, allocation] of (allocations.get(node) ?? []).entries())
      cluster.resourceClaims.decide(claims[i] as ResourceClaim, allocation);
  },

  unreserve({ unallocated, extended }, cluster) {
    for (const claim of unallocated) cluster.resourceClaims.withdraw(claim);
    for (const { claim } of extended?.claims.values() ?? []) cluster.resourceClaims.withdraw(claim);
  },
};

const allocators = new WeakMap<ClusterView, RecentAllocators>();

function allocatorFor(claims: readonly ResourceClaim[], cluster: ClusterView): DeviceAllocator {
  const recent = allocators.get(cluster) ?? new RecentAllocators();
  allocators.set(cluster, recent);
  return recent.get(cluster.resourceClaims.ledger, (name) => cluster.deviceClass(name), cluster.resourceSlices(), claims);
}

function allocate(allocator: DeviceAllocator, node: Node): ReturnType<DeviceAllocator['allocate']> {
  try {
    return allocator.allocate(node);
  } catch (error) {
    if (error instanceof AllocationError) throw new SchedulingError(`running "DynamicResources" filter plugin: ${error.message}`);
    throw error;
  }
}

function extendedResources({ pod, requests }: PodInfo, cluster: ClusterView): ExtendedResources | undefined {
  const classes = new Map<string, DeviceClass>();
  for (const [resource, amount] of requests) {
    const backing = amount > 0 ? cluster.classOfResource(resource) : undefined;
    if (backing) classes.set(resource, backing);
  }
  return classes.size === 0 ? undefined : { classes, stale: cluster.extendedClaim(pod), claims: new Map() };
}

/** Claims by pod and the names of resources and classes: the same ones in each attempt, so that a search can continue. */
const extendedClaims = new WeakMap<Pod, Map<string, ExtendedClaim>>();

/** Returns the claim for the resources that the node does not have as such; undefined if it has all. */
function claimForNode(
  pod: Pod,
  classes: ReadonlyMap<string, DeviceClass>,
  allocatable: ReadonlyMap<string, number>,
): ExtendedClaim | undefined {
  const needed = new Map([...classes].filter(([resource]) => !allocatable.get(resource)));
  if (needed.size === 0) return undefined;
  const known = extendedClaims.get(pod) ?? new Map<string, ExtendedClaim>();
  extendedClaims.set(pod, known);
  const key = JSON.stringify([...needed].map(([resource, { metadata }]) => [resource, metadata.name]).sort());
  const claim = known.get(key) ?? extendedClaimFor(pod, needed);
  known.set(key, claim);
  return claim;
}

/** Returns the claims of a pod, or why one is not there. A claim that the pod does not need is left out. */
function claimsOf(pod: Pod, { resourceClaims }: ClusterView): readonly ResourceClaim[] | string {
  const { namespace = '', name: podName } = pod.metadata;
  const claims: ResourceClaim[] = [];
  for (const entry of pod.spec?.resourceClaims ?? []) {
    const reference = claimOf(pod, entry);
    if (!reference) return `pod "${namespace}/${podName}": ResourceClaim not created yet`;
    if (reference.name === undefined) continue;
    const claim = resourceClaims.get(namespace, reference.name);
    if (!claim) return `could not find ResourceClaim "${namespace}/${reference.name}"`;
    if (claim.metadata.deletionTimestamp !== undefined) return `resourceclaim ${JSON.stringify(reference.name)} is being deleted`;
    if (reference.isGenerated && !isControlledBy(claim, pod))
      return `ResourceClaim ${keyOf(claim)} was not created for Pod ${namespace}/${podName} (Pod is not owner)`;
    claims.push(claim);
  }
  return claims;
}

/** Returns why a claim cannot be allocated now, whatever the node. */
function unallocatable(claim: ResourceClaim, cluster: ClusterView): Rejection | undefined {
  if (cluster.resourceClaims.isPending(claim)) return unresolvable(`resource claim ${keyOf(claim)} is in the process of being allocated`);
  for (const { name = '', exactly, firstAvailable = [] } of claim.spec?.devices?.requests ?? []) {
    const classes = exactly
      ? [{ request: name, deviceClass: exactly.deviceClassName }]
      : firstAvailable.map((one) => ({ request: `${name}/${one.name}`, deviceClass: one.deviceClassName }));
    const missing = classes.find(({ deviceClass = '' }) => !cluster.deviceClass(deviceClass));
    if (missing) return unresolvable(`request ${missing.request}: device class ${missing.deviceClass} does not exist`);
  }
  return undefined;
}

/** True if a change of the claim may help the pod: it has the claim, or the claim's devices became available. */
export function isClaimChangeRelevant({ pod }: PodInfo, claim: ResourceClaim, old: ResourceClaim | undefined): boolean {
  if (old?.status?.allocation && !claim.status?.allocation) return true;
  return (
    claim.metadata.namespace === pod.metadata.namespace &&
    (pod.spec?.resourceClaims ?? []).some((entry) => claimOf(pod, entry)?.name === claim.metadata.name)
  );
}
