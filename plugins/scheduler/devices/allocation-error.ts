/** A mistake in a claim, class or slice, for which no node can take the pod; its message is upstream's. */
export class AllocationError extends Error {}

/** An allocation that needs more work than a pod may cause. */
export class AllocationTimeout extends Error {}
