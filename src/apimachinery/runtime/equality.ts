import { Float64, isContainer, isEqualNumber, isSameLiteral, isSameNumber } from './numbers.ts';
import { atOnce, type Steps } from './steps.ts';
import { keysOf, notedKeys } from './wide-objects.ts';

/**
 * True if two JSON values are equal, numbers by type and value; the order of keys is ignored, and an undefined property is absent. Decoded
 * values are canonical, so this is Go's semantic equality for them. Any depth.
 */
export function deepEqual(a: unknown, b: unknown): boolean {
  return equal(a, b, 0, isSameNumber);
}

/** Like `deepEqual`, with numbers by value: `1` equals `1.0`. Upstream: structured-merge-diff value.Equals. */
export function equalValues(a: unknown, b: unknown): boolean {
  return equal(a, b, 0, isEqualNumber);
}

/** Like `deepEqualSteps`, with numbers by literal: `1.5` differs from `1.50`. */
export function equalLiteralsSteps(left: unknown, right: unknown): Steps<boolean> {
  return equalSteps(left, right, isSameLiteral);
}

type SameNumber = (a: unknown, b: unknown) => boolean;

const recursionLimit = 500;

function equal(a: unknown, b: unknown, depth: number, sameNumber: SameNumber): boolean {
  if (a === b) return true;
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return sameNumber(a, b);
  const isList = Array.isArray(a);
  if (!isList && (a instanceof Float64 || b instanceof Float64)) return sameNumber(a, b);
  if (depth > recursionLimit || notedKeys(a) || notedKeys(b)) return atOnce(equalSteps(a, b, sameNumber));
  if (isList) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!equal(a[i], b[i], depth + 1, sameNumber)) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  let size = 0;
  for (const key in a) {
    const value = (a as Record<string, unknown>)[key];
    if (value === undefined) continue;
    size++;
    if (!Object.hasOwn(b, key) || !equal(value, (b as Record<string, unknown>)[key], depth + 1, sameNumber)) return false;
  }
  for (const key in b) if ((b as Record<string, unknown>)[key] !== undefined) size--;
  return size === 0;
}

type Json = Record<string, unknown>;

const keysPerStep = 1_024;

/** Like `deepEqual` for large values, with an explicit stack; yields to the event loop. */
export function deepEqualSteps(left: unknown, right: unknown): Steps<boolean> {
  return equalSteps(left, right, isSameNumber);
}

/** Like `equalValues` for large values; yields to the event loop. */
export function equalValuesSteps(left: unknown, right: unknown): Steps<boolean> {
  return equalSteps(left, right, isEqualNumber);
}

function* equalSteps(left: unknown, right: unknown, sameNumber: SameNumber): Steps<boolean> {
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
    if (Array.isArray(a) !== Array.isArray(b) || (Array.isArray(a) && a.length !== (b as unknown[]).length)) return false;
    let size = 0;
    for (const key of keysOf(a)) {
      if (++comparedKeys % keysPerStep === 0) yield;
      const value = (a as Json)[key];
      if (value === undefined) continue;
      size++;
      if (!Object.hasOwn(b, key)) return false;
      if (value !== (b as Json)[key]) pending.push(value, (b as Json)[key]);
    }
    for (const key of keysOf(b)) {
      if (++comparedKeys % keysPerStep === 0) yield;
      if ((b as Json)[key] !== undefined) size--;
    }
    if (size !== 0) return false;
  }
  return true;
}
