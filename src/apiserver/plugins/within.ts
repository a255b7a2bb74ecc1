import { errorOf } from './error-of.ts';

/** An operation that did not complete in time. */
export class TimeoutError extends Error {}

/**
 * Returns the result of a plugin's work, or rejects with an Error: a TimeoutError if it takes longer, which includes the time of thenables
 * with which it resolves. A later result is discarded.
 */
export function within<T>(work: PromiseLike<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimeoutError(`no answer within ${milliseconds} ms`)), milliseconds);
    // A promise of the engine settles once, and adopts thenables until a value is none.
    new Promise<T>((adopt) => adopt(work)).then(
      (result) => {
        clearTimeout(timer);
        resolve(result);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(errorOf(error));
      },
    );
  });
}
