import type { Node } from 'kubenest/types/core_v1';
import type { AllocationResult, ResourceClaim, ResourceSlice } from 'kubenest/types/resource_v1';
import { AllocationSearch } from './allocation-search.ts';
import type { DeviceLedger } from './device-ledger.ts';
import { gatherPools, indexSlices, type SliceIndex } from './pools.ts';
import type { ClassLookup } from './requests.ts';

/**
 * Finds devices for the claims of one pod. Upstream: dynamic-resource-allocation/structured/internal/incubating, with all features that
 * are on by default.
 */
export class DeviceAllocator {
  readonly #slices: SliceIndex;

  constructor(
    private readonly ledger: DeviceLedger,
    private readonly classes: ClassLookup,
    slices: readonly ResourceSlice[],
  ) {
    this.#slices = indexSlices(slices);
  }

  /**
   * Returns one allocation for each claim, or the reason in upstream's words. Throws AllocationError if the claims cannot be allocated on
   * any node.
   */
  allocate(node: Node, claims: readonly ResourceClaim[]): readonly AllocationResult[] | string {
    const pools = gatherPools(this.#slices, node);
    const results = new AllocationSearch(claims, pools, node, this.ledger, this.classes).run();
    if (results) return results;
    return pools.some(({ isInvalid }) => isInvalid) ? 'invalid resource pools were encountered' : 'cannot allocate all claims';
  }
}
