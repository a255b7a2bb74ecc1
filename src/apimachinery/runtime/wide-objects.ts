/**
 * Cached key lists of objects with very many keys. V8 sorts the keys of a dictionary-mode object on each listing: 60 ms for 285,000 keys,
 * which fit a request body. The code that creates such an object knows its keys and caches them for later readers.
 */

/** Minimum number of keys that is worth caching: listing fewer takes at most a third of a millisecond. */
const wideKeys = 2_048;

const noted = new WeakMap<object, readonly string[]>();

/** False until the first wide object, so that lookups can be skipped. */
let isAnyNoted = false;

/**
 * Inserted between a cached object and Object.prototype, where assignments of new keys are intercepted: such an assignment drops the cached
 * list and restores the prototype.
 */
const listener: object = new Proxy(Object.prototype, {
  set(_prototype, key, value, receiver: object) {
    forgetKeys(receiver);
    return Reflect.set(receiver, key, value);
  },
});

/**
 * Caches all keys of a plain object, in any order, if there are many. The object may be changed: changed values and removed keys keep the
 * list (a removed key has the value undefined), and a new key drops it. Returns the object.
 */
export function noteKeys<T extends object>(object: T, keys: readonly string[]): T {
  if (keys.length < wideKeys || Object.getPrototypeOf(object) !== Object.prototype) return object;
  isAnyNoted = true;
  noted.set(object, keys);
  return Object.setPrototypeOf(object, listener) as T;
}

/** Drops the cached keys of an object. Must be called before a new key is defined without an assignment. */
export function forgetKeys(object: object): void {
  if (isAnyNoted && noted.delete(object)) Object.setPrototypeOf(object, Object.prototype);
}

/** Returns the cached keys of an object, which may include removed ones. */
export function notedKeys(object: object): readonly string[] | undefined {
  return isAnyNoted ? noted.get(object) : undefined;
}

/**
 * Returns the own keys of an object; for a wide one they may include removed keys, whose value is undefined. The result must not be
 * changed.
 */
export function keysOf(object: object): readonly string[] {
  return notedKeys(object) ?? Object.keys(object);
}

/** Returns the own keys of an object, without removed ones. */
export function presentKeys(object: object): readonly string[] {
  return notedKeys(object)?.filter((key) => Object.hasOwn(object, key)) ?? Object.keys(object);
}
