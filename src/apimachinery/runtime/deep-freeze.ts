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
