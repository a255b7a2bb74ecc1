import { type ControllerClient, deepCopy, formatTime, hasFinalizer, isConflict, removeFinalizer } from 'kubenest/sdk';
import type { Pod } from 'kubenest/types/core_v1';
import type { AllocationResult, ResourceClaim } from 'kubenest/types/resource_v1';
import { claimFinalizer } from '../common/resource-claims.ts';
import { bindingTimeoutMs, hasBindingConditions, readinessOf } from './devices/binding-conditions.ts';
import type { ExtendedClaim } from './devices/extended-resources.ts';
import type { ResourceClaims } from './devices/resource-claims.ts';
import type { PodResourceClaims } from './filters/dynamic-resources.ts';

const pods = { group: '', version: 'v1', resource: 'pods' } as const;
const resource = { group: 'resource.k8s.io', version: 'v1', resource: 'resourceclaims' } as const;
const pollMs = 5_000;
const maxAttempts = 5;

/** The time of the claim binder. */
export interface BinderClock {
  wallTime(): number;
  after(ms: number, callback: () => void): () => void;
}

/**
 * Writes the allocations and reservations of a pod's claims before the pod is bound. Upstream: plugins/dynamicresources (PreBind,
 * bindClaim, Unreserve).
 */
export class ClaimBinder {
  /** Claims for extended resources by the UID of the pod, until it is bound. */
  readonly #createdFor = new Map<string, ResourceClaim>();

  constructor(
    private readonly client: ControllerClient,
    private readonly claims: ResourceClaims,
    private readonly clock: BinderClock,
  ) {}

  /** `wait` is called before the devices are waited for. Rejects if a claim got another allocation, or a device is not ready in time. */
  async bind(pod: Pod, state: PodResourceClaims, node: string, wait: () => void): Promise<void> {
    const { claims, unallocated, extended, allocations } = state;
    const decided = allocations.get(node) ?? [];
    const bound: ResourceClaim[] = [];
    for (const claim of claims) {
      const isReserved = claim.status?.reservedFor?.some(({ uid }) => uid === pod.metadata.uid);
      bound.push(isReserved ? claim : await this.#bindClaim(claim, decided[unallocated.indexOf(claim)], pod));
    }
    const needed = extended?.claims.get(node);
    if (needed) bound.push(await this.#bindExtended(pod, needed, decided[unallocated.length]));
    if (!bound.some(hasBindingConditions)) return;
    wait();
    await this.#devicesReady(bound);
  }

  /** Creates the claim for the extended resources of a pod, and records in the pod which container uses which request of it. */
  async #bindExtended(pod: Pod, { claim, mappings }: ExtendedClaim, allocation: AllocationResult | undefined): Promise<ResourceClaim> {
    const { uid: _uid, name: _name, ...metadata } = claim.metadata;
    const created = await this.client.create<ResourceClaim>(resource, { ...claim, metadata }).catch((error: Error) => {
      throw new Error(`create claim for extended resources ${metadata.namespace}/: ${error.message}`, { cause: error });
    });
    this.#createdFor.set(pod.metadata.uid ?? '', created);
    this.claims.created(created);
    const bound = await this.#bindClaim(created, allocation, pod);
    this.claims.withdraw(claim);
    const { namespace = '', name = '' } = pod.metadata;
    const extendedResourceClaimStatus = { requestMappings: mappings, resourceClaimName: created.metadata.name ?? '' };
    const patch = { status: { extendedResourceClaimStatus } };
    await this.client.patch({ ...pods, subresource: 'status' }, namespace, name, { type: 'strategic', patch });
    return bound;
  }

  /** Deletes a claim that was created for extended resources. */
  async deleteExtended(claim: ResourceClaim): Promise<void> {
    const { namespace = '', name = '' } = claim.metadata;
    await this.client.update<ResourceClaim>(resource, namespace, name, (present) => {
      const copy = deepCopy(present);
      return removeFinalizer(copy, claimFinalizer) ? copy : undefined;
    });
    await this.client.delete(resource, namespace, name);
  }

  /** The pod is bound, so that its claim stays its own. */
  bound({ metadata }: Pod): void {
    this.#createdFor.delete(metadata.uid ?? '');
  }

  /** Deletes the claim that was created for the pod, and ends its reservations in claims that it reserved or may have reserved. */
  async release({ metadata }: Pod, { claims }: PodResourceClaims): Promise<void> {
    const created = this.#createdFor.get(metadata.uid ?? '');
    this.#createdFor.delete(metadata.uid ?? '');
    if (created) await this.deleteExtended(created);
    for (const { metadata: of } of claims) {
      const { namespace = '', name = '' } = of;
      if (!this.claims.get(namespace, name)?.status?.reservedFor?.some(({ uid }) => uid === metadata.uid)) continue;
      const patch = { metadata: { uid: of.uid }, status: { reservedFor: [{ $patch: 'delete', uid: metadata.uid }] } };
      const released = await this.client.patch({ ...resource, subresource: 'status' }, namespace, name, { type: 'strategic', patch });
      this.claims.wrote(released as ResourceClaim);
    }
  }

  /** Ends the allocation of a claim without other consumers, so that other devices can be tried. */
  async deallocate(claim: ResourceClaim): Promise<void> {
    const { allocation: _allocation, reservedFor: _reservedFor, devices: _devices, ...status } = claim.status ?? {};
    this.claims.wrote(await this.client.replace<ResourceClaim>({ ...resource, subresource: 'status' }, { ...claim, status }));
  }

  async #bindClaim(claim: ResourceClaim, allocation: AllocationResult | undefined, pod: Pod): Promise<ResourceClaim> {
    let current: ResourceClaim | undefined = claim;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const written = await this.#write(current, allocation, pod);
        this.claims.wrote(written);
        return written;
      } catch (error) {
        if (!isConflict(error) || attempt === maxAttempts) throw error;
      }
      const { namespace = '', name = '' } = claim.metadata;
      current = (await this.client.get(resource, namespace, name)) as ResourceClaim | undefined;
      if (!current)
        throw new Error(`get updated claim ${namespace}/${name} after conflict: resourceclaims.resource.k8s.io "${name}" not found`);
    }
  }

  async #write(from: ResourceClaim, allocation: AllocationResult | undefined, { metadata }: Pod): Promise<ResourceClaim> {
    let claim = from;
    const key = `${claim.metadata.namespace}/${claim.metadata.name}`;
    if (claim.metadata.deletionTimestamp !== undefined) throw new Error(`claim ${key} got deleted in the meantime`);
    if (allocation && claim.status?.allocation) throw new Error(`claim ${key} got allocated elsewhere in the meantime`);
    if (allocation && !hasFinalizer(claim, claimFinalizer)) {
      const finalizers = [...(claim.metadata.finalizers ?? []), claimFinalizer];
      claim = await this.client.replace<ResourceClaim>(resource, { ...claim, metadata: { ...claim.metadata, finalizers } });
    }
    const present = allocation ?? claim.status?.allocation;
    if (!present) throw new Error(`claim ${key} got deallocated elsewhere in the meantime`);
    const { name = '', uid = '' } = metadata;
    const status = {
      ...claim.status,
      allocation: { ...present, allocationTimestamp: present.allocationTimestamp ?? formatTime(this.clock.wallTime()) },
      reservedFor: [...(claim.status?.reservedFor ?? []), { resource: 'pods', name, uid }],
    };
    return this.client.replace<ResourceClaim>({ ...resource, subresource: 'status' }, { ...claim, status });
  }

  /** Resolves once the drivers have prepared the devices. */
  async #devicesReady(bound: readonly ResourceClaim[]): Promise<void> {
    const end = this.clock.wallTime() + bindingTimeoutMs;
    for (;;) {
      const states = bound.map((claim) => {
        const current = this.claims.get(claim.metadata.namespace ?? '', claim.metadata.name ?? '') ?? claim;
        return { current, readiness: readinessOf(current, this.clock.wallTime()) };
      });
      for (const { readiness } of states) if (readiness instanceof Error) throw readiness;
      if (states.every(({ readiness }) => readiness === 'ready')) return;
      const late = states.find(({ readiness }) => readiness === 'timedOut');
      if (late || this.clock.wallTime() > end)
        throw new Error(`device binding timeout: claim=${(late ?? states[0])?.current.metadata.name}`);
      await new Promise<void>((resolve) => void this.clock.after(pollMs, resolve));
    }
  }
}
