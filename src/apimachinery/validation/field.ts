/**
 * Field errors of validation. A list of them becomes one Invalid status (`newInvalid`). Upstream: apimachinery/pkg/util/validation/field.
 */
import { encodeJson, encodeString } from '../runtime/json/json.ts';
import { Float64, formatNumber } from '../runtime/numbers.ts';
import { quote } from '../runtime/quote.ts';

export type FieldErrorType =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTooFew'
  | 'FieldValueTooShort'
  | 'FieldValueTypeInvalid'
  | 'InternalError';

const titles: Readonly<Record<FieldErrorType, string>> = {
  FieldValueNotFound: 'Not found',
  FieldValueRequired: 'Required value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueInvalid: 'Invalid value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooLong: 'Too long',
  FieldValueTooMany: 'Too many',
  FieldValueTooFew: 'Too few',
  FieldValueTooShort: 'Too short',
  FieldValueTypeInvalid: 'Invalid value',
  InternalError: 'Internal error',
};

/** Types whose message never shows the value. */
const silent: ReadonlySet<FieldErrorType> = new Set<FieldErrorType>([
  'FieldValueRequired',
  'FieldValueForbidden',
  'FieldValueTooLong',
  'FieldValueTooShort',
  'InternalError',
]);

/** A bad value that the message does not show (a secret, or a large value). */
export const omitValue: unique symbol = Symbol('omitValue');

/**
 * A bad value that is already JSON, for instance a struct in the order of its fields: `new JsonText(encode(type, value))`. Other objects
 * are printed like a Go map, with sorted keys.
 */
export class JsonText {
  constructor(readonly text: string) {}
}

/** The path of a field: `spec.containers[0].env[KEY]`. Immutable; formatted only when an error needs it. */
export class Path {
  readonly #parent: Path | undefined;
  readonly #name: string;
  readonly #subscript: boolean;

  constructor(name: string, parent?: Path, subscript = false) {
    this.#name = name;
    this.#parent = parent;
    this.#subscript = subscript;
  }

  child(name: string, ...more: string[]): Path {
    let path = new Path(name, this);
    for (const next of more) path = new Path(next, path);
    return path;
  }

  index(index: number): Path {
    return new Path(String(index), this, true);
  }

  key(key: string): Path {
    return new Path(key, this, true);
  }

  toString(): string {
    // As upstream, an empty name is formatted as a subscript.
    const own = this.#subscript || this.#name === '' ? `[${this.#name}]` : this.#name;
    if (!this.#parent) return own;
    return this.#subscript || this.#name === '' ? this.#parent.toString() + own : `${this.#parent.toString()}.${own}`;
  }
}

/** Returns the path of a field: `fieldPath('spec', 'template').child('metadata')`. */
export function fieldPath(name: string, ...more: string[]): Path {
  const root = new Path(name);
  return more.length === 0 ? root : root.child(more[0]!, ...more.slice(1));
}

/** One error. It is data and not thrown; `newInvalid` converts a list of them. */
export class FieldError {
  constructor(
    readonly type: FieldErrorType,
    /** The path as text; `<nil>` for no path. */
    readonly field: string,
    readonly badValue: unknown,
    readonly detail: string,
  ) {}

  /**
   * Returns the message without the field: `Invalid value: "x": must be y`. `texts` caches the text of lists and objects, which many errors
   * may show.
   */
  body(texts?: Map<object, string>): string {
    const title = titles[this.type];
    const head = silent.has(this.type) || this.badValue === omitValue ? title : `${title}: ${formatBadValue(this.badValue, texts)}`;
    return this.detail ? `${head}: ${this.detail}` : head;
  }

  toString(): string {
    return `${this.field}: ${this.body()}`;
  }

  /** Returns the error with a prefix of its detail. */
  withDetailPrefix(prefix: string): FieldError {
    return new FieldError(this.type, this.field, this.badValue, prefix + this.detail);
  }
}

function formatBadValue(value: unknown, texts: Map<object, string> | undefined): string {
  switch (typeof value) {
    case 'string':
      return quote(value);
    case 'number':
    case 'bigint':
      return formatNumber(value);
    case 'boolean':
      return String(value);
    case 'undefined':
      return 'null';
    default:
      if (value instanceof Float64) return formatNumber(value);
      return value instanceof JsonText ? value.text : formatContainer(value as object | null, texts);
  }
}

function formatContainer(value: object | null, texts: Map<object, string> | undefined): string {
  if (value === null) return 'null';
  const known = texts?.get(value);
  if (known !== undefined) return known;
  const text = encodeJson(value);
  texts?.set(value, text);
  return text;
}

const at = (path: Path | undefined): string => (path ? path.toString() : '<nil>');

export function notFound(path: Path | undefined, value: unknown): FieldError {
  return new FieldError('FieldValueNotFound', at(path), value, '');
}

export function required(path: Path | undefined, detail = ''): FieldError {
  return new FieldError('FieldValueRequired', at(path), '', detail);
}

export function duplicate(path: Path | undefined, value: unknown): FieldError {
  return new FieldError('FieldValueDuplicate', at(path), value, '');
}

export function invalid(path: Path | undefined, value: unknown, detail: string): FieldError {
  return new FieldError('FieldValueInvalid', at(path), value, detail);
}

/**
 * Returns an error for an unsupported value. `validValues` are shown in the given order; most callers upstream sort them. The value has a
 * named string type in Go, as most enums do, and is printed as JSON; see `notSupportedText`.
 */
export function notSupported(path: Path | undefined, value: unknown, validValues: readonly string[]): FieldError {
  return notSupportedText(path, named(value), validValues);
}

/** Returns a bad value that has a named string type in Go, such as an enum or a UID: errors show it as JSON and plain strings as `%q`. */
export function named(value: unknown): unknown {
  return typeof value === 'string' && !plainText.test(value) ? new JsonText(encodeString(value)) : value;
}

/** Texts that Go prints equally as string and as JSON. */
const plainText = /^[ !#-%'-;=?-[\]-~]*$/;

/** Like `notSupported` for a plain Go string, which is printed as `%q`. */
export function notSupportedText(path: Path | undefined, value: unknown, validValues: readonly string[]): FieldError {
  const detail = validValues.length > 0 ? `supported values: ${validValues.map(quote).join(', ')}` : '';
  return new FieldError('FieldValueNotSupported', at(path), value, detail);
}

export function forbidden(path: Path | undefined, detail: string): FieldError {
  return new FieldError('FieldValueForbidden', at(path), '', detail);
}

/** Returns an error for an overlong value, which is never shown. A negative `maxLength` is unknown. */
export function tooLong(path: Path | undefined, _value: unknown, maxLength: number): FieldError {
  return new FieldError('FieldValueTooLong', at(path), '<value omitted>', atMost(maxLength, 'byte'));
}

export function tooLongCharacters(path: Path | undefined, _value: unknown, maxLength: number): FieldError {
  return new FieldError('FieldValueTooLong', at(path), '<value omitted>', atMost(maxLength, 'character'));
}

export function tooShort(path: Path | undefined, value: unknown, minLength: number): FieldError {
  const detail = minLength < 0 ? 'value is too short' : `must be at least ${minLength} ${minLength === 1 ? 'character' : 'characters'}`;
  return new FieldError('FieldValueTooShort', at(path), value, detail);
}

/** Returns an error for too many items. A negative `actual` is not shown. A negative `max` is unknown. */
export function tooMany(path: Path | undefined, actual: number, max: number): FieldError {
  const detail = max < 0 ? 'has too many items' : `must have at most ${max} ${max === 1 ? 'item' : 'items'}`;
  return new FieldError('FieldValueTooMany', at(path), actual < 0 ? omitValue : actual, detail);
}

export function tooFew(path: Path | undefined, actual: number, min: number): FieldError {
  const detail = min < 0 ? 'has too few items' : `must have at least ${min} ${min === 1 ? 'item' : 'items'}`;
  return new FieldError('FieldValueTooFew', at(path), actual, detail);
}

export function typeInvalid(path: Path | undefined, value: unknown, detail: string): FieldError {
  return new FieldError('FieldValueTypeInvalid', at(path), value, detail);
}

export function internalError(path: Path | undefined, error: Error): FieldError {
  return new FieldError('InternalError', at(path), omitValue, error.message);
}

function atMost(maxLength: number, unit: string): string {
  return maxLength < 0 ? 'value is too long' : `may not be more than ${maxLength} ${maxLength === 1 ? unit : `${unit}s`}`;
}

/** Formats errors without duplicates: one without brackets, several as `[a, b]`; '' for none. */
export function aggregate(errors: readonly FieldError[]): string {
  return aggregateMessages(errors.map(String));
}

/** Formats messages like upstream's utilerrors.NewAggregate(...).Error(). */
export function aggregateMessages(messages: readonly string[]): string {
  const distinct = [...new Set(messages)];
  return distinct.length > 1 ? `[${distinct.join(', ')}]` : (distinct[0] ?? '');
}

/** Maximum number of reported errors of an object. Upstream has no limit: a body of 3 MiB may cause a response of hundreds of megabytes. */
export const maxErrors = 10_000;

/** Maximum number of reported characters: some errors show the whole list for each of its items, 300,000 times 3 MiB. */
export const maxShown = 8 * 1024 * 1024;

/** Stops a validation with more errors than are reported: finding all errors of 3 MiB may take half a minute. */
export class TooManyErrors extends Error {
  override readonly name = 'TooManyErrors';

  constructor(readonly errors: readonly FieldError[]) {
    super(`more than ${maxErrors} errors`);
  }
}

/** Appends errors. Throws TooManyErrors. */
export function addErrors(errors: FieldError[], more: readonly FieldError[]): void {
  for (const error of more) addError(errors, error);
}

/** Appends one of potentially many errors. Throws TooManyErrors. */
export function addError(errors: FieldError[], error: FieldError): void {
  errors.push(error);
  stopIfTooMany(errors);
}

/** Throws TooManyErrors if the limit is exceeded. Must be called after each item of an unbounded list. */
export function stopIfTooMany(errors: readonly FieldError[]): void {
  if (errors.length > maxErrors) throw new TooManyErrors(errors);
}
