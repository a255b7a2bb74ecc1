import type { Node } from 'kubenest/types/core_v1';
import type { AllocationResult, ResourceClaim, ResourceSlice } from 'kubenest/types/resource_v1';
import { AllocationError, AllocationTimeout } from './allocation-error.ts';
import { AllocationSearch } from './allocation-search.ts';
import type { DeviceLedger } from './device-ledger.ts';
import { SelectorResults } from './device-selectors.ts';
import { takeTime } from './evaluation-time.ts';
import { gatherPools, indexSlices, type SliceIndex } from './pools.ts';
import type { ClassLookup } from './requests.ts';

/**
 * Finds devices for the claims of one pod. Upstream: dynamic-resource-allocation/structured/internal/incubating, with all features that
 * are on by default.
 */
export class DeviceAllocator {
  readonly #slices: SliceIndex;
  readonly #selectorResults = new SelectorResults();
  readonly #outcomes = new WeakMap<Node, readonly AllocationResult[] | string>();

  constructor(
    private readonly ledger: DeviceLedger,
    private readonly classes: ClassLookup,
    slices: readonly ResourceSlice[],
    private readonly claims: readonly ResourceClaim[],
  ) {
    this.#slices = indexSlices(slices);
  }

  /**
   * Returns one allocation for each claim, or the reason in upstream's words. Throws AllocationError if the claims cannot be allocated on
   * any node or need too much work, and MoreTimeNeeded within `pausing`.
   */
  allocate(node: Node): readonly AllocationResult[] | string {
    const known = this.#outcomes.get(node);
    if (known) return known;
    takeTime();
    try {
      const outcome = this.#search(node);
      this.#outcomes.set(node, outcome);
      return outcome;
    } catch (error) {
      if (!(error instanceof AllocationTimeout)) throw error;
      throw new AllocationError(`node ${node.metadata.name}: timed out trying to allocate devices`);
    }
  }

  #search(node: Node): readonly AllocationResult[] | string {
    const pools = gatherPools(this.#slices, node);
    const results = new AllocationSearch(this.claims, pools, node, this.ledger, this.classes, this.#selectorResults).run();
    if (results) return results;
    return pools.some(({ isInvalid }) => isInvalid) ? 'invalid resource pools were encountered' : 'cannot allocate all claims';
  }
}

/** Allocators that were used last, with what they depend on besides the node. */
export class RecentAllocators {
  readonly #recent: { readonly inputs: readonly unknown[]; readonly allocator: DeviceAllocator }[] = [];

  /** Returns the allocator of an attempt that continued in another turn, unless claims, classes, slices or allocations changed. */
  get(ledger: DeviceLedger, classes: ClassLookup, slices: readonly ResourceSlice[], claims: readonly ResourceClaim[]): DeviceAllocator {
    const named = [...classNames(claims)].map(classes);
    const inputs = [ledger, ledger.version, claims.length, ...claims, ...named, ...slices];
    const at = this.#recent.findIndex((one) => one.inputs.length === inputs.length && one.inputs.every((input, i) => input === inputs[i]));
    const [found] = at < 0 ? [] : this.#recent.splice(at, 1);
    const { allocator } = found ?? { allocator: new DeviceAllocator(ledger, classes, slices, claims) };
    this.#recent.unshift({ inputs, allocator });
    this.#recent.length = Math.min(this.#recent.length, maxRecent);
    return allocator;
  }
}

const maxRecent = 8;

function classNames(claims: readonly ResourceClaim[]): ReadonlySet<string> {
  const requests = claims.flatMap(({ spec }) => spec?.devices?.requests ?? []);
  const wishes = requests.flatMap(({ exactly, firstAvailable = [] }) => (exactly ? [exactly] : firstAvailable));
  return new Set(wishes.map(({ deviceClassName = '' }) => deviceClassName));
}
