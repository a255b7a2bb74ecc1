import { isContainer } from '#apimachinery/runtime/numbers';
import { forgetKeys, notedKeys } from '#apimachinery/runtime/wide-objects';

/** JSON objects of clients: any key is legal data, `__proto__` and `constructor` among them. */
export type JsonObject = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonObject {
  return isContainer(value) && !Array.isArray(value);
}

/** Also of arrays. Asks for no list of keys: this is asked of every field of every write. */
export function isEmptyObject(value: object): boolean {
  const keys = notedKeys(value);
  if (keys) return !keys.some((key) => Object.hasOwn(value, key));
  for (const _ in value) return false;
  return true;
}

/** The object's own value of a key; undefined if it has none. */
export function getOwn(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Assigns an own property; never goes through a setter such as `__proto__`. */
export function setOwn(object: JsonObject, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value;
  else {
    forgetKeys(object);
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  }
}

/** The object with its values mapped; keys stay what they are, `__proto__` too. */
export function mapValues<T, U>(object: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));
}
