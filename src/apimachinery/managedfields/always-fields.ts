import { isEmptyObject, setOwn } from '#apimachinery/patch/own-property';
import { isContainer } from '#apimachinery/runtime/numbers';
import { keysOf } from '#apimachinery/runtime/wide-objects';
import { holdsOnlyScalars, type Shape } from './shape.ts';
import { descend, isMap, readField, readingOf } from './typed-value.ts';
import type { Json } from './wide-values.ts';

/**
 * Returns a decoded value with the fields that Go always encodes, as Go's conversion to JSON has them; the value itself if none is missing.
 */
export function withAlwaysFields(shape: Shape, value: unknown): unknown {
  return fill(shape, value, 0);
}

function fill(shape: Shape, value: unknown, depth: number): unknown {
  if (!isContainer(value) || holdsOnlyScalars(shape)) return value;
  if (shape.kind === 'list') return Array.isArray(value) ? mapped(value, (item) => fill(shape.items, item, descend(depth))) : value;
  if (shape.kind !== 'map' || !isMap(value)) return value;
  let out: Json | undefined;
  for (const name of keysOf(value)) {
    const child = shape.fields.get(name)?.shape ?? shape.values;
    const filled = child ? fill(child, value[name], descend(depth)) : value[name];
    if (filled !== value[name]) setOwn((out ??= { ...value }), name, filled);
  }
  for (const field of shape.always) {
    if (value[field.name] === undefined) (out ??= { ...value })[field.name] = fill(field.shape, field.zero, descend(depth));
  }
  return out ?? value;
}

/** Returns the list with changed items; the list itself if none changes. */
function mapped(list: unknown[], change: (item: unknown) => unknown): unknown[] {
  let items: unknown[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const item = change(list[i]);
    if (item !== list[i]) (items ??= list.slice())[i] = item;
  }
  return items ?? list;
}

/** Returns a decoded value without the empty lists and maps that Go omits, as its JSON has none; the value itself if it has none. */
export function withoutEmpty(shape: Shape, value: unknown, depth = 0): unknown {
  if (!isContainer(value) || holdsOnlyScalars(shape)) return value;
  if (shape.kind === 'list') return Array.isArray(value) ? mapped(value, (item) => withoutEmpty(shape.items, item, descend(depth))) : value;
  if (shape.kind !== 'map' || !isMap(value)) return value;
  let out: Json | undefined;
  for (const name of keysOf(value)) {
    const field = shape.fields.get(name);
    if (field?.omitsZero && isEmptyContainer(field.shape, value[name])) {
      delete (out ??= { ...value })[name];
      continue;
    }
    const inner = field?.shape ?? shape.values;
    const child = inner ? withoutEmpty(inner, value[name], descend(depth)) : value[name];
    if (child !== value[name]) setOwn((out ??= { ...value }), name, child);
  }
  return out ?? value;
}

/**
 * Returns a decoded value without the fields that Go omits: empty lists, empty maps and zero scalars. Within a list, empty lists and maps
 * are kept: structured-merge-diff compares lists of Go with reflect.DeepEqual, for which an empty one differs from none
 * (value/listreflect.go).
 */
export function withoutOmitted(shape: Shape, value: unknown, isInList = false, depth = 0): unknown {
  if (!isContainer(value) || holdsOnlyScalars(shape)) return value;
  if (shape.kind === 'list')
    return Array.isArray(value) ? value.map((item) => withoutOmitted(shape.items, item, true, descend(depth))) : value;
  if (shape.kind !== 'map' || !isMap(value)) return value;
  const out: Json = {};
  for (const name of keysOf(value)) {
    const field = shape.fields.get(name);
    const isKept = isInList && field !== undefined && isEmptyContainer(field.shape, value[name]);
    const child = field && !isKept ? readField(field, value[name], readingOf(shape, 'typed')) : value[name];
    const inner = field?.shape ?? shape.values;
    if (child !== undefined) setOwn(out, name, inner ? withoutOmitted(inner, child, isInList, descend(depth)) : child);
  }
  return out;
}

/** True for an empty list, and an empty map that is not a struct. */
export function isEmptyContainer(shape: Shape, value: unknown): boolean {
  if (shape.kind === 'list') return Array.isArray(value) && value.length === 0;
  return shape.kind === 'map' && !shape.structured && isMap(value) && isEmptyObject(value);
}
