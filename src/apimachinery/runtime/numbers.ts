/**
 * Numbers of parsed JSON. Go has an int64 for each literal without fraction and exponent that fits, and a float64 for all others; `1` and
 * `1.0` are different values. Upstream: sigs.k8s.io/json (UnmarshalCaseSensitivePreserveInts).
 *
 * | value in a tree                    | Go      | literal                  |
 * | ---------------------------------- | ------- | ------------------------ |
 * | number that is a safe integer      | int64   | `1`                      |
 * | bigint                             | int64   | `9007199254740993`       |
 * | any other number                   | float64 | `0.5`, `1e+21`           |
 * | Float64                            | float64 | `1.0`, `1e3`, `1.50`     |
 *
 * Decoded fields of struct types have only numbers and bigints; a Float64 occurs only in untyped content.
 */
import { formatFloat } from './quote.ts';

/** An immutable float64 that a number would show as an integer, or whose literal is not the shortest. */
export class Float64 {
  readonly #value: number;
  readonly #literal: string;

  constructor(value: number, literal: string) {
    this.#value = value;
    this.#literal = literal;
  }

  /** Returns a float64; a plain number if that is equivalent. */
  static of(value: number): Float64 | number {
    return Number.isSafeInteger(value) ? new Float64(value, `${floatText(value)}.0`) : value;
  }

  get value(): number {
    return this.#value;
  }

  /** The literal as written, which raw content keeps. */
  get literal(): string {
    return this.#literal;
  }

  valueOf(): number {
    return this.#value;
  }

  /** Formats like fmt's %v. */
  toString(): string {
    return formatFloat(this.#value);
  }

  /** Returns the literal for JSON.stringify. https://tc39.es/proposal-json-parse-with-source/ */
  toJSON(): unknown {
    return rawJson(this.#literal);
  }
}

export type JsonNumber = number | bigint | Float64;

export function isNumber(value: unknown): value is JsonNumber {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof Float64;
}

/** True for an int64. */
export function isInt64(value: unknown): value is number | bigint {
  return Number.isSafeInteger(value) || typeof value === 'bigint';
}

/** Returns the nearest float64. */
export function toFloat(value: JsonNumber): number {
  return Number(value);
}

const leastInt64 = -(2n ** 63n);

/** Converts like Go on amd64: the fraction is cut, and a number out of range becomes the minimum int64. */
export function toInt64(value: JsonNumber): number | bigint {
  if (isInt64(value)) return value;
  const whole = Math.trunc(value.valueOf());
  if (Number.isSafeInteger(whole)) return whole + 0;
  const exact = Number.isFinite(whole) ? BigInt(whole) : leastInt64;
  return exact === BigInt.asIntN(64, exact) ? exact : leastInt64;
}

/** True for an object or a list. A Float64 is an object in JavaScript, but a scalar here. */
export function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof Float64);
}

const isSameInteger = (a: number | bigint, b: number | bigint): boolean => (typeof a === typeof b ? a === b : BigInt(a) === BigInt(b));

/** True for equal numbers of the same type, like reflect.DeepEqual; false if one is not a number. */
export function isSameNumber(a: unknown, b: unknown): boolean {
  if (isInt64(a)) return isInt64(b) && isSameInteger(a, b);
  return isNumber(a) && isNumber(b) && !isInt64(b) && Number(a) === Number(b);
}

/** True for equal numbers of any type. Upstream: structured-merge-diff value.Equals. */
export function isEqualNumber(a: unknown, b: unknown): boolean {
  if (isInt64(a) && isInt64(b)) return isSameInteger(a, b);
  return isNumber(a) && isNumber(b) && Number(a) === Number(b);
}

/** True for equal literals. Upstream: evanphx/json-patch, which compares raw text. */
export function isSameLiteral(a: unknown, b: unknown): boolean {
  return isNumber(a) && isNumber(b) && literalOf(a) === literalOf(b);
}

/**
 * Encodes a number like json.Marshal of a float64 or an int64, which is JavaScript's form. Negative zero becomes zero, as after a round
 * trip. Throws TypeError for other numbers than those of JSON.
 */
export function encodeNumber(value: JsonNumber): string {
  return typeof value === 'bigint' ? String(value) : floatText(value.valueOf());
}

/** Like `encodeNumber`, but keeps the literal. */
export function literalOf(value: JsonNumber): string {
  return value instanceof Float64 ? value.literal : encodeNumber(value);
}

/** Formats a number like fmt's %v. */
export function formatNumber(value: JsonNumber): string {
  return typeof value === 'number' && !Number.isSafeInteger(value) ? formatFloat(value) : String(value);
}

/** Returns the number for a literal that JSON.parse changes: a long integer, or `isOddLiteral`. */
export function numberOf(literal: string): bigint | Float64 {
  if (isLongInteger(literal)) return BigInt(literal);
  return new Float64(Number(literal), literal);
}

/** True for an integer that fits in an int64 but not in a double. */
export function isLongInteger(literal: string): boolean {
  if (literal.length > 20 || !/^-?[1-9]\d*$/.test(literal) || Number.isSafeInteger(Number(literal))) return false;
  const exact = BigInt(literal);
  return exact === BigInt.asIntN(64, exact);
}

/** True for a float64 literal that needs a Float64. */
export function isOddLiteral(literal: string): boolean {
  const value = Number(literal);
  if (Number.isSafeInteger(value)) return !integerForm.test(literal);
  return String(value) !== literal && !isLongInteger(literal);
}

const integerForm = /^-?\d+$/;

/** Returns a float64 as it reads back after json.Marshal, which writes no zero fraction: `1.0` becomes the int64 1. */
export function rereadFloat(value: number): number | bigint {
  const text = floatText(value);
  return isLongInteger(text) ? BigInt(text) : value + 0;
}

/** Returns the key for a scalar in a Map or Set: two scalars have the same key if Go's interface values are equal. */
export function scalarKey(value: unknown): unknown {
  if (typeof value === 'string') return `string ${value}`;
  return isNumber(value) && !isInt64(value) ? `float64 ${value}` : value;
}

function floatText(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`json: unsupported value: ${value}`);
  return String(value);
}

/** Returns a value that JSON.stringify writes as this text. */
export function rawJson(text: string): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);
}
