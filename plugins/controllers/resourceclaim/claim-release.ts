import { type ControllerClient, deepCopy, hasFinalizer, removeFinalizer, type SharedInformer } from 'kubenest/sdk';
import type { Pod } from 'kubenest/types/core_v1';
import type { ResourceClaim, ResourceClaimConsumerReference } from 'kubenest/types/resource_v1';
import { claimFinalizer } from '../../common/resource-claims.ts';
import { pods } from '../common/pods.ts';
import { isPodDone, owningPod } from './pod-claims.ts';
import { claims } from './resources.ts';

/** Takes claims from pods that are done: their reservations, the allocation after the last one, and claims generated for them. */
export class ClaimRelease {
  constructor(
    private readonly client: ControllerClient,
    private readonly pods: SharedInformer<Pod>,
  ) {}

  /** Upstream: syncClaim. */
  async sync(claim: ResourceClaim | undefined): Promise<void> {
    if (!claim) return;
    const { reservedFor = [] } = claim.status ?? {};
    const kept = await Promise.all(reservedFor.map((consumer) => this.#isValid(claim, consumer)));
    const remaining = reservedFor.filter((_, at) => kept[at]);
    if (remaining.length < reservedFor.length) await this.#release(claim, remaining);
    else if (claim.metadata.deletionTimestamp && remaining.length === 0 && hasFinalizer(claim, claimFinalizer)) await this.#finalize(claim);
    if (remaining.length === 0) await this.#deleteIfUnneeded(claim);
  }

  /** Consumers that are not pods are kept. The informer may not know a pod yet, therefore the server is queried, too. */
  async #isValid({ metadata }: ResourceClaim, { apiGroup, resource, name = '', uid }: ResourceClaimConsumerReference): Promise<boolean> {
    if (apiGroup || resource !== 'pods') return true;
    const { namespace = '' } = metadata;
    const known = this.pods.get(namespace, name);
    if (known) return known.metadata.uid === uid && !isPodDone(known);
    return (await this.client.get(pods, namespace, name))?.metadata.uid === uid;
  }

  /** The last pod that stops using a claim ends its allocation, so that the next one may get other devices. */
  async #release(claim: ResourceClaim, remaining: ResourceClaimConsumerReference[]): Promise<void> {
    const { allocation, reservedFor: _, ...status } = claim.status ?? {};
    const isFreed = remaining.length === 0 && hasFinalizer(claim, claimFinalizer);
    const reduced = { ...status, ...(remaining.length > 0 && { reservedFor: remaining }), ...(allocation && !isFreed && { allocation }) };
    const updated = await this.client.replace<ResourceClaim>({ ...claims, subresource: 'status' }, { ...claim, status: reduced });
    if (!updated.status?.allocation) await this.#removeFinalizer(updated);
  }

  /** Removes the finalizer of a deleted claim that has no consumers. */
  async #finalize(claim: ResourceClaim): Promise<void> {
    const { allocation, ...status } = claim.status ?? {};
    const freed = allocation ? await this.client.replace<ResourceClaim>({ ...claims, subresource: 'status' }, { ...claim, status }) : claim;
    await this.#removeFinalizer(freed);
  }

  async #removeFinalizer(claim: ResourceClaim): Promise<void> {
    const copy = deepCopy(claim);
    if (removeFinalizer(copy, claimFinalizer)) await this.client.replace(claims, copy);
  }

  /**
   * A pod that is done may remain for long, but does not need the claim that was generated for it. A pod that is gone is left to the
   * garbage collector.
   */
  async #deleteIfUnneeded(claim: ResourceClaim): Promise<void> {
    const { namespace = '', name = '' } = claim.metadata;
    const owner = owningPod(claim);
    const pod = owner && this.pods.get(namespace, owner.name);
    if (pod && (pod.metadata.uid !== owner.uid || isPodDone(pod))) await this.client.delete(claims, namespace, name);
  }
}
