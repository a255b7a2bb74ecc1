export type AllocationFailure = 'full' | 'allocated' | 'mismatchedNetwork' | 'notReady' | 'notInRange';

/** Why an address or a port was not given. Upstream: core/service/{ipallocator,portallocator}: ErrFull, ErrAllocated, ErrNotInRange, … */
export class AllocationError extends Error {
  override readonly name = 'AllocationError';

  constructor(
    readonly failure: AllocationFailure,
    message: string,
  ) {
    super(message);
  }
}
