/**
 * Objects with very many keys. To list the keys of an object that is a table inside, V8 sorts them, each time anew: 60 ms of 285,000, which fit a body. Who
 * has made such an object knows its keys, and notes them for those who come after.
 */

/** Objects with so many keys and more are worth a note: to list fewer takes a third of a millisecond at most. */
const wideKeys = 2_048;

const noted = new WeakMap<object, readonly string[]>();

/** Before the first wide object, nobody needs to look. */
let isAnyNoted = false;

/** Whether there was a wide object ever. */
export const hasWideObjects = (): boolean => isAnyNoted;

/**
 * Stands between a noted object and Object.prototype, where an assignment of a key that the object does not have comes by: then the note is no longer true,
 * and the object is an ordinary one again.
 */
const listener: object = new Proxy(Object.prototype, {
  set(_prototype, key, value, receiver: object) {
    forgetKeys(receiver);
    return Reflect.set(receiver, key, value);
  },
});

/**
 * Notes all the keys of a plain object, in any order, if they are many. The object may be changed: values and removed keys leave the note true enough (a key
 * that is gone has the value undefined), and new keys end it. Returns the object.
 */
export function noteKeys<T extends object>(object: T, keys: readonly string[]): T {
  if (keys.length < wideKeys || Object.getPrototypeOf(object) !== Object.prototype) return object;
  isAnyNoted = true;
  noted.set(object, keys);
  return Object.setPrototypeOf(object, listener) as T;
}

/** To be called before a key is defined that an object does not have, which no assignment does. */
export function forgetKeys(object: object): void {
  if (isAnyNoted && noted.delete(object)) Object.setPrototypeOf(object, Object.prototype);
}

/** What was noted of an object: its keys, and perhaps some that are gone. */
export function notedKeys(object: object): readonly string[] | undefined {
  return isAnyNoted ? noted.get(object) : undefined;
}

/** The own keys of an object, and of a wide one perhaps some that are gone, whose value is undefined. Not to be changed. */
export function keysOf(object: object): readonly string[] {
  return notedKeys(object) ?? Object.keys(object);
}

/** The own keys of an object, without any that are gone. */
export function presentKeys(object: object): readonly string[] {
  return notedKeys(object)?.filter((key) => Object.hasOwn(object, key)) ?? Object.keys(object);
}
