/**
 * Numbers of parsed JSON. Go has an int64 for each literal without fraction and exponent that fits one, and a float64 for all others; `1` and `1.0` are two
 * values to it. Upstream: sigs.k8s.io/json (UnmarshalCaseSensitivePreserveInts).
 *
 * | value in a tree                    | Go      | literal                  |
 * | ---------------------------------- | ------- | ------------------------ |
 * | number that is a safe integer      | int64   | `1`                      |
 * | bigint                             | int64   | `9007199254740993`       |
 * | any other number                   | float64 | `0.5`, `1e+21`           |
 * | Float64                            | float64 | `1.0`, `1e3`, `1.50`     |
 *
 * Decoded fields of struct types hold numbers and bigints alone; a Float64 is only where content has no type.
 */
import { formatFloat } from './quote.ts';

/** A float64 that a number would show as an integer, or whose literal is not the shortest. Never changes. */
export class Float64 {
  readonly #value: number;
  readonly #literal: string;

  constructor(value: number, literal: string) {
    this.#value = value;
    this.#literal = literal;
  }

  /** A float64: a plain number where that says the same. */
  static of(value: number): Float64 | number {
    return Number.isSafeInteger(value) ? new Float64(value, `${floatText(value)}.0`) : value;
  }

  get value(): number {
    return this.#value;
  }

  /** As it was written: raw content keeps it. */
  get literal(): string {
    return this.#literal;
  }

  valueOf(): number {
    return this.#value;
  }

  /** As fmt's %v prints it. */
  toString(): string {
    return formatFloat(this.#value);
  }

  /** For JSON.stringify: the literal. https://tc39.es/proposal-json-parse-with-source/ */
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

/** The float64 that is nearest. */
export function toFloat(value: JsonNumber): number {
  return Number(value);
}

const leastInt64 = -(2n ** 63n);

/** An integer as Go converts a number to an int64 on amd64: the fraction is cut off, and what is beyond its range is the least of them. */
export function toInt64(value: JsonNumber): number | bigint {
  if (isInt64(value)) return value;
  const whole = Math.trunc(value.valueOf());
  if (Number.isSafeInteger(whole)) return whole + 0;
  const exact = Number.isFinite(whole) ? BigInt(whole) : leastInt64;
  return exact === BigInt.asIntN(64, exact) ? exact : leastInt64;
}

/** True for an object or a list: what has parts. A Float64 is an object to JavaScript, and a scalar to everybody else. */
export function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof Float64);
}

const isSameInteger = (a: number | bigint, b: number | bigint): boolean => (typeof a === typeof b ? a === b : BigInt(a) === BigInt(b));

/** True for the same number of the same type, as reflect.DeepEqual has it; false where one is no number. */
export function isSameNumber(a: unknown, b: unknown): boolean {
  if (isInt64(a)) return isInt64(b) && isSameInteger(a, b);
  return isNumber(a) && isNumber(b) && !isInt64(b) && Number(a) === Number(b);
}

/** True for the same number of any type. Upstream: structured-merge-diff value.Equals. */
export function isEqualNumber(a: unknown, b: unknown): boolean {
  if (isInt64(a) && isInt64(b)) return isSameInteger(a, b);
  return isNumber(a) && isNumber(b) && Number(a) === Number(b);
}

/** True for the same literal. Upstream: evanphx/json-patch, which compares what it has not parsed. */
export function isSameLiteral(a: unknown, b: unknown): boolean {
  return isNumber(a) && isNumber(b) && literalOf(a) === literalOf(b);
}

/**
 * A number as json.Marshal writes a float64 or an int64: JavaScript's own form. A negative zero is none, as it is
 * once what was written is read back. Throws TypeError for what is no number of JSON.
 */
export function encodeNumber(value: JsonNumber): string {
  return typeof value === 'bigint' ? String(value) : floatText(value.valueOf());
}

/** As `encodeNumber` has it, but a literal stays as it was written. */
export function literalOf(value: JsonNumber): string {
  return value instanceof Float64 ? value.literal : encodeNumber(value);
}

/** A number as fmt's %v prints it. */
export function formatNumber(value: JsonNumber): string {
  return typeof value === 'number' && !Number.isSafeInteger(value) ? formatFloat(value) : String(value);
}

/** The number that a literal of JSON stands for, of those that JSON.parse gets wrong: longer integers, and `isOddLiteral`. */
export function numberOf(literal: string): bigint | Float64 {
  if (isLongInteger(literal)) return BigInt(literal);
  return new Float64(Number(literal), literal);
}

/** True for an integer that fits an int64, and no double. */
export function isLongInteger(literal: string): boolean {
  if (literal.length > 20 || !/^-?[1-9]\d*$/.test(literal) || Number.isSafeInteger(Number(literal))) return false;
  const exact = BigInt(literal);
  return exact === BigInt.asIntN(64, exact);
}

/** True for the literal of a float64 that needs a Float64. */
export function isOddLiteral(literal: string): boolean {
  const value = Number(literal);
  if (Number.isSafeInteger(value)) return !integerForm.test(literal);
  return String(value) !== literal && !isLongInteger(literal);
}

const integerForm = /^-?\d+$/;

/** A float64 as it is read back after json.Marshal wrote it, which writes no fraction where there is none: `1.0` becomes the int64 1. */
export function rereadFloat(value: number): number | bigint {
  const text = floatText(value);
  return isLongInteger(text) ? BigInt(text) : value + 0;
}

/** The key for a scalar in a Map or Set: two scalars have the same key if Go's interface values are equal. */
export function scalarKey(value: unknown): unknown {
  if (typeof value === 'string') return `string ${value}`;
  return isNumber(value) && !isInt64(value) ? `float64 ${value}` : value;
}

function floatText(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`json: unsupported value: ${value}`);
  return String(value);
}

/** A value that JSON.stringify writes as this text. */
export function rawJson(text: string): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);
}
