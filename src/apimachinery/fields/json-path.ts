import { Buffer } from 'node:buffer';
import { getOwn, isJsonObject } from '../patch/own-property.ts';
import { Float64, isContainer, isInt64, isNumber } from '../runtime/numbers.ts';

/** Error for a malformed path. */
export class JsonPathError extends Error {
  override readonly name = 'JsonPathError';
}

/** Error for a path that an object does not have. */
class FollowError extends Error {}

/** Error for a path that visits too many values. */
class WorkError extends Error {}

/** Maximum number of values that a path visits: unions and descents multiply them, `['a','a']['a','a']` visits each value four times. */
const maxVisited = 200_000;

/** Counts the values that a path visits. */
class Work {
  #left = maxVisited;

  /** Returns the results for all inputs. Throws WorkError if the path has visited too many values. */
  gather<T>(inputs: readonly T[], expand: (input: T) => readonly unknown[]): unknown[] {
    const found: unknown[] = [];
    for (const input of inputs) {
      const values = expand(input);
      this.#left -= values.length + 1;
      if (this.#left < 0) throw new WorkError('path visits too many values');
      for (const value of values) found.push(value);
    }
    return found;
  }
}

type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'descent' }
  | { readonly kind: 'index'; readonly range: IndexRange }
  | { readonly kind: 'union'; readonly members: readonly (readonly Step[])[] }
  | { readonly kind: 'filter'; readonly left: readonly Step[]; readonly operator: string; readonly right: readonly Step[] }
  /** A quoted text or a number. */
  | { readonly kind: 'constant'; readonly value: unknown }
  /** A word such as `range`, which no path of a column can use. */
  | { readonly kind: 'word'; readonly name: string };

/** Range of a list; undefined parts are open. `isOne` is true if the end follows from the start: `[1]`. */
interface IndexRange {
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly isOne: boolean;
  readonly step: number;
}

const maxSteps = 64;

/**
 * A compiled JSONPath of kubectl and printer columns: fields, `['quoted']`, `[0]`, `[-1]`, `[0:2]`, `[*]`, `..`, unions and filters
 * (`[?(@.type=="Ready")]`). Upstream: client-go/util/jsonpath.
 */
export class JsonPath {
  readonly #steps: readonly Step[];

  /** Compiles `text`, which has no braces: `.spec.size`. Throws JsonPathError. */
  constructor(text: string) {
    this.#steps = new Parser(text).parse();
  }

  /**
   * Returns all matches; missing ones are left out. Returns none where upstream fails, such as for an index out of range, and for a path
   * that visits more than 200,000 values.
   */
  find(root: unknown): unknown[] {
    try {
      return walk(this.#steps, [root], new Work());
    } catch (error) {
      if (error instanceof FollowError || error instanceof WorkError) return [];
      throw error;
    }
  }
}

function walk(steps: readonly Step[], values: readonly unknown[], work: Work): unknown[] {
  let found: unknown[] = [...values];
  for (const step of steps) found = follow(step, found, work);
  return found;
}

/** Applies a step to all values found so far. Upstream: walk of jsonpath.go. */
function follow(step: Step, values: readonly unknown[], work: Work): unknown[] {
  switch (step.kind) {
    case 'field':
      return work.gather(values, (value) => (isJsonObject(value) && Object.hasOwn(value, step.name) ? [getOwn(value, step.name)] : []));
    case 'wildcard':
      return work.gather(values, childrenOf);
    case 'descent':
      return work.gather(values, descend);
    case 'index':
      return work.gather(values, (value) => slice(value, step.range));
    case 'union':
      return work.gather(step.members, (member) => walk(member, values, work));
    case 'filter':
      return work.gather(values, (value) => listOf(value).filter((item) => holds(step, item, work)));
    case 'constant':
      return typeof step.value === 'string' ? [step.value] : values.map(() => step.value);
    case 'word':
      throw new FollowError(`unrecognized identifier ${step.name}`);
  }
}

/** Returns items or members. As in Go, the items of a string are its bytes. */
function childrenOf(value: unknown): unknown[] {
  if (typeof value === 'string') return [...Buffer.from(value)];
  return Array.isArray(value) ? (value as unknown[]) : isJsonObject(value) ? Object.values(value) : [];
}

/** Returns a value and its descendants, without recursion, since clients choose the depth of their objects. Empty values are left out. */
function descend(root: unknown): unknown[] {
  const found: unknown[] = [];
  const pending = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    const children = isContainer(value) ? Object.values(value) : [];
    if (children.length > 0 || (typeof value === 'string' && value !== '')) found.push(value);
    for (const each of children.reverse()) pending.push(each);
  }
  return found;
}

function listOf(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new FollowError('value is not array or slice');
  return value as unknown[];
}

/** Selects items of a list by index or range. Upstream: evalArray. */
function slice(value: unknown, { from = 0, to, isOne, step }: IndexRange): unknown[] {
  if (value === null) return [];
  const list = listOf(value);
  const { length } = list;
  const begin = from < 0 ? from + length : from;
  const end = to === undefined ? length : to < 0 || (to === 0 && isOne) ? to + length : to;
  if (begin === end) return [];
  if (begin < 0 || begin >= length || end < 0 || end > length) throw new FollowError('array index out of bounds');
  if (begin > end) throw new FollowError('starting index is greater than ending index');
  if (step <= 0) throw new FollowError('step must be > 0');
  return list.slice(begin, end).filter((_, i) => i % step === 0);
}

/** Returns true if the filter selects the item. Upstream: evalFilter. */
function holds({ left, operator, right }: Step & { kind: 'filter' }, item: unknown, work: Work): boolean {
  if (operator === 'exists') return exists(left, item, work);
  const a = operandOf(left, item, work);
  if (a === undefined) return false;
  const b = operandOf(right, item, work);
  return b !== undefined && compares(a, b, operator);
}

/** Returns true also for a path that fails, as upstream. */
function exists(path: readonly Step[], item: unknown, work: Work): boolean {
  try {
    return walk(path, [item], work).length > 0;
  } catch (error) {
    if (error instanceof FollowError) return true;
    throw error;
  }
}

function operandOf(path: readonly Step[], item: unknown, work: Work): unknown {
  const found = walk(path, [item], work);
  if (found.length > 1) throw new FollowError('can only compare one element at a time');
  return found[0];
}

/** Compares values of one basic type; integers and floats are two types. Upstream: third_party/forked/golang/template/funcs.go. */
function compares(a: unknown, b: unknown, operator: string): boolean {
  const type = basicType(a);
  if (type !== basicType(b)) throw new FollowError('incompatible types for comparison');
  const [x, y] = (type === 'float' ? [Number(a), Number(b)] : [a, b]) as [string, string];
  if (operator === '==') return x === y;
  if (operator === '!=') return x !== y;
  if (type === 'boolean') throw new FollowError('invalid type for comparison');
  switch (operator) {
    case '<':
      return x < y;
    case '<=':
      return x <= y;
    case '>':
      return x > y;
    case '>=':
      return x >= y;
    default:
      throw new FollowError(`unrecognized filter operator ${operator}`);
  }
}

function basicType(value: unknown): string {
  if (isNumber(value)) return isInt64(value) ? 'integer' : 'float';
  if (typeof value === 'string' || typeof value === 'boolean') return typeof value;
  throw new FollowError('invalid type for comparison');
}

/** Parser of the text between the braces of a template. Upstream: client-go/util/jsonpath/parser.go (parseInsideAction). */
class Parser {
  readonly #steps: Step[] = [];
  #at = 0;

  constructor(readonly text: string) {}

  /** Parses up to the end or a closing brace. */
  parse(): Step[] {
    while (this.#at < this.text.length && this.text[this.#at] !== '}') {
      if (this.#steps.length > maxSteps) throw new JsonPathError(`path has more than ${maxSteps} steps`);
      this.#next();
    }
    return this.#steps;
  }

  #next(): void {
    if (this.#skips('[?(')) return this.#filter();
    if (this.#skips('..')) return this.#descent();
    const char = String.fromCodePoint(this.text.codePointAt(this.#at)!);
    if (/[ @$]/.test(char)) this.#at++;
    else if (this.#skips('[')) this.#selector();
    else if (char === '"' || char === "'") this.#quoted(char);
    else if (this.#skips('.')) this.#field();
    else if (/[+\-\p{Nd}]/u.test(char)) this.#number();
    else if (/[_\p{L}]/u.test(char)) this.#word();
    else throw new JsonPathError(`unrecognized character in action: ${char}`);
  }

  #skips(prefix: string): boolean {
    if (!this.text.startsWith(prefix, this.#at)) return false;
    this.#at += prefix.length;
    return true;
  }

  /** Reads the text that a sticky expression matches. */
  #match(expression: RegExp): string {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  #selector(): void {
    const text = this.#match(/[^\]\n]*/y);
    if (!this.#skips(']')) throw new JsonPathError('unterminated array');
    this.#steps.push(...selectorOf(text));
  }

  #descent(): void {
    if (this.#steps.at(-1)?.kind === 'descent') throw new JsonPathError('invalid multiple recursive descent');
    this.#steps.push({ kind: 'descent' });
    if (/^[_\p{L}\p{Nd}]/u.test(this.text.slice(this.#at, this.#at + 2))) this.#field();
  }

  #field(): void {
    const name = this.#match(/(?:\\.?|[^\\ \t\r\n.,[\]$@{}])*/sy);
    this.#steps.push(name === '*' ? { kind: 'wildcard' } : { kind: 'field', name: name.replaceAll('\\', '') });
  }

  #number(): void {
    const text = this.#match(/[+-]?[.\p{Nd}]*/uy);
    if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/.test(text)) throw new JsonPathError(`cannot parse number ${text}`);
    this.#steps.push({ kind: 'constant', value: text.includes('.') ? Float64.of(Number(text)) : Number(text) });
  }

  #word(): void {
    const name = this.#match(/[^ \t\r\n.,[\]$@{}]*/y);
    this.#steps.push(name === 'true' || name === 'false' ? { kind: 'constant', value: name === 'true' } : { kind: 'word', name });
  }

  #quoted(quote: string): void {
    const text = this.#match(quote === '"' ? /"(?:[^"\n]|(?<=\\)")*(?<!\\)"/y : /'(?:[^'\n]|(?<=\\)')*(?<!\\)'/y);
    if (text === '') throw new JsonPathError('unterminated quoted string');
    this.#steps.push({ kind: 'constant', value: text.slice(1, -1).replace(/\\(.)/gs, '$1') });
  }

  /** Reads a filter up to its `)]`; a parenthesis within the first quotes does not end it. */
  #filter(): void {
    const text = this.#match(/[^"')\n]*(?:(["'])(?:(?!\1)[^\n]|(?<=\\)\1)*(?<!\\)\1[^)\n]*)?/y);
    if (!this.#skips(')')) throw new JsonPathError('unterminated filter');
    if (!this.#skips(']')) throw new JsonPathError('unclosed array expect ]');
    const [, left, operator = 'exists', right = ''] = /^([^!<>=]+)([!<>=]+)(.+)$/s.exec(text) ?? ['', text];
    this.#steps.push({ kind: 'filter', left: new Parser(left!).parse(), operator, right: new Parser(right).parse() });
  }
}

/** Compiles the text between brackets; a quoted name is itself a path: dots in names need a backslash. Upstream: parseArray. */
function selectorOf(text: string): readonly Step[] {
  if (text === '*') return [{ kind: 'index', range: { from: undefined, to: undefined, isOne: false, step: 1 } }];
  const parts = text.split(',');
  if (parts.length > 1) return [{ kind: 'union', members: parts.map((part) => selectorOf(part.replace(/^ +| +$/g, ''))) }];
  const quoted = /^'([^']*)'$/.exec(text);
  if (quoted) return new Parser(`.${quoted[1]}`).parse();
  const indexes = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(text);
  if (!indexes) throw new JsonPathError(`invalid array index ${text}`);
  const [from, to, step] = [indexes[1], indexes[2]?.slice(1), indexes[3]?.slice(1)].map((digits) => {
    if (digits === '-') throw new JsonPathError('array index - is not a number');
    return digits ? Number(digits) : undefined;
  });
  const isOne = indexes[2] === undefined;
  return [{ kind: 'index', range: { from, to: isOne ? (from ?? 0) + 1 : to, isOne, step: step ?? 1 } }];
}
