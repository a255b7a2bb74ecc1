import type { Type } from './schema.ts';

/** Returns a function that reports whether a type, or any nested type, matches. Results are cached by type. */
export function typeSearch(matches: (type: Type) => boolean): (type: Type) => boolean {
  const known = new WeakMap<Type, boolean>();
  const search = (type: Type, seen: Set<Type>): boolean => {
    if (matches(type)) return true;
    if (type.kind === 'list') return search(type.items, seen);
    if (type.kind === 'map') return search(type.values, seen);
    if (type.kind !== 'struct' || seen.has(type)) return false;
    seen.add(type);
    return [...type.fields.values()].some((field) => search(field.type, seen));
  };
  return (type) => {
    let found = known.get(type);
    if (found === undefined) {
      found = search(type, new Set());
      known.set(type, found);
    }
    return found;
  };
}
