/** Exact arithmetic with overflow errors. Upstream: cel-go common/types/{int,uint,double,overflow,compare}.go. */
import { CelError, Double, type Int, intValue, Uint, type Value } from './values.ts';

const intOverflow = new CelError('integer overflow');
const uintOverflow = new CelError('unsigned integer overflow');
const uint64Max = 2n ** 64n - 1n;

/** Returns an int, or the overflow error. */
export function checkedInt(value: bigint): Int | CelError {
  return intValue(value) ?? intOverflow;
}

/** Returns a uint, or the overflow error. */
export function checkedUint(value: bigint): Uint | CelError {
  return value >= 0n && value <= uint64Max ? new Uint(value) : uintOverflow;
}

export function addInt(a: Int, b: Int): Int | CelError {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return checkedInt(BigInt(a) + BigInt(b));
}

export function subtractInt(a: Int, b: Int): Int | CelError {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b;
    if (Number.isSafeInteger(difference)) return difference;
  }
  return checkedInt(BigInt(a) - BigInt(b));
}

export function multiplyInt(a: Int, b: Int): Int | CelError {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b;
    if (Number.isSafeInteger(product)) return product + 0;
  }
  return checkedInt(BigInt(a) * BigInt(b));
}

const divisionByZero = new CelError('division by zero');
const modulusByZero = new CelError('modulus by zero');

export function divideInt(a: Int, b: Int): Int | CelError {
  if (b === 0) return divisionByZero;
  if (typeof a === 'number' && typeof b === 'number') return Math.trunc(a / b) + 0;
  return checkedInt(BigInt(a) / BigInt(b));
}

export function moduloInt(a: Int, b: Int): Int | CelError {
  if (b === 0) return modulusByZero;
  if (typeof a === 'number' && typeof b === 'number') return (a % b) + 0;
  const [x, y] = [BigInt(a), BigInt(b)];
  // Upstream reports the overflow of the division here.
  return x === -(2n ** 63n) && y === -1n ? intOverflow : checkedInt(x % y);
}

export function negateInt(a: Int): Int | CelError {
  return typeof a === 'number' ? 0 - a : checkedInt(-a);
}

export function divideUint(a: Uint, b: Uint): Uint | CelError {
  return b.value === 0n ? divisionByZero : new Uint(a.value / b.value);
}

export function moduloUint(a: Uint, b: Uint): Uint | CelError {
  return b.value === 0n ? modulusByZero : new Uint(a.value % b.value);
}

/** Evaluates `int(double)`: truncates; returns an error outside of int64. */
export function doubleToInt({ value }: Double): Int | CelError {
  if (!Number.isFinite(value) || value <= -(2 ** 63) || value >= 2 ** 63) return intOverflow;
  return checkedInt(BigInt(Math.trunc(value)));
}

/** Evaluates `uint(double)`. */
export function doubleToUint({ value }: Double): Uint | CelError {
  if (!Number.isFinite(value) || value < 0 || value >= 2 ** 64) return uintOverflow;
  return new Uint(BigInt(Math.trunc(value)));
}

const notOrdered = new CelError('NaN values cannot be ordered');

function sign(a: number | bigint, b: number | bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Compares two numbers of any types: -1, 0 or 1; undefined if one is not a number. */
export function compareNumbers(a: Value, b: Value): number | CelError | undefined {
  const x = numeric(a);
  const y = numeric(b);
  if (x === undefined || y === undefined) return undefined;
  if (Number.isNaN(x) || Number.isNaN(y)) return notOrdered;
  // JavaScript compares a bigint with a double exactly; upstream rounds the integer first, except outside of its range.
  if (a instanceof Double && !(b instanceof Double)) return sign(x, rounded(x as number, y));
  if (b instanceof Double && !(a instanceof Double)) return sign(rounded(y as number, x), y);
  return sign(x, y);
}

function rounded(double: number, integer: number | bigint): number | bigint {
  return Number.isFinite(double) && Math.abs(double) <= 2 ** 64 ? Number(integer) : integer;
}

function numeric(value: Value): number | bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  return value instanceof Double || value instanceof Uint ? value.value : undefined;
}
