import { isContainer } from './numbers.ts';
import type { StructType, Type } from './schema.ts';
import { typeSearch } from './type-search.ts';

type Json = Record<string, unknown>;

/**
 * True if the stored form of a type may contain a null: a list or map that Go always encodes is null if absent (`endpoints` of an
 * EndpointSlice).
 */
export const mayHoldNull = typeSearch(
  (type) =>
    type.kind === 'struct' &&
    [...type.fields.values()].some((field) => field.always && (field.type.kind === 'list' || field.type.kind === 'map')),
);

/** Removes the null fields of a stored object, in place: decoded objects have none, and all code expects decoded ones. */
export function dropNullFields(type: StructType, object: object): void {
  if (mayHoldNull(type)) drop(type, object);
}

function drop(type: Type, value: unknown): void {
  if (!isContainer(value)) return;
  if (type.kind === 'list') {
    if (Array.isArray(value) && mayHoldNull(type.items)) for (const item of value) drop(type.items, item);
  } else if (type.kind === 'map') {
    if (mayHoldNull(type.values)) for (const item of Object.values(value)) drop(type.values, item);
  } else if (type.kind === 'struct') {
    const fields = value as Json;
    for (const name of Object.keys(fields)) {
      const field = type.fields.get(name);
      if (!field) continue;
      if (fields[name] === null) delete fields[name];
      else if (mayHoldNull(field.type)) drop(field.type, fields[name]);
    }
  }
}
