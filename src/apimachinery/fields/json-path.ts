import { getOwn, isJsonObject } from '../patch/own-property.ts';
import { deepEqual } from '../runtime/equality.ts';
import { isContainer, isNumber } from '../runtime/numbers.ts';

/** Error for a malformed path. */
export class JsonPathError extends Error {
  override readonly name = 'JsonPathError';
}

/** Error for a path that an object does not have. */
class FollowError extends Error {}

type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'descent' }
  | { readonly kind: 'index'; readonly from: number | undefined; readonly to: number | undefined; readonly step: number }
  | { readonly kind: 'union'; readonly members: readonly (readonly Step[])[] }
  | { readonly kind: 'filter'; readonly left: Operand; readonly operator: string; readonly right: Operand | undefined };

type Operand = { readonly path: readonly Step[] } | { readonly value: unknown };

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

  /** Returns all matches; missing ones are left out. Returns none where upstream fails, such as for an index out of range. */
  find(root: unknown): unknown[] {
    try {
      return walk(this.#steps, [root]);
    } catch (error) {
      if (error instanceof FollowError) return [];
      throw error;
    }
  }
}

function walk(steps: readonly Step[], values: readonly unknown[]): unknown[] {
  let found: unknown[] = [...values];
  for (const step of steps) found = found.flatMap((value) => follow(step, value));
  return found;
}

function follow(step: Step, value: unknown): unknown[] {
  switch (step.kind) {
    case 'field':
      return isJsonObject(value) && Object.hasOwn(value, step.name) ? [getOwn(value, step.name)] : [];
    case 'wildcard':
      return Array.isArray(value) ? (value as unknown[]) : isJsonObject(value) ? Object.values(value) : [];
    case 'descent':
      return descend(value);
    case 'index':
      return slice(value, step);
    case 'union':
      return step.members.flatMap((member) => walk(member, [value]));
    case 'filter':
      return Array.isArray(value) ? (value as unknown[]).filter((item) => holds(step, item)) : [];
  }
}

/** Returns a value and its descendants, without recursion, since clients choose the depth of their objects. */
function descend(root: unknown): unknown[] {
  const found: unknown[] = [];
  const pending = [root];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (!isContainer(value)) continue;
    found.push(value);
    for (const each of Object.values(value).reverse()) pending.push(each);
  }
  return found;
}

/** Selects items of a list by index or range. Upstream: evalArray. */
function slice(list: unknown, { from, to, step }: Step & { kind: 'index' }): unknown[] {
  if (list === null || list === undefined) return [];
  if (!Array.isArray(list)) throw new FollowError('value is not array or slice');
  const { length } = list;
  const begin = from === undefined ? 0 : from < 0 ? from + length : from;
  const end = to === undefined ? length : to < 0 || (to === 0 && (from ?? 0) < 0) ? to + length : to;
  if (begin === end) return [];
  if (begin < 0 || begin >= length || end < 0 || end > length) throw new FollowError('array index out of bounds');
  if (begin > end) throw new FollowError('starting index is greater than ending index');
  return (list as unknown[]).slice(begin, end).filter((_, i) => i % step === 0);
}

function holds({ left, operator, right }: Step & { kind: 'filter' }, item: unknown): boolean {
  const [a] = evaluate(left, item);
  if (!right) return a !== undefined;
  const [b] = evaluate(right, item);
  if (a === undefined || b === undefined) return false;
  switch (operator) {
    case '==':
      return deepEqual(a, b);
    case '!=':
      return !deepEqual(a, b);
    default:
      return compare(a, b, operator);
  }
}

function compare(a: unknown, b: unknown, operator: string): boolean {
  if (!(isNumber(a) && isNumber(b)) && !(typeof a === 'string' && typeof b === 'string')) return false;
  const less = a < b;
  const equal = a === b;
  return operator === '<' ? less : operator === '<=' ? less || equal : operator === '>' ? !less && !equal : !less;
}

function evaluate(operand: Operand, item: unknown): unknown[] {
  return 'path' in operand ? walk(operand.path, [item]) : [operand.value];
}

class Parser {
  #at = 0;

  constructor(readonly text: string) {}

  parse(): Step[] {
    if (this.text.startsWith('$') || this.text.startsWith('@')) this.#at = 1;
    return this.#steps();
  }

  #steps(): Step[] {
    const steps: Step[] = [];
    while (this.#at < this.text.length) {
      if (steps.length > maxSteps) throw new JsonPathError(`path has more than ${maxSteps} steps`);
      const char = this.text[this.#at];
      if (char === '[') steps.push(...this.#bracket());
      else if (this.text.startsWith('..', this.#at)) {
        this.#at += 2;
        steps.push({ kind: 'descent' });
        if (this.text.startsWith('..', this.#at)) throw new JsonPathError('invalid multiple recursive descent');
        if (this.#at < this.text.length && !'[.'.includes(this.text[this.#at]!)) steps.push(this.#name());
      } else if (char === '.') {
        this.#at += 1;
        // A trailing dot selects the object itself.
        if (this.#at < this.text.length && this.text[this.#at] !== '[') steps.push(this.#name());
      } else steps.push(this.#name());
    }
    return steps;
  }

  #name(): Step {
    let name = '';
    for (; this.#at < this.text.length; this.#at++) {
      const char = this.text[this.#at] as string;
      if (char === '\\') name += this.text[++this.#at] ?? '';
      else if (/[.[\]\s{}=!<>|&()]/.test(char)) break;
      else name += char;
    }
    if (name === '') throw new JsonPathError(`unrecognized character in ${this.text}`);
    return name === '*' ? { kind: 'wildcard' } : { kind: 'field', name };
  }

  #bracket(): readonly Step[] {
    const inside = this.#untilClosing();
    const filter = /^\?\((.*)\)$/s.exec(inside);
    if (filter) return [filterOf(filter[1] as string)];
    const parts = splitOutsideQuotes(inside, ',');
    if (parts.length > 1) return [{ kind: 'union', members: parts.map((part) => selectorOf(part.trim())) }];
    return selectorOf(inside.trim());
  }

  /** Reads the text up to the closing bracket. */
  #untilClosing(): string {
    const start = ++this.#at;
    let depth = 1;
    let quote = '';
    for (; this.#at < this.text.length; this.#at++) {
      const char = this.text[this.#at] as string;
      if (quote !== '') {
        if (char === '\\') this.#at++;
        else if (char === quote) quote = '';
      } else if (char === "'" || char === '"') quote = char;
      else if (char === '[') depth++;
      else if (char === ']' && --depth === 0) return this.text.slice(start, this.#at++);
    }
    throw new JsonPathError('unterminated array');
  }
}

/** Compiles a quoted name, which is itself a path: dots in names need a backslash. */
function selectorOf(text: string): readonly Step[] {
  if (text === '*') return [{ kind: 'wildcard' }];
  const quoted = /^'([^']*)'$/.exec(text);
  if (quoted) return new Parser(`.${quoted[1]}`).parse();
  const indexes = /^(-?\d+)?(?:(:)(-?\d+)?(?::(\d+))?)?$/.exec(text);
  if (indexes && text !== '') {
    const [, from, colon, to, step] = indexes;
    const first = from === undefined ? undefined : Number(from);
    const last = colon ? (to === undefined ? undefined : Number(to)) : (first as number) + 1;
    if (step === '0') throw new JsonPathError('step must be > 0');
    return [{ kind: 'index', from: first, to: last, step: step === undefined ? 1 : Number(step) }];
  }
  throw new JsonPathError(`invalid array index ${text}`);
}

function filterOf(text: string): Step {
  const operator = /^((?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^"'=!<>])*)(==|!=|<=|>=|<|>)(.*)$/s.exec(text);
  if (!operator) return { kind: 'filter', left: operandOf(text.trim()), operator: 'exists', right: undefined };
  const [, left = '', sign = '', right = ''] = operator;
  return { kind: 'filter', left: operandOf(left.trim()), operator: sign, right: operandOf(right.trim()) };
}

function operandOf(text: string): Operand {
  const quoted = /^(['"])(.*)\1$/s.exec(text);
  if (quoted) return { value: (quoted[2] as string).replace(/\\(.)/gs, '$1') };
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return { value: Number(text) };
  if (text === 'true' || text === 'false') return { value: text === 'true' };
  return { path: new Parser(text).parse() };
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts: string[] = [];
  let part = '';
  let quote = '';
  for (const char of text) {
    if (quote !== '') quote = char === quote ? '' : quote;
    else if (char === "'" || char === '"') quote = char;
    else if (char === separator) {
      parts.push(part);
      part = '';
      continue;
    }
    part += char;
  }
  return [...parts, part];
}
