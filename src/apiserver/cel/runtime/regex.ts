/** Regular expressions of users, run by a linear-time engine. Upstream: Go's package regexp. */
import type { RE2JS } from 're2js';
import { compileRegexp, RegexpError } from '#apimachinery/runtime/regexp';
import { CelError, type Value } from './values.ts';

/** Compiles a pattern. Returns an error with Go's message if it is invalid. */
export function compilePattern(pattern: string): RE2JS | CelError {
  try {
    return compileRegexp(pattern);
  } catch (error) {
    if (error instanceof RegexpError) return new CelError(error.message);
    throw error;
  }
}

/** True if any part of the text matches. */
export function matchText(text: string, pattern: string): Value {
  const compiled = compilePattern(pattern);
  return compiled instanceof CelError ? compiled : compiled.test(text);
}

/** Returns the first `limit` matches, or all if it is negative; an error if the pattern is invalid. */
export function findAll(text: string, pattern: string, limit: number): string[] | CelError {
  const compiled = compilePattern(pattern);
  if (compiled instanceof CelError) return compiled;
  const matcher = compiled.matcher(text);
  const found: string[] = [];
  while ((limit < 0 || found.length < limit) && matcher.find()) found.push(matcher.group() ?? '');
  return found;
}
