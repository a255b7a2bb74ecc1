import { isContainer } from './numbers.ts';
import { keysOf } from './wide-objects.ts';

/** Freezes JSON, so that changes throw. Objects that are frozen are taken for frozen below, too. Returns the value. */
export function deepFreeze<T>(value: T): T {
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (!isContainer(next) || Object.isFrozen(next)) continue;
    for (const key of keysOf(next)) pending.push((next as Record<string, unknown>)[key]);
    Object.freeze(next);
  }
  return value;
}

/** Values that are frozen at all levels. */
const frozen = new WeakSet();

/** Declares that a value is frozen at all levels, so that `derivedOnce` keeps values derived from it. Returns the value. */
export function noteFrozen<T>(value: T): T {
  if (isContainer(value)) frozen.add(value);
  return value;
}

/** True for a value that `noteFrozen` knows. */
export function isNotedFrozen(value: object): boolean {
  return frozen.has(value);
}

/**
 * Returns a function that derives a value from an object. The value for an object that `noteFrozen` knows is frozen, too, and derived once.
 */
export function derivedOnce<T extends object, R>(derive: (from: T) => R): (from: T) => R {
  const known = new WeakMap<T, { readonly value: R }>();
  return (from) => {
    const kept = known.get(from);
    if (kept) return kept.value;
    const value = derive(from);
    if (isNotedFrozen(from)) known.set(from, { value: noteFrozen(deepFreeze(value)) });
    return value;
  };
}
