import { setOwn } from '../patch/own-property.ts';
import { deepFreeze, isNotedFrozen, noteFrozen } from './deep-freeze.ts';
import { Float64, isContainer } from './numbers.ts';
import { atOnce, type Steps } from './steps.ts';
import { keysOf, noteKeys, notedKeys } from './wide-objects.ts';

/**
 * Copies JSON, sharing only immutable values. Keys keep their order, `__proto__` stays an own property; undefined properties are left out.
 * Any depth.
 */
export function deepCopy<T>(value: T): T {
  return copy(value, 0, false) as T;
}

/**
 * Like `deepCopy`, and freezes the copy at all levels, for half the cost of a `deepFreeze` of a `deepCopy`. The copy shares what
 * `noteFrozen` knows, such as the interned trees of managed fields.
 */
export function frozenCopy<T>(value: T): T {
  return noteFrozen(copy(value, 0, true) as T);
}

const recursionLimit = 500;

type Json = Record<string, unknown>;

function copy(value: unknown, depth: number, freezes: boolean): unknown {
  if (value === null || typeof value !== 'object') return value;
  const isList = Array.isArray(value);
  if (!isList && value instanceof Float64) return value;
  if (freezes && Object.isFrozen(value) && isNotedFrozen(value)) return value;
  if (depth > recursionLimit || notedKeys(value)) {
    const copied = atOnce(copySteps(value));
    return freezes ? deepFreeze(copied) : copied;
  }
  if (isList) {
    const list = new Array<unknown>(value.length);
    for (let i = 0; i < value.length; i++) {
      const item: unknown = value[i];
      list[i] = item !== null && typeof item === 'object' ? copy(item, depth + 1, freezes) : item;
    }
    return freezes ? Object.freeze(list) : list;
  }
  const object: Json = {};
  // Not `for in`, whose reads of `value[key]` V8's middle compiler (Maglev) deoptimizes again and again.
  for (const key of Object.keys(value)) {
    const item = (value as Json)[key];
    if (item === undefined) continue;
    const copied = item !== null && typeof item === 'object' ? copy(item, depth + 1, freezes) : item;
    setOwn(object, key, copied);
  }
  return freezes ? Object.freeze(object) : object;
}

/** Like `deepCopy` for large values, but yields to the event loop. */
export function* deepCopySteps<T>(value: T): Steps<T> {
  return (isContainer(value) ? yield* copySteps(value) : value) as T;
}

const keysPerStep = 1_024;

/** Like `copy`, with an explicit stack. */
function* copySteps(root: object): Steps<unknown> {
  const start = (from: object): unknown[] | Json => (Array.isArray(from) ? [] : {});
  const result = start(root);
  const pending: [from: object, to: unknown[] | Json][] = [[root, result]];
  let copiedKeys = 0;
  for (let pair = pending.pop(); pair; pair = pending.pop()) {
    const [from, to] = pair;
    const keys = keysOf(from);
    for (const key of keys) {
      copiedKeys += 1;
      if (copiedKeys % keysPerStep === 0) yield;
      const item = (from as Json)[key];
      if (item === undefined) continue;
      let copied = item;
      if (isContainer(item)) {
        copied = start(item);
        pending.push([item, copied as Json]);
      }
      if (Array.isArray(to)) to[Number(key)] = copied;
      else setOwn(to, key, copied);
    }
    if (!Array.isArray(to)) noteKeys(to, keys);
  }
  return result;
}
