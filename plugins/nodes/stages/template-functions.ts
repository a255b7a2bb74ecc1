import { spendWork, workOfText } from '../shell/work.ts';
import { TemplateError } from './template-parser.ts';

/** Truth in templates: empty values are false. Upstream: text/template (IsTrue). */
export function isTrue(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === 0 || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value !== 'object' || entriesOfObject(value).length > 0;
}

/** Text of a value in the output. Missing values print as in Go. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return '<no value>';
  return typeof value === 'object' ? jsonOf(value) : String(value);
}

/** Lists the members of an object, as work that counts. */
export function entriesOfObject(value: object): [string, unknown][] {
  const entries = Object.entries(value);
  spendWork(entries.length);
  return entries;
}

/** Text of a value as JSON. A template can nest lists that contain one value many times, so each occurrence counts before it is written. */
function jsonOf(value: unknown): string {
  const count = (one: unknown): void => {
    spendWork(typeof one === 'string' ? workOfText(one) : 1);
    if (typeof one === 'object' && one !== null) for (const [, member] of entriesOfObject(one)) count(member);
  };
  count(value);
  return JSON.stringify(value ?? null);
}

const comparable = (a: unknown, b: unknown): boolean => typeof a === typeof b && (typeof a === 'number' || typeof a === 'string');

function less(a: unknown, b: unknown): boolean {
  if (!comparable(a, b)) throw new TemplateError('incompatible types for comparison');
  return (a as number) < (b as number);
}

function equal(a: unknown, b: unknown): boolean {
  const isMissing = a === undefined || a === null || b === undefined || b === null;
  if (!isMissing && typeof a !== typeof b) throw new TemplateError('incompatible types for comparison');
  return (a ?? undefined) === (b ?? undefined);
}

function indexOf(value: unknown, ...keys: unknown[]): unknown {
  return keys.reduce((current, key) => {
    if (current === undefined || current === null) throw new TemplateError('index of untyped nil');
    if (Array.isArray(current)) {
      const at = Number(key);
      if (!Number.isInteger(at) || at < 0 || at >= current.length) throw new TemplateError(`index out of range: ${textOf(key)}`);
      return current[at] as unknown;
    }
    if (typeof current !== 'object') throw new TemplateError(`can't index ${textOf(current)}`);
    return Object.hasOwn(current, String(key)) ? (current as Record<string, unknown>)[String(key)] : undefined;
  }, value);
}

function lengthOf(value: unknown): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length;
  if (typeof value === 'object' && value !== null) return entriesOfObject(value).length;
  throw new TemplateError('len of a value that has none');
}

function dict(...args: unknown[]): Record<string, unknown> {
  const result = Object.create(null) as Record<string, unknown>;
  for (let i = 0; i < args.length; i += 2) result[textOf(args[i])] = args[i + 1] ?? '';
  return result;
}

function printf(format: unknown, ...args: unknown[]): string {
  const values = [...args];
  return textOf(format).replace(/%(?:[svd]|q|%)/g, (verb) => {
    if (verb === '%%') return '%';
    const value = textOf(values.shift());
    return verb === '%q' ? JSON.stringify(value) : value;
  });
}

/**
 * Quotes a value as a JSON string, which is YAML too; other values as the string of their JSON. Upstream: kwok/pkg/utils/gotpl/funcs.go.
 */
function quote(value: unknown): string {
  return JSON.stringify(typeof value === 'string' ? value : jsonOf(value));
}

/** Text of a value in YAML's flow style, which is its JSON, with a line feed at its end, as in Go. */
function yaml(value: unknown, indent?: unknown): string {
  const text = `${jsonOf(value)}\n`;
  const spaces = ' '.repeat(Math.min(Number(indent ?? 0), 20) * 2);
  return spaces === '' ? text : `\n${text}`.replaceAll('\n', `\n${spaces}`);
}

const number = (value: unknown): number => Math.trunc(Number(value)) || 0;

/** Functions of Go's templates, of kwok, and those of sprig that stages use. */
export const builtInFunctions: Readonly<Record<string, (...args: unknown[]) => unknown>> = {
  not: (value) => !isTrue(value),
  eq: (value, ...others) => others.some((other) => equal(value, other)),
  ne: (a, b) => !equal(a, b),
  lt: (a, b) => less(a, b),
  le: (a, b) => less(a, b) || equal(a, b),
  gt: (a, b) => less(b, a),
  ge: (a, b) => !less(a, b),
  index: indexOf,
  len: lengthOf,
  print: (...args) => args.map(textOf).join(''),
  printf,
  Quote: quote,
  YAML: yaml,
  dict,
  list: (...items) => items,
  default: (otherwise, value) => (isTrue(value) ? value : otherwise),
  empty: (value) => !isTrue(value),
  coalesce: (...values) => values.find(isTrue),
  ternary: (yes, no, condition) => (isTrue(condition) ? yes : no),
  quote: (...values) => values.map((value) => JSON.stringify(textOf(value))).join(' '),
  upper: (text) => textOf(text).toUpperCase(),
  lower: (text) => textOf(text).toLowerCase(),
  trim: (text) => textOf(text).trim(),
  toString: textOf,
  join: (separator, items) => (Array.isArray(items) ? items.map(textOf).join(textOf(separator)) : textOf(items)),
  hasKey: (object, key) => typeof object === 'object' && object !== null && Object.hasOwn(object, textOf(key)),
  int: number,
  add: (...values) => values.reduce<number>((sum, value) => sum + number(value), 0),
  sub: (a, b) => number(a) - number(b),
};
