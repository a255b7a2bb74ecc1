/** An operation that did not complete in time. */
export class TimeoutError extends Error {}

/** Returns the result of the work, or rejects with a TimeoutError if it takes longer. A later result is discarded. */
export async function within<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new TimeoutError(`no answer within ${milliseconds} ms`)), milliseconds);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
