import { atOnce, type Steps } from './steps.ts';
import { keysOf, notedKeys } from './wide-objects.ts';

/**
 * Whether two values of plain JSON (with bigints) are the same in content; the order of keys does not count, and a property that is undefined is not
 * there. Values that were decoded are in canonical form, so this is Go's semantic equality for them. Any depth.
 */
export function deepEqual(a: unknown, b: unknown): boolean {
  return equal(a, b, 0);
}

const recursionLimit = 500;

function equal(a: unknown, b: unknown, depth: number): boolean {
  if (a === b) return true;
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return sameNumber(a, b);
  if (depth > recursionLimit || notedKeys(a) || notedKeys(b)) return atOnce(deepEqualSteps(a, b));
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!equal(a[i], b[i], depth + 1)) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  let size = 0;
  for (const key in a) {
    const value = (a as Record<string, unknown>)[key];
    if (value === undefined) continue;
    size++;
    if (!Object.hasOwn(b, key) || !equal(value, (b as Record<string, unknown>)[key], depth + 1)) return false;
  }
  for (const key in b) if ((b as Record<string, unknown>)[key] !== undefined) size--;
  return size === 0;
}

/** An integer is the same as a number and as a bigint. */
function sameNumber(a: unknown, b: unknown): boolean {
  if (typeof a === 'bigint' && typeof b === 'number') return Number.isSafeInteger(b) && a === BigInt(b);
  if (typeof a === 'number' && typeof b === 'bigint') return Number.isSafeInteger(a) && BigInt(a) === b;
  return false;
}

const keysPerStep = 1_024;

/** `deepEqual` of what is large, with a stack of our own. */
export function* deepEqualSteps(left: unknown, right: unknown): Steps<boolean> {
  const pending: unknown[] = [left, right];
  let comparedKeys = 0;
  while (pending.length > 0) {
    const b = pending.pop();
    const a = pending.pop();
    if (a === b) continue;
    if (!isContainer(a) || !isContainer(b)) {
      if (!sameNumber(a, b)) return false;
      continue;
    }
    if (Array.isArray(a) !== Array.isArray(b) || (a['length'] !== b['length'] && Array.isArray(a))) return false;
    let size = 0;
    for (const key of keysOf(a)) {
      if (++comparedKeys % keysPerStep === 0) yield;
      const value = a[key];
      if (value === undefined) continue;
      size++;
      if (!Object.hasOwn(b, key)) return false;
      if (value !== b[key]) pending.push(value, b[key]);
    }
    for (const key of keysOf(b)) {
      if (++comparedKeys % keysPerStep === 0) yield;
      if (b[key] !== undefined) size--;
    }
    if (size !== 0) return false;
  }
  return true;
}

const isContainer = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
