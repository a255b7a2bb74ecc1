import { RE2JS, RE2JSSyntaxException } from 're2js';
import { memos } from './memos.ts';

/** Error for a pattern that Go's regexp rejects too; the message is Go's. */
export class RegexpError extends Error {}

/** Escapes, quotations and classes, in which `(?P<` is literal, and openings of named groups. */
const openings = /\\Q[\s\S]*?(?:\\E|$)|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:\^?\w+:\]|[^\]\\])*\]|\(\?P?<\w+>/g;

/** LRU cache of compiled patterns, the most recent last, limited by the total number of program instructions. */
const compiled = new Map<string, RE2JS>();
const maxInstructions = 200_000;
let instructions = 0;

/** Returns a cached compiled pattern: a schema's is compiled when it is validated, and again by each validator of that schema. Throws RegexpError. */
export function compileRegexp(pattern: string): RE2JS {
  if (!memos.patterns) return compilePattern(pattern);
  const known = compiled.get(pattern);
  if (known) compiled.delete(pattern);
  const regexp = known ?? compilePattern(pattern);
  compiled.set(pattern, regexp);
  if (!known) {
    instructions += regexp.programSize();
    for (const [oldest, program] of compiled) {
      if (instructions <= maxInstructions) break;
      compiled.delete(oldest);
      instructions -= program.programSize();
    }
  }
  return regexp;
}

/**
 * Compiles a client's pattern with a linear-time engine, with the syntax and messages of Go's package regexp. Throws RegexpError. Group
 * names are not needed, so repeated ones, which Go allows, are removed.
 */
function compilePattern(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    if (error.getDescription() === 'duplicate capture group name')
      return compilePattern(pattern.replace(openings, (found) => (found.startsWith('(') ? '(' : found)));
    throw new RegexpError(`error parsing regexp: ${error.getDescription()}: \`${rejected(error, pattern)}\``, { cause: error });
  }
}

/** Returns the part of the pattern that Go's message names. */
function rejected(error: RE2JSSyntaxException, pattern: string): string {
  const isOfAll = /too deeply|too large/.test(error.getDescription());
  return error.getPattern() ?? (isOfAll ? pattern : '');
}
