import { RE2JS, RE2JSSyntaxException } from 're2js';
import { memos } from './memos.ts';
import { patternUnits, takesLong } from './pattern-size.ts';
import { callElsewhere } from './suspended.ts';

/** Error for a pattern that Go's regexp rejects too; the message is Go's. */
export class RegexpError extends Error {}

/** A pattern with the syntax of Go's package regexp, which is matched in linear time. */
export interface Regexp {
  /** True if any part of the text matches. */
  test(text: string): boolean;
  /** Returns the first `limit` matches, or all if it is negative. */
  findAll(text: string, limit: number): readonly string[];
}

/** Work on a pattern, which another thread may do. */
export interface RegexpTask {
  readonly operation: 'compile' | 'test' | 'findAll';
  readonly pattern: string;
  readonly text: string;
  readonly limit: number;
}

/** The result, or Go's message for a pattern that it rejects. */
export interface RegexpResult {
  readonly matches?: boolean;
  readonly found?: readonly string[];
  readonly failed?: string;
}

/** Openings of named groups, and escapes, quotations and classes, in which `(?P<` is literal. */
const openings = /\\Q[\s\S]*?(?:\\E|$)|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:\^?\w+:\]|[^\]\\])*(?:\]|\\?$)|\(\?P?<\w+>/g;

/** LRU cache of compiled patterns, the most recent last, limited by the total number of program instructions. */
const compiled = new Map<string, Program>();
const maxInstructions = 200_000;
let instructions = 0;

/**
 * Returns a compiled pattern. Throws RegexpError.
 *
 * A large pattern takes seconds to compile, and a long text to match. Within a computation that can restart (`settled`), another thread
 * does both if there is one (`setRegexpThread`); otherwise, a large pattern is compiled on first use.
 */
export function compileRegexp(pattern: string): Regexp {
  const known = compiled.get(pattern);
  const units = known?.units ?? patternUnits(pattern);
  if (known || !takesLong(units, 0)) return new SharedRegexp(pattern, units, programOf(pattern, units));
  const result = resultElsewhere({ operation: 'compile', pattern, text: '', limit: 0 }, {});
  if (result?.failed !== undefined) throw new RegexpError(result.failed);
  return new SharedRegexp(pattern, units);
}

/** Does the work in this thread. */
export function runRegexpTask({ operation, pattern, text, limit }: RegexpTask): RegexpResult {
  try {
    const program = programOf(pattern, patternUnits(pattern));
    if (operation === 'compile') return {};
    return operation === 'test' ? { matches: program.test(text) } : { found: program.findAll(text, limit) };
  } catch (error) {
    if (error instanceof RegexpError) return { failed: error.message };
    throw error;
  }
}

/** A pattern that is matched by this thread or another one. */
class SharedRegexp implements Regexp {
  readonly #pattern: string;
  readonly #units: number;
  #program: Program | undefined;

  constructor(pattern: string, units: number, program?: Program) {
    this.#pattern = pattern;
    this.#units = units;
    this.#program = program;
  }

  test(text: string): boolean {
    return this.#elsewhere('test', text, 0, { matches: true })?.matches ?? this.#here().test(text);
  }

  findAll(text: string, limit: number): readonly string[] {
    return this.#elsewhere('findAll', text, limit, { found: [] })?.found ?? this.#here().findAll(text, limit);
  }

  /** Throws RegexpError for a large pattern that was not compiled before. */
  #elsewhere(operation: RegexpTask['operation'], text: string, limit: number, placeholder: RegexpResult): RegexpResult | undefined {
    if (!takesLong(this.#units, text.length)) return undefined;
    const result = resultElsewhere({ operation, pattern: this.#pattern, text, limit }, placeholder);
    if (result?.failed !== undefined) throw new RegexpError(result.failed);
    return result;
  }

  #here(): Program {
    return (this.#program ??= programOf(this.#pattern, this.#units));
  }
}

let runInThread: ((task: RegexpTask) => Promise<RegexpResult>) | undefined;

/** Sets the function that gives work on large patterns and long texts to another thread. */
export function setRegexpThread(run: (task: RegexpTask) => Promise<RegexpResult>): void {
  runInThread = run;
}

/** Returns the result of another thread, or the placeholder while it is pending; undefined if this thread has to do the work. */
function resultElsewhere(task: RegexpTask, placeholder: RegexpResult): RegexpResult | undefined {
  const { operation, pattern, text, limit } = task;
  const run = runInThread;
  return run && callElsewhere(() => [`${operation} ${limit} ${pattern.length} ${pattern}${text}`, () => run(task)], placeholder);
}

/** A pattern compiled by this thread. */
class Program implements Regexp {
  readonly units: number;
  readonly #re2: RE2JS;

  constructor(pattern: string, units: number) {
    this.units = units;
    this.#re2 = compilePattern(pattern);
  }

  get size(): number {
    return this.#re2.programSize();
  }

  test(text: string): boolean {
    return this.#re2.test(text);
  }

  findAll(text: string, limit: number): readonly string[] {
    const matcher = this.#re2.matcher(text);
    const found: string[] = [];
    while ((limit < 0 || found.length < limit) && matcher.find()) found.push(matcher.group() ?? '');
    return found;
  }
}

/** Returns a cached compiled pattern: a schema's is compiled when it is validated, and again by each validator of that schema. */
function programOf(pattern: string, units: number): Program {
  if (!memos.patterns) return new Program(pattern, units);
  const known = compiled.get(pattern);
  if (known) compiled.delete(pattern);
  const program = known ?? new Program(pattern, units);
  compiled.set(pattern, program);
  if (!known) {
    instructions += program.size;
    for (const [oldest, { size }] of compiled) {
      if (instructions <= maxInstructions) break;
      compiled.delete(oldest);
      instructions -= size;
    }
  }
  return program;
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
