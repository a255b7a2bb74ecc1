/** Equality and ordering of values. Upstream: cel-go common/types. */
import { CelType } from '../check/types.ts';
import { compareNumbers } from './arithmetic.ts';
import {
  type CelError,
  CelList,
  CelMap,
  Double,
  Duration,
  isCelObject,
  isInt,
  noSuchOverload,
  Optional,
  Timestamp,
  Uint,
  type Value,
} from './values.ts';

/** Evaluates `a == b`. Values of different types are unequal; some Kubernetes types return an error. */
export function equal(a: Value, b: Value): Value {
  if (a === b) return !(a instanceof Double && Number.isNaN(a.value));
  if (typeof a === 'string' || typeof a === 'boolean') return false;
  if (isInt(a)) return isInt(b) ? false : compareNumbers(a, b) === 0;
  if (a === null || b === null) return false;
  if (a instanceof CelList || a instanceof CelMap) return a.equals(b, equal);
  if (a instanceof Double || a instanceof Uint) return compareNumbers(a, b) === 0;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (a instanceof Timestamp) return b instanceof Timestamp && a.seconds === b.seconds && a.nanos === b.nanos;
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  if (a instanceof Optional) return b instanceof Optional && equalOptionals(a, b);
  if (a instanceof CelType) return b instanceof CelType && a.name === b.name;
  return isCelObject(a) ? a.equals(b) : a;
}

function equalOptionals(a: Optional, b: Optional): Value {
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return equal(a.value, b.value);
}

/** Compares two values: -1, 0 or 1; an error if they have no order. */
export function compare(a: Value, b: Value): number | CelError {
  if (typeof a === 'string') return typeof b === 'string' ? compareText(a, b) : noSuchOverload();
  const numbers = compareNumbers(a, b);
  if (numbers !== undefined) return numbers;
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  if (a instanceof Timestamp && b instanceof Timestamp) return Math.sign(a.seconds - b.seconds) || Math.sign(a.nanos - b.nanos);
  if (a instanceof Duration && b instanceof Duration) return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
  return noSuchOverload();
}

/** Compares code points, which is Go's byte order; `<` would compare UTF-16 units. */
function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y) > 0 ? 1 : -1;
  }
  return Math.sign(a.length - b.length);
}

/** Ranks surrogates above all other units, because they encode the highest code points. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x2000 : unit >= 0xe000 ? unit - 0x800 : unit;
}
