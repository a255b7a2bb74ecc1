import type { FieldsV1 } from '#apimachinery/meta/types';
import { isEmptyObject, isJsonObject, type JsonObject, setOwn } from '#apimachinery/patch/own-property';
import { isContainer } from '#apimachinery/runtime/numbers';
import { atOnce, type Steps } from '#apimachinery/runtime/steps';
import { keysOf, noteKeys } from '#apimachinery/runtime/wide-objects';
import { FieldSet, hasChildren, leaf, withMembership } from './field-set.ts';
import { type AnyShape, holdsOnlyScalars, type ListShape, type MapShape, type Shape } from './shape.ts';
import { itemElement } from './item-element.ts';
import { maxDepth, TypedError } from './typed-value.ts';

type Node = FieldsV1;

/**
 * Returns the value without the fields and items of a set; structured-merge-diff/typed/remove.go. A value without remaining content becomes
 * null. The input is not changed.
 */
export function removeItems(shape: Shape, value: unknown, items: FieldSet): Steps<unknown> {
  return filter(shape, value, items.toFieldsV1(), false, 0);
}

/** Returns the value with only the fields and items of a set. */
export function extractItems(shape: Shape, value: unknown, items: FieldSet): unknown {
  return atOnce(filter(shape, value, items.toFieldsV1(), true, 0));
}

/** Number of fields or items between two yields. */
const stepItems = 1_024;

const isMember = (node: Node | undefined): boolean => node !== undefined && (node['.'] !== undefined || isEmptyObject(node));

/** True if the node has descendants in the set. */
function goesOn(node: Node | undefined): node is Node {
  return node !== undefined && hasChildren(node);
}

function* filter(shape: Shape, value: unknown, set: Node, extract: boolean, depth: number): Steps<unknown> {
  if (depth > maxDepth) throw new TypedError(`the value is nested more than ${maxDepth} levels deep`);
  if (shape.kind === 'scalar') return value;
  if (shape.kind === 'any' && !isContainer(value)) return value;
  if (Array.isArray(value)) {
    if (value.length === 0 || shape.kind === 'any' || shape.atomic) return extract ? value : null;
    return shape.kind === 'list' ? yield* filterItems(shape, value, set, extract, depth) : null;
  }
  if (!isJsonObject(value) || shape.kind === 'list') return null;
  if (isEmptyObject(value) || shape.atomic) return extract ? value : null;
  return yield* filterFields(shape, value, set, extract, depth);
}

function* filterItems(shape: ListShape, items: readonly unknown[], set: Node, extract: boolean, depth: number): Steps<unknown> {
  const out: unknown[] = [];
  let done = 0;
  for (const item of items) {
    if (++done % stepItems === 0) yield;
    const node = set[itemElement(shape, item, 'raw')];
    const matches = isMember(node);
    if (extract ? !matches && !goesOn(node) : matches) continue;
    out.push(goesOn(node) ? yield* filter(shape.items, item, node, extract, depth + 1) : item);
  }
  return out.length > 0 ? out : null;
}

function* filterFields(shape: MapShape | AnyShape, value: JsonObject, set: Node, extract: boolean, depth: number): Steps<unknown> {
  const out: JsonObject = {};
  const left: string[] = [];
  const keep = (name: string, kept: unknown): void => {
    left.push(name);
    setOwn(out, name, kept);
  };
  let done = 0;
  for (const name of keysOf(value)) {
    if (++done % stepItems === 0) yield;
    const node = set[`f:${name}`];
    const child = shape.kind === 'any' ? shape : (shape.fields.get(name)?.shape ?? shape.values ?? shape);
    if (isMember(node)) {
      if (extract) keep(name, goesOn(node) ? yield* filter(child, value[name], node!, true, depth + 1) : value[name]);
    } else if (goesOn(node)) keep(name, yield* filter(child, value[name], node, extract, depth + 1));
    else if (!extract) keep(name, value[name]);
  }
  return left.length > 0 ? noteKeys(out, left) : null;
}

/**
 * Returns the set with all struct fields on its paths as members: `a.b.c` adds `a` if that is a struct field, but not if it is a map key.
 */
export function* ensureNamedFieldsAreMembers(shape: Shape, set: FieldSet): Steps<FieldSet> {
  return FieldSet.fromCanonical(yield* withNamedFields(shape, set.toFieldsV1()));
}

function* withNamedFields(shape: Shape | undefined, node: Node): Steps<Node> {
  if (shape?.kind === 'map' && shape.fields.size === 0 && holdsOnlyScalars(shape)) return node;
  let out: Node | undefined;
  let done = 0;
  for (const element of keysOf(node)) {
    if (++done % stepItems === 0) yield;
    if (element === '.') continue;
    const before = node[element]!;
    if (before === leaf || isEmptyObject(before)) continue;
    const field = shape?.kind === 'map' && element.startsWith('f:') ? shape.fields.get(element.slice(2)) : undefined;
    let child = yield* withNamedFields(field ? field.shape : childShape(shape, element), before);
    if (field && child['.'] === undefined) child = yield* withMembership(true, child);
    if (child !== before) (out ??= { ...node })[element] = child;
  }
  return out ?? node;
}

/** Returns the shape below an element that is not a struct field; undefined if the type has none. */
function childShape(shape: Shape | undefined, element: string): Shape | undefined {
  if (element.startsWith('f:')) return shape?.kind === 'map' ? shape.values : shape?.kind === 'any' && !shape.atomic ? shape : undefined;
  return element.startsWith('k:') && shape?.kind === 'list' ? shape.items : undefined;
}

/**
 * Adapts a set to a changed type: a manager that owned part of a value that is now atomic owns the whole. Returns the set itself if nothing
 * changes. structured-merge-diff/typed/reconcile_schema.go.
 */
export function reconcileFieldSet(shape: Shape, set: FieldSet): FieldSet {
  const before = set.toFieldsV1();
  const after = reconcile(shape, before);
  return after === before ? set : FieldSet.fromCanonical(after);
}

function reconcile(shape: Shape, node: Node): Node {
  if (holdsOnlyScalars(shape)) return node;
  let out: Node | undefined;
  for (const element in node) {
    if (element === '.') continue;
    const before = node[element]!;
    if (!goesOn(before)) continue;
    const child =
      shape.kind === 'map' && element.startsWith('f:')
        ? (shape.fields.get(element.slice(2))?.shape ?? shape.values)
        : shape.kind === 'list'
          ? shape.items
          : undefined;
    if (!child || child.kind === 'scalar') continue;
    const after = child.atomic ? leaf : reconcile(child, before);
    if (after !== before) (out ??= { ...node })[element] = after;
  }
  return out ?? node;
}
