import { RE2JS, RE2JSSyntaxException } from 're2js';
import { memos } from './memos.ts';

/** A pattern that Go's regexp refuses, too; the message is Go's. */
export class RegexpError extends Error {}

/** Escapes, quotations and classes, in which `(?P<` opens no group, and the openings of groups that have a name. */
const openings = /\\Q[\s\S]*?(?:\\E|$)|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:\^?\w+:\]|[^\]\\])*\]|\(\?P?<\w+>/g;

/** Patterns that are kept compiled, the one used last at the end, as long as their programs have fewer instructions together. */
const compiled = new Map<string, RE2JS>();
const maxInstructions = 200_000;
let instructions = 0;

/**
 * `compilePattern`, for patterns that are kept: a schema's is compiled when it is validated, and again by each validator that is made of it.
 * Throws RegexpError.
 */
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
 * Compiles a pattern of a client on an engine that takes linear time, with the syntax and the messages of Go's package regexp. Throws
 * RegexpError. Nobody asks for groups by name here, so that Go's leave to use a name twice costs those names.
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

/** Which part of a pattern Go says is wrong. */
function rejected(error: RE2JSSyntaxException, pattern: string): string {
  const isOfAll = /too deeply|too large/.test(error.getDescription());
  return error.getPattern() ?? (isOfAll ? pattern : '');
}
