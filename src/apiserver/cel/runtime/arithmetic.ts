/** Numbers that are exact or an error. Upstream: cel-go common/types/{int,uint,double,overflow,compare}.go. */
import { CelError, Double, type Int, intValue, Uint, type Value } from './values.ts';

const intOverflow = new CelError('integer overflow');
const uintOverflow = new CelError('unsigned integer overflow');
const uint64Max = 2n ** 64n - 1n;

/** An int, or the overflow. */
export function checkedInt(value: bigint): Int | CelError {
  return intValue(value) ?? intOverflow;
}

/** A uint, or the overflow. */
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
  // Upstream reports what the machine would overflow in.
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

/** `int(double)`: cut off; an error where the result would be no int64. */
export function doubleToInt({ value }: Double): Int | CelError {
  if (!Number.isFinite(value) || value <= -(2 ** 63) || value >= 2 ** 63) return intOverflow;
  return checkedInt(BigInt(Math.trunc(value)));
}

/** `uint(double)`. */
export function doubleToUint({ value }: Double): Uint | CelError {
  if (!Number.isFinite(value) || value < 0 || value >= 2 ** 64) return uintOverflow;
  return new Uint(BigInt(Math.trunc(value)));
}

const notOrdered = new CelError('NaN values cannot be ordered');

function sign(a: number | bigint, b: number | bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** -1, 0 or 1 for two numbers of any types; undefined if one is no number. */
export function compareNumbers(a: Value, b: Value): number | CelError | undefined {
  const x = numeric(a);
  const y = numeric(b);
  if (x === undefined || y === undefined) return undefined;
  if (Number.isNaN(x) || Number.isNaN(y)) return notOrdered;
  // Comparing a bigint with a double is exact in JavaScript; upstream rounds the integer, except outside of its range.
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
