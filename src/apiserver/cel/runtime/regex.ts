/** Regular expressions of users, on an engine that takes linear time. Upstream: Go's package regexp. */
import type { RE2JS } from 're2js';
import { compileRegexp, RegexpError } from '#apimachinery/runtime/regexp';
import { CelError, type Value } from './values.ts';

/** Compiles a pattern; an error with Go's message if it is none. */
export function compilePattern(pattern: string): RE2JS | CelError {
  try {
    return compileRegexp(pattern);
  } catch (error) {
    if (error instanceof RegexpError) return new CelError(error.message);
    throw error;
  }
}

/** Whether a text has a part that matches. */
export function matchText(text: string, pattern: string): Value {
  const compiled = compilePattern(pattern);
  return compiled instanceof CelError ? compiled : compiled.test(text);
}

/** The first `limit` matches in a text, all of them if it is negative; undefined where the pattern is wrong. */
export function findAll(text: string, pattern: string, limit: number): string[] | CelError {
  const compiled = compilePattern(pattern);
  if (compiled instanceof CelError) return compiled;
  const matcher = compiled.matcher(text);
  const found: string[] = [];
  while ((limit < 0 || found.length < limit) && matcher.find()) found.push(matcher.group() ?? '');
  return found;
}
