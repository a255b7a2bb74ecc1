import { isContainer } from '#apimachinery/runtime/numbers';
import { isJsonObject, type JsonObject, setOwn } from './own-property.ts';

/** True if an object in a strategic merge patch is a directive without a value. */
export function isDropped(value: unknown): boolean {
  return isJsonObject(value) && Object.hasOwn(value, '$patch');
}

/**
 * Returns a patch value without a counterpart: without null fields of objects (nulls in lists stay) and without fields and items that have
 * a `$patch` directive; the value itself if nothing changes. Not recursive.
 */
export function cleanValue(value: unknown, { keepNulls = false, keepDirectives = false } = {}): unknown {
  if (!isContainer(value)) return value;
  const drops = (item: unknown, inList: boolean): boolean => (item === null ? !inList && !keepNulls : !keepDirectives && isDropped(item));
  if (!hasSome(value, drops)) return value;
  const holder: unknown[] = [undefined];
  const pending: [source: object, target: unknown[] | JsonObject, key: string | number][] = [[value, holder, 0]];
  while (pending.length > 0) {
    const [source, target, key] = pending.pop()!;
    let copy: unknown[] | JsonObject;
    if (Array.isArray(source)) {
      copy = source.filter((item) => !drops(item, true));
      for (let i = 0; i < copy.length; i++) {
        const item = copy[i];
        if (isContainer(item)) pending.push([item, copy, i]);
      }
    } else {
      copy = {};
      for (const name of Object.keys(source)) {
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

function hasSome(value: object, drops: (item: unknown, inList: boolean) => boolean): boolean {
  const pending = [value];
  while (pending.length > 0) {
    const next = pending.pop()!;
    const inList = Array.isArray(next);
    for (const item of Object.values(next)) {
      if (drops(item, inList)) return true;
      if (isContainer(item)) pending.push(item);
    }
  }
  return false;
}
