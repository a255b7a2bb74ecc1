const mark = Symbol.for('kubenest.class');

type AnyClass = abstract new (...args: never[]) => object;

/**
 * Makes `instanceof` true for instances of the same class of another copy of this code. A process has several copies when packages that
 * have kubenest installed for themselves are imported before a server is loaded, as in tests of linked packages. Subclasses are compared by
 * name.
 */
export function recognizeCopies(type: AnyClass): void {
  const { name } = type;
  Object.defineProperty(type.prototype, mark, { value: name });
  Object.defineProperty(type, Symbol.hasInstance, {
    value(this: AnyClass, value: unknown): boolean {
      if (Function.prototype[Symbol.hasInstance].call(this, value)) return true;
      if (typeof value !== 'object' || value === null) return false;
      return (value as { [mark]?: unknown })[mark] === name && isNamed(value, this.name);
    },
  });
}

/** True if a class of the value has the name. */
function isNamed(value: object, name: string): boolean {
  for (
    let prototype = Object.getPrototypeOf(value) as object | null;
    prototype;
    prototype = Object.getPrototypeOf(prototype) as object | null
  )
    if (Object.hasOwn(prototype, 'constructor') && prototype.constructor.name === name) return true;
  return false;
}
