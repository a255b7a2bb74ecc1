import { isContainer } from '#apimachinery/runtime/numbers';
import { atOnce, type Steps } from '#apimachinery/runtime/steps';
import { keysOf } from '#apimachinery/runtime/wide-objects';
import { isJsonObject, type JsonObject, setOwn } from './own-property.ts';

/** True if an object in a strategic merge patch is a directive without a value. */
export function isDropped(value: unknown): boolean {
  return isJsonObject(value) && Object.hasOwn(value, '$patch');
}

/**
 * Returns a patch value without a counterpart: without null fields of objects (nulls in lists stay) and without fields and items that have
 * a `$patch` directive; the value itself if nothing changes. Not recursive.
 */
export function cleanValue(value: unknown, options: Cleaning = {}): unknown {
  return isContainer(value) ? atOnce(cleanValueSteps(value, options)) : value;
}

interface Cleaning {
  readonly keepNulls?: boolean;
  readonly keepDirectives?: boolean;
}

/** Number of values that are visited between two yields. */
const valuesPerStep = 1_024;

/** Like `cleanValue`, but yields to the event loop. */
export function* cleanValueSteps(value: unknown, { keepNulls = false, keepDirectives = false }: Cleaning = {}): Steps<unknown> {
  if (!isContainer(value)) return value;
  const drops = (item: unknown, inList: boolean): boolean => (item === null ? !inList && !keepNulls : !keepDirectives && isDropped(item));
  if (!(yield* hasSomeSteps(value, drops))) return value;
  const holder: unknown[] = [undefined];
  const pending: [source: object, target: unknown[] | JsonObject, key: string | number][] = [[value, holder, 0]];
  let visited = 0;
  while (pending.length > 0) {
    const [source, target, key] = pending.pop()!;
    if (++visited % valuesPerStep === 0) yield;
    let copy: unknown[] | JsonObject;
    if (Array.isArray(source)) {
      copy = source.filter((item) => !drops(item, true));
      for (let i = 0; i < copy.length; i++) {
        const item = copy[i];
        if (isContainer(item)) pending.push([item, copy, i]);
        if (++visited % valuesPerStep === 0) yield;
      }
    } else {
      copy = {};
      for (const name of keysOf(source)) {
        if (++visited % valuesPerStep === 0) yield;
        const item = (source as JsonObject)[name];
        if (drops(item, false)) continue;
        setOwn(copy, name, item);
        if (isContainer(item)) pending.push([item, copy, name]);
      }
    }
    if (Array.isArray(target)) target[key as number] = copy;
    else setOwn(target, key as string, copy);
  }
  return holder[0];
}

function* hasSomeSteps(value: object, drops: (item: unknown, inList: boolean) => boolean): Steps<boolean> {
  const pending = [value];
  let visited = 0;
  while (pending.length > 0) {
    const next = pending.pop()!;
    const inList = Array.isArray(next);
    if (++visited % valuesPerStep === 0) yield;
    for (const key of inList ? next.keys() : keysOf(next)) {
      const item = (next as JsonObject)[key];
      if (++visited % valuesPerStep === 0) yield;
      if (drops(item, inList)) return true;
      if (isContainer(item)) pending.push(item);
    }
  }
  return false;
}
