import { getOwn, isJsonObject, type JsonObject } from '../patch/own-property.ts';
import { encodeJson } from '../runtime/json/json.ts';
import { isContainer, scalarKey } from '../runtime/numbers.ts';
import { duplicate, type FieldError, invalid, Path } from '../validation/field.ts';
import { keysOf } from '../runtime/wide-objects.ts';
import type { Structural } from './structural.ts';

/**
 * Returns errors for duplicate items of sets and map lists. `path` is undefined at the root. Upstream:
 * apiextensions-apiserver/pkg/apiserver/schema/listtype/validation.go.
 */
export function validateListSetsAndMaps(path: Path | undefined, schema: Structural | undefined, value: unknown): FieldError[] {
  if (!schema?.hasSetsOrMaps) return [];
  if (Array.isArray(value)) return path ? validateList(path, schema, value) : [];
  if (!isJsonObject(value)) return [];
  return keysOf(value).flatMap((name) => {
    const property = schema.properties.get(name);
    if (property) return validateListSetsAndMaps(path ? path.child(name) : new Path(name), property, getOwn(value, name));
    const place = path ? path.key(name) : new Path(name, undefined, true);
    return schema.additionalProperties ? validateListSetsAndMaps(place, schema.additionalProperties, getOwn(value, name)) : [];
  });
}

function validateList(path: Path, schema: Structural, list: readonly unknown[]): FieldError[] {
  const errors =
    schema.listType === 'set'
      ? repeated(list).map((index) => duplicate(path.index(index), list[index]))
      : schema.listType === 'map'
        ? validateMap(path, schema.props['x-kubernetes-list-map-keys'] ?? [], list)
        : [];
  return [...errors, ...list.flatMap((item, index) => validateListSetsAndMaps(path.index(index), schema.items, item))];
}

function validateMap(path: Path, keyFields: readonly string[], list: readonly unknown[]): FieldError[] {
  const stray = list.findIndex((item) => item !== null && !isJsonObject(item));
  if (stray >= 0) return [invalid(path.index(stray), list[stray], 'must be an object for an array of list-type map')];
  const keys = list.map((item) => keyOf(keyFields, item));
  // A single key is compared by value and type, several keys as JSON.
  const [single] = keyFields;
  const compared = keyFields.length === 1 ? keys.map((key) => (Object.hasOwn(key, single!) ? getOwn(key, single!) : undefined)) : keys;
  return repeated(compared).map((index) => duplicate(path.index(index), keys[index]));
}

function keyOf(keyFields: readonly string[], item: unknown): JsonObject {
  if (!isJsonObject(item)) return {};
  return Object.fromEntries(keyFields.filter((field) => Object.hasOwn(item, field)).map((field) => [field, getOwn(item, field)]));
}

/** Returns the indexes of the second occurrences of values; further ones are not reported. */
function repeated(list: readonly unknown[]): number[] {
  if (list.length <= 1) return [];
  const seen = new Map<unknown, number>();
  const found: number[] = [];
  for (const [index, item] of list.entries()) {
    const key = isContainer(item) ? `object ${encodeJson(item)}` : scalarKey(item);
    const times = seen.get(key) ?? 0;
    seen.set(key, times + 1);
    if (times === 1) found.push(index);
  }
  return found;
}
