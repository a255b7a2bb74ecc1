import type { FieldsV1 } from '#apimachinery/meta/types';
import { sortedKeys, sortedKeysSteps } from '#apimachinery/runtime/json/json';
import { isContainer } from '#apimachinery/runtime/numbers';
import { atOnce, type Steps } from '#apimachinery/runtime/steps';
import { keysOf, noteKeys } from '#apimachinery/runtime/wide-objects';
import { FieldSet, leaf } from './field-set.ts';
import { groupItems, sortedElements } from './item-element.ts';
import type { AnyShape, ListShape, MapShape, Shape } from './shape.ts';
import { descend, isMap, maxDepth, valueShape } from './typed-value.ts';
import { isEmptyValue, type Json, membersPerStep, NodeParts, pick, stepKeys, WideResults } from './wide-values.ts';

type Node = FieldsV1;

/** Fields of wide maps and long lists. */
const parts = new WideResults<Node | undefined>();

/**
 * Returns the fields that a configuration owns: its leaves, the items of its granular lists and maps, and the fields that it sets to null
 * or to an empty map.
 */
export function toFieldSet(shape: Shape, value: unknown): FieldSet {
  return FieldSet.fromCanonical(ownedBy(shape, value, 0));
}

/** Like `toFieldSet` for a large configuration, but yields to the event loop; it must not change meanwhile. */
export function* toFieldSetSteps(shape: Shape, value: unknown): Steps<FieldSet> {
  const found = new Map<object, Node | undefined>();
  yield* wideOwned(shape, value, 0, found);
  return parts.during(found, () => toFieldSet(shape, value));
}

/** Computes the sets of maps and lists with many values below them, the deepest first. Returns the number of values that are left. */
function* wideOwned(shape: Shape, value: unknown, depth: number, found: Map<object, Node | undefined>): Steps<number> {
  if (shape.kind === 'scalar' || shape.atomic || depth > maxDepth) return 1;
  if (shape.kind === 'list' && Array.isArray(value)) return yield* longOwned(shape, value, depth, found);
  if (shape.kind === 'list' || !isMap(value)) return 1;
  const isStruct = shape.kind === 'map' && shape.fields.size > 0;
  const names = isStruct ? keysOf(value) : yield* sortedKeysSteps(value);
  let done = 0;
  let values = names.length;
  for (const name of names) {
    if (++done % stepKeys === 0) yield;
    const child = value[name];
    const inner = shape.kind === 'map' ? (shape.fields.get(name)?.shape ?? shape.values) : shape;
    if (inner && isContainer(child)) values += yield* wideOwned(inner, child, depth + 1, found);
  }
  if (isStruct || values <= stepKeys) return values;
  const owned = new NodeParts();
  const step = membersPerStep(names.length, values);
  for (let from = 0; from < names.length; from += step) {
    yield;
    const some = pick(value, names.slice(from, from + step));
    const part = parts.during(found, () => ownedFields(shape, some, descend(depth)));
    if (part) owned.add(part);
  }
  found.set(value, owned.whole());
  return 1;
}

function* longOwned(shape: ListShape, items: unknown[], depth: number, found: Map<object, Node | undefined>): Steps<number> {
  let values = items.length;
  if (shape.items.kind !== 'scalar') {
    for (const [i, item] of items.entries()) {
      if (i % stepKeys === stepKeys - 1) yield;
      values += yield* wideOwned(shape.items, item, depth + 1, found);
    }
  }
  if (values <= stepKeys) return values;
  const step = membersPerStep(items.length, values);
  found.set(items, yield* parts.duringSteps(found, ownedItems(shape, items, descend(depth), step)));
  return 1;
}

function ownedBy(shape: Shape, value: unknown, depth: number): Node | undefined {
  if (parts.current?.has(value as object)) return parts.current.get(value as object);
  if (shape.kind === 'scalar' || shape.atomic) return leaf;
  if (shape.kind === 'list') return Array.isArray(value) ? atOnce(ownedItems(shape, value, descend(depth))) : undefined;
  if (isMap(value)) return ownedFields(shape, value, descend(depth));
  return shape.kind === 'any' && value !== null ? leaf : undefined;
}

function* ownedItems(shape: ListShape, items: unknown[], depth: number, step = stepKeys): Steps<Node | undefined> {
  const groups = yield* groupItems(shape, items, 'raw');
  const out: Node = {};
  let done = 0;
  const elements = yield* sortedElements([...groups.keys()]);
  for (const element of elements) {
    if (++done % step === 0) yield;
    const group = groups.get(element)!;
    out[element] = group.length > 1 ? leaf : asMember(ownedBy(shape.items, group[0], depth));
  }
  return groups.size > 0 ? noteKeys(out, elements) : undefined;
}

function ownedFields(shape: MapShape | AnyShape, value: Json, depth: number): Node | undefined {
  const out: Node = {};
  for (const name of sortedKeys(value)) {
    const child = value[name];
    if (child === undefined) continue;
    const field = shape.kind === 'map' ? shape.fields.get(name) : undefined;
    const owned = ownedBy(field ? field.shape : valueShape(shape, name), child, depth);
    const itself = !field || child === null || (isMap(child) && isEmptyValue(child));
    const node = itself ? asMember(owned) : owned;
    if (node) out[`f:${name}`] = node;
  }
  return isEmptyValue(out) ? undefined : out;
}

function asMember(node: Node | undefined): Node {
  if (node === undefined || isEmptyValue(node)) return leaf;
  return node['.'] === undefined ? { '.': leaf, ...node } : node;
}
