/** Outcome of `slowStart`. */
export interface BatchOutcome {
  readonly successes: number;
  /** The first error; undefined if all calls succeeded. */
  readonly error: Error | undefined;
}

/**
 * Calls `create` with 0 to `count` - 1 in batches of 1, 2, 4, … calls at a time, up to the batch with a failure, so that calls that all
 * fail for the same reason are few. Upstream: slowStartBatch of pkg/controller/replicaset.
 */
export async function slowStart(count: number, create: (index: number) => Promise<unknown>): Promise<BatchOutcome> {
  let successes = 0;
  let began = 0;
  for (let size = Math.min(count, 1); size > 0; size = Math.min(2 * size, count - began)) {
    const first = began;
    const results = await Promise.allSettled(Array.from({ length: size }, (_, index) => create(first + index)));
    began += size;
    const failures = results.filter((result) => result.status === 'rejected');
    successes += size - failures.length;
    if (failures[0]) return { successes, error: failures[0].reason as Error };
  }
  return { successes, error: undefined };
}
