export type AllocationFailure = 'full' | 'allocated' | 'mismatchedNetwork' | 'notReady' | 'notInRange';

/**
 * An address or port that cannot be allocated, with the reason. Upstream: core/service/{ipallocator,portallocator}: ErrFull, ErrAllocated,
 * ErrNotInRange, …
 */
export class AllocationError extends Error {
  override readonly name = 'AllocationError';

  constructor(
    readonly failure: AllocationFailure,
    message: string,
  ) {
    super(message);
  }
}
