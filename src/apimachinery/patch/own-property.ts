import { isContainer } from '#apimachinery/runtime/numbers';
import { forgetKeys, notedKeys } from '#apimachinery/runtime/wide-objects';

/** A JSON object of a client: any key is legal, including `__proto__` and `constructor`. */
export type JsonObject = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonObject {
  return isContainer(value) && !Array.isArray(value);
}

/** True for an object or array without own keys. It does not list the keys, since it runs for every field of every write. */
export function isEmptyObject(value: object): boolean {
  const keys = notedKeys(value);
  if (keys) return !keys.some((key) => Object.hasOwn(value, key));
  for (const _ in value) return false;
  return true;
}

/** Returns the object's own value of a key; undefined if there is none. */
export function getOwn(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Sets an own property; never calls a setter such as `__proto__`. */
export function setOwn(object: JsonObject, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value;
  else {
    forgetKeys(object);
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  }
}

/** Maps the values of an object; keys are kept, including `__proto__`. */
export function mapValues<T, U>(object: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));
}
