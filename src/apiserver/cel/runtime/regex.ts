/** Regular expressions of users, run by a linear-time engine. Upstream: Go's package regexp. */
import { compileRegexp, type Regexp, RegexpError } from '#apimachinery/runtime/regexp';
import { CelError, type Value } from './values.ts';

/** Compiles a pattern. Returns an error with Go's message if it is invalid. */
export function compilePattern(pattern: string): Regexp | CelError {
  return orError(() => compileRegexp(pattern));
}

function orError<T>(work: () => T): T | CelError {
  try {
    return work();
  } catch (error) {
    if (error instanceof RegexpError) return new CelError(error.message);
    throw error;
  }
}

/** True if any part of the text matches. */
export function matchText(text: string, pattern: string): Value {
  return orError(() => compileRegexp(pattern).test(text));
}

/** Returns the first `limit` matches, or all if it is negative; an error if the pattern is invalid. */
export function findAll(text: string, pattern: string, limit: number): readonly string[] | CelError {
  return orError(() => compileRegexp(pattern).findAll(text, limit));
}
