import type { StructType, Type } from './schema.ts';

const known = new WeakMap<Type, boolean>();

/** True if objects of a type may hold content that stays as it was written, with its literals of numbers: a RawExtension of Go. */
export function hasRawContent(type: StructType): boolean {
  let found = known.get(type);
  if (found === undefined) {
    found = search(type, new Set());
    known.set(type, found);
  }
  return found;
}

function search(type: Type, seen: Set<Type>): boolean {
  switch (type.kind) {
    case 'raw':
      return type.name === 'runtime.RawExtension';
    case 'list':
      return search(type.items, seen);
    case 'map':
      return search(type.values, seen);
    case 'struct': {
      if (seen.has(type)) return false;
      seen.add(type);
      return [...type.fields.values()].some((field) => search(field.type, seen));
    }
    default:
      return false;
  }
}
