/**
 * Field errors: what validation found wrong, and where. A list of them becomes one Invalid status (`newInvalid`).
 * Upstream: apimachinery/pkg/util/validation/field.
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

/** The types whose message never shows the value. */
const silent: ReadonlySet<FieldErrorType> = new Set<FieldErrorType>([
  'FieldValueRequired',
  'FieldValueForbidden',
  'FieldValueTooLong',
  'FieldValueTooShort',
  'InternalError',
]);

/** As a bad value: the message says nothing of it (a secret, or simply too much). */
export const omitValue: unique symbol = Symbol('omitValue');

/**
 * A bad value whose JSON is already made, for instance a struct in the order of its fields: `new JsonText(encode(type, value))`.
 * Objects that are not wrapped are printed as a Go map is, with sorted keys.
 */
export class JsonText {
  constructor(readonly text: string) {}
}

/** The place of a field: `spec.containers[0].env[KEY]`. Immutable; it becomes text only when an error needs it. */
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
    // An empty name counts as a subscript upstream.
    const own = this.#subscript || this.#name === '' ? `[${this.#name}]` : this.#name;
    if (!this.#parent) return own;
    return this.#subscript || this.#name === '' ? this.#parent.toString() + own : `${this.#parent.toString()}.${own}`;
  }
}

/** `fieldPath('spec', 'template').child('metadata')`. */
export function fieldPath(name: string, ...more: string[]): Path {
  const root = new Path(name);
  return more.length === 0 ? root : root.child(more[0]!, ...more.slice(1));
}

/** One thing that is wrong. Data only: it is not thrown, `newInvalid` makes the error of a list. */
export class FieldError {
  constructor(
    readonly type: FieldErrorType,
    /** The path as text; `<nil>` stands for no path. */
    readonly field: string,
    readonly badValue: unknown,
    readonly detail: string,
  ) {}

  /**
   * The message without the field: `Invalid value: "x": must be y`. `texts` keeps those of lists and objects for other errors, of which many may
   * show the same one.
   */
  body(texts?: Map<object, string>): string {
    const title = titles[this.type];
    const head = silent.has(this.type) || this.badValue === omitValue ? title : `${title}: ${formatBadValue(this.badValue, texts)}`;
    return this.detail ? `${head}: ${this.detail}` : head;
  }

  toString(): string {
    return `${this.field}: ${this.body()}`;
  }

  /** The same error with other words in front of its detail. */
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
 * `validValues` are shown in the order given; upstream's callers mostly sort them. The value is of a string type of its own to Go, as values of
 * enumerations mostly are, and printed as JSON: see `notSupportedText`.
 */
export function notSupported(path: Path | undefined, value: unknown, validValues: readonly string[]): FieldError {
  return notSupportedText(
    path,
    typeof value === 'string' && !plainText.test(value) ? new JsonText(encodeString(value)) : value,
    validValues,
  );
}

/** What Go prints the same as a string and as JSON. */
const plainText = /^[ !#-%'-;=?-[\]-~]*$/;

/** `notSupported` of a plain string of Go, which is printed as `%q`. */
export function notSupportedText(path: Path | undefined, value: unknown, validValues: readonly string[]): FieldError {
  const detail = validValues.length > 0 ? `supported values: ${validValues.map(quote).join(', ')}` : '';
  return new FieldError('FieldValueNotSupported', at(path), value, detail);
}

export function forbidden(path: Path | undefined, detail: string): FieldError {
  return new FieldError('FieldValueForbidden', at(path), '', detail);
}

/** Negative `maxLength`: unknown. The value itself is never shown. */
export function tooLong(path: Path | undefined, _value: unknown, maxLength: number): FieldError {
  return new FieldError('FieldValueTooLong', at(path), '<value omitted>', atMost(maxLength, 'byte'));
}

/** Like `tooLong`; it exists since upstream has both names. */
export function tooLongMaxLength(path: Path | undefined, value: unknown, maxLength: number): FieldError {
  return tooLong(path, value, maxLength);
}

export function tooLongCharacters(path: Path | undefined, _value: unknown, maxLength: number): FieldError {
  return new FieldError('FieldValueTooLong', at(path), '<value omitted>', atMost(maxLength, 'character'));
}

export function tooShort(path: Path | undefined, value: unknown, minLength: number): FieldError {
  const detail = minLength < 0 ? 'value is too short' : `must be at least ${minLength} ${minLength === 1 ? 'character' : 'characters'}`;
  return new FieldError('FieldValueTooShort', at(path), value, detail);
}

/** Negative `actual`: not shown. Negative `max`: unknown. */
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

/** The text of a list: equal messages once; one alone without brackets, several as `[a, b]`; of none ''. */
export function aggregate(errors: readonly FieldError[]): string {
  return aggregateMessages(errors.map(String));
}

/** `aggregate` of messages, as upstream's utilerrors.NewAggregate(...).Error(). */
export function aggregateMessages(messages: readonly string[]): string {
  const distinct = [...new Set(messages)];
  return distinct.length > 1 ? `[${distinct.join(', ')}]` : (distinct[0] ?? '');
}

/** So many errors are told of an object; upstream tells all, of a body of 3 MiB in an answer of hundreds of megabytes. */
export const maxErrors = 10_000;

/** After so many characters of errors no more is told: some show the whole list for each of its items, 300,000 times 3 MiB. */
export const maxShown = 8 * 1024 * 1024;

/** Ends a validation that has found more errors than are told: to find all that 3 MiB may have takes half a minute. */
export class TooManyErrors extends Error {
  override readonly name = 'TooManyErrors';

  constructor(readonly errors: readonly FieldError[]) {
    super(`more than ${maxErrors} errors`);
  }
}

/** Adds errors to those that were found before. Throws TooManyErrors. */
export function addErrors(errors: FieldError[], more: readonly FieldError[]): void {
  for (const error of more) addError(errors, error);
}

/** Adds one of errors of which there may be many. Throws TooManyErrors. */
export function addError(errors: FieldError[], error: FieldError): void {
  errors.push(error);
  stopIfTooMany(errors);
}

/** To be asked after each item of a list of which any number may be wrong. Throws TooManyErrors. */
export function stopIfTooMany(errors: readonly FieldError[]): void {
  if (errors.length > maxErrors) throw new TooManyErrors(errors);
}
