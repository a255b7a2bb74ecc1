/** What was not done in time. */
export class TimeoutError extends Error {}

/** What work comes to; rejects with a TimeoutError if that takes longer. What comes after the time is told to nobody. */
export async function within<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new TimeoutError(`no answer within ${milliseconds} ms`)), milliseconds);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
