import type { AllocationResult, ResourceClaim } from 'kubenest/types/resource_v1';
import { keyOf } from '../framework/pod-info.ts';
import { DeviceLedger } from './device-ledger.ts';

/** Reads of claims from a cache. */
interface ClaimLister {
  get(namespace: string, name: string): ResourceClaim | undefined;
}

const uidOf = ({ metadata }: ResourceClaim): string => metadata.uid ?? '';
const isOlder = (claim: ResourceClaim, than: ResourceClaim): boolean =>
  Number(claim.metadata.resourceVersion) < Number(than.metadata.resourceVersion);

/**
 * The claims as the scheduler knows them: those of the cache, and what it decided or wrote since. Devices count as taken from the decision
 * on. Upstream: pkg/scheduler/framework/plugins/dynamicresources/dra_manager.go.
 */
export class ResourceClaims {
  readonly ledger = new DeviceLedger();
  /** UIDs of claims whose allocation is decided, but not written. */
  readonly #pending = new Set<string>();
  /** Claims by key that were written and that the cache does not show yet. */
  readonly #written = new Map<string, ResourceClaim>();

  /** UIDs of claims that the scheduler created and that the cache does not show yet. */
  readonly #created = new Set<string>();

  constructor(private readonly lister: ClaimLister) {}

  get(namespace: string, name: string): ResourceClaim | undefined {
    const cached = this.lister.get(namespace, name);
    const written = this.#written.get(`${namespace}/${name}`);
    if (!cached) return written && this.#created.has(uidOf(written)) ? written : undefined;
    return written && uidOf(written) === uidOf(cached) && isOlder(cached, written) ? written : cached;
  }

  isPending({ metadata }: ResourceClaim): boolean {
    return this.#pending.has(metadata.uid ?? '');
  }

  /** Counts the devices that were chosen for a claim as taken. */
  decide(claim: ResourceClaim, allocation: AllocationResult): void {
    this.#pending.add(uidOf(claim));
    this.ledger.set(uidOf(claim), allocation);
  }

  /** Records a claim that the server returned for its creation. */
  created(claim: ResourceClaim): void {
    if (!this.lister.get(claim.metadata.namespace ?? '', claim.metadata.name ?? '')) this.#created.add(uidOf(claim));
    this.wrote(claim);
  }

  /** Records the claim that the server returned for a write. */
  wrote(claim: ResourceClaim): void {
    const cached = this.lister.get(claim.metadata.namespace ?? '', claim.metadata.name ?? '');
    if (cached && uidOf(cached) === uidOf(claim) && !isOlder(cached, claim)) this.#written.delete(keyOf(claim));
    else this.#written.set(keyOf(claim), claim);
    this.#settle(claim);
  }

  /** Gives up the decision for a claim. */
  withdraw(claim: ResourceClaim): void {
    if (this.#pending.has(uidOf(claim))) this.#settle(claim);
  }

  /** Takes over a change of the cache. */
  changed(claim: ResourceClaim): void {
    this.#created.delete(uidOf(claim));
    const written = this.#written.get(keyOf(claim));
    if (written && isOlder(claim, written)) return;
    this.#written.delete(keyOf(claim));
    if (!this.#pending.has(uidOf(claim))) this.ledger.set(uidOf(claim), claim.status?.allocation);
  }

  deleted(claim: ResourceClaim): void {
    this.#created.delete(uidOf(claim));
    this.#written.delete(keyOf(claim));
    this.#pending.delete(uidOf(claim));
    this.ledger.set(uidOf(claim), undefined);
  }

  #settle(claim: ResourceClaim): void {
    this.#pending.delete(uidOf(claim));
    const current = this.get(claim.metadata.namespace ?? '', claim.metadata.name ?? '');
    this.ledger.set(uidOf(claim), current && uidOf(current) === uidOf(claim) ? current.status?.allocation : undefined);
  }
}
