import type { FieldsV1 } from '#apimachinery/meta/types';
import { getOwn } from '#apimachinery/patch/own-property';
import { equalValues, equalValuesSteps } from '#apimachinery/runtime/equality';
import { compareUtf8, sortedKeys, sortedKeysSteps } from '#apimachinery/runtime/json/json';
import { isContainer } from '#apimachinery/runtime/numbers';
import { mergeRunsSteps } from '#apimachinery/runtime/sorting';
import { atOnce, type Steps } from '#apimachinery/runtime/steps';
import { noteKeys } from '#apimachinery/runtime/wide-objects';
import { isSameWhole, isSameWholeSteps, type Readings } from './atomic-values.ts';
import { FieldSet, leaf } from './field-set.ts';
import { groupItems, itemElementAt, sortedElements } from './item-element.ts';
import type { PathElement } from './path-element.ts';
import type { AnyShape, FieldShape, ListShape, MapShape, Shape } from './shape.ts';
import { descend, isMap, maxDepth, type Reading, readField, readingOf, valueShape } from './typed-value.ts';
import { type Json, membersPerStep, NodeParts, pick, stepKeys, WideResults } from './wide-values.ts';

type Node = FieldsV1;

/** Parts that a comparison skips: the whole subtree (`true`), or parts of it. */
export type Skip = true | { readonly [element: PathElement]: Skip };

export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

interface Delta {
  added: Node | undefined;
  modified: Node | undefined;
  removed: Node | undefined;
}

const added = (node: Node): Delta => ({ added: node, modified: undefined, removed: undefined });
const modified = (): Delta => ({ added: undefined, modified: leaf, removed: undefined });
const removed = (node: Node): Delta => ({ added: undefined, modified: undefined, removed: node });

/**
 * Returns the paths that differ between two values of a type; structured-merge-diff/typed/compare.go. Paths only in `b` are added, paths
 * only in `a` are removed, including containers; leaves in both that differ are modified. Throws TypedError for lists with ambiguous items.
 */
export function compare(shape: Shape, a: unknown, b: unknown, readings: Readings, skip?: Skip): Comparison | undefined {
  const delta = compareValues(shape, a, b, readings, skip, 0);
  if (!delta) return undefined;
  return {
    added: FieldSet.fromCanonical(delta.added),
    modified: FieldSet.fromCanonical(delta.modified),
    removed: FieldSet.fromCanonical(delta.removed),
  };
}

/** Differences of wide maps and long lists, by the value in `b`, or else in `a`. */
const parts = new WideResults<Delta | undefined>();

type Parts = Map<object, Delta | undefined>;

/** Compares the large parts of two values in chunks and yields between them; then `compare` of the same values in `work` is fast. */
export function* comparingSteps<T>(shape: Shape, a: unknown, b: unknown, readings: Readings, work: () => T): Steps<T> {
  const found: Parts = new Map();
  yield* wideParts(shape, a, b, readings, 0, found);
  return parts.during(found, work);
}

/** Compares maps and lists with many values below them, the deepest first. Returns the number of values that are left to compare. */
function* wideParts(shape: Shape, a: unknown, b: unknown, readings: Readings, depth: number, found: Parts): Steps<number> {
  if (shape.kind === 'scalar' || a === b || depth > maxDepth) return 1;
  if (shape.atomic) return yield* wideAtomic(shape, a, b, readings, found);
  if (shape.kind === 'list') return yield* longList(shape, a, b, readings, depth, found);
  return yield* wideMap(shape, a, b, readings, depth, found);
}

/** Compares two large atomic values. */
function* wideAtomic(shape: Shape, a: unknown, b: unknown, readings: Readings, found: Parts): Steps<number> {
  if (!isContainer(a) || !isContainer(b)) return 1;
  const steps = shape.kind === 'any' ? equalValuesSteps(a, b) : isSameWholeSteps(shape, a, b, readings);
  let isLarge = false;
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) {
      if (isLarge) found.set(b, step.value ? undefined : modified());
      return 1;
    }
    isLarge = true;
    yield;
  }
}

function* wideMap(shape: MapShape | AnyShape, a: unknown, b: unknown, readings: Readings, depth: number, found: Parts): Steps<number> {
  const left = isMap(a) ? a : undefined;
  const right = isMap(b) ? b : undefined;
  const isStruct = shape.kind === 'map' && shape.fields.size > 0;
  const names = isStruct ? [...new Set([...Object.keys(left ?? {}), ...Object.keys(right ?? {})])] : yield* namesSteps(left, right);
  const both = { left: readingOf(shape, readings.left), right: readingOf(shape, readings.right) };
  let done = 0;
  let values = names.length;
  for (const name of names) {
    if (++done % stepKeys === 0) yield;
    let [x, y] = [left && getOwn(left, name), right && getOwn(right, name)];
    if (!isContainer(x) && !isContainer(y)) continue;
    const field = shape.kind === 'map' ? shape.fields.get(name) : undefined;
    // Checking whether a wide map is empty takes as long as listing it.
    if (field && left) x = readField(field, x, both.left);
    yield;
    if (field && right) y = readField(field, y, both.right);
    yield;
    const inner = field?.shape ?? (shape.kind === 'map' ? shape.values : shape);
    if (inner) values += yield* wideParts(inner, x, y, both, depth + 1, found);
  }
  const whole = right ?? left;
  if (!whole || isStruct || values <= stepKeys || (a !== undefined && !left) || (b !== undefined && !right)) return values;
  const delta = { added: new NodeParts(), modified: new NodeParts(), removed: new NodeParts() };
  const step = membersPerStep(names.length, values);
  for (let from = 0; from < names.length; from += step) {
    yield;
    const some = names.slice(from, from + step);
    const [ours, theirs] = [left && pick(left, some), right && pick(right, some)];
    const part = parts.during(found, () => compareValues(shape, ours, theirs, readings, undefined, depth));
    for (const kind of ['added', 'modified', 'removed'] as const) if (part?.[kind]) delta[kind].add(part[kind]);
  }
  // It is not empty either.
  if (left) found.set(left, undefined);
  const [added, modified, removed] = [delta.added.whole(), delta.modified.whole(), delta.removed.whole()];
  found.set(whole, added || modified || removed ? { added, modified, removed } : undefined);
  return 1;
}

function* longList(shape: ListShape, a: unknown, b: unknown, readings: Readings, depth: number, found: Parts): Steps<number> {
  // A present value that is not a list has no items.
  const left = Array.isArray(a) ? a : a === undefined ? undefined : [];
  const right = Array.isArray(b) ? b : b === undefined ? undefined : [];
  const length = Math.max(left?.length ?? 0, right?.length ?? 0);
  const values = length + (shape.items.kind === 'scalar' ? 0 : yield* wideItems(shape, left, right, readings, depth, found));
  if (values <= stepKeys) return values;
  const inner = descend(depth);
  const step = membersPerStep(length, values);
  if (!left || !right) {
    const [whole, reading] = left ? [left, readings.left] : [right!, readings.right];
    const all = yield* parts.duringSteps(found, listSubtreeSteps(shape, whole, reading, inner, step));
    found.set(whole, left ? removed(all) : added(all));
    return 1;
  }
  // Results are found by the value in `b`, which must be a list.
  if (!Array.isArray(b)) return values;
  yield;
  const isSame = yield* equalValuesSteps(left, right);
  found.set(right, isSame ? undefined : yield* parts.duringSteps(found, comparingItems(shape, left, right, readings, inner, step)));
  return 1;
}

/** Compares the items of both lists, paired if they are in both. Returns the number of values that are left to compare. */
function* wideItems(
  shape: ListShape,
  left: unknown[] | undefined,
  right: unknown[] | undefined,
  readings: Readings,
  depth: number,
  found: Parts,
): Steps<number> {
  const lefts = left && (yield* groupItems(shape, left, readings.left));
  const rights = right && (yield* groupItems(shape, right, readings.right));
  let done = 0;
  let values = 0;
  for (const [element, ours] of lefts ?? []) {
    const theirs = rights?.get(element);
    if (ours.length === 1 && (theirs?.length ?? 1) === 1)
      values += yield* wideParts(shape.items, ours[0], theirs?.[0], readings, depth + 1, found);
    if (++done % stepKeys === 0) yield;
  }
  for (const [element, theirs] of rights ?? []) {
    if (theirs.length === 1 && !lefts?.has(element))
      values += yield* wideParts(shape.items, undefined, theirs[0], readings, depth + 1, found);
    if (++done % stepKeys === 0) yield;
  }
  return values;
}

function* namesSteps(left: Json | undefined, right: Json | undefined): Steps<string[]> {
  const ours = left ? yield* sortedKeysSteps(left) : [];
  if (!right) return ours;
  const theirs = yield* sortedKeysSteps(right);
  if (!left) return theirs;
  const all = yield* mergeRunsSteps(ours, theirs, compareUtf8);
  const names: string[] = [];
  for (let at = 0; at < all.length; at++) {
    if (at % stepKeys === stepKeys - 1) yield;
    if (all[at] !== all[at - 1]) names.push(all[at]!);
  }
  return names;
}

function compareValues(shape: Shape, a: unknown, b: unknown, readings: Readings, skip: Skip | undefined, depth: number): Delta | undefined {
  if (a === undefined) return added(subtree(shape, b, readings.right, depth));
  if (b === undefined) return removed(subtree(shape, a, readings.left, depth));
  if (a === b && readings.left === readings.right) return undefined;
  if (parts.current !== undefined && skip === undefined && parts.current.has(b as object)) return parts.current.get(b as object);
  switch (shape.kind) {
    case 'scalar':
      return equalValues(a, b) ? undefined : modified();
    case 'list':
      if (shape.atomic) return isSameWhole(shape, a, b, readings) ? undefined : modified();
      return compareLists(shape, a, b, readings, descend(depth));
    case 'map':
      if (shape.atomic) return isSameWhole(shape, a, b, readings) ? undefined : modified();
      return compareMaps(shape, a, b, readings, skip, descend(depth));
    case 'any':
      if (shape.atomic || !(isMap(a) || isMap(b))) return equalValues(a, b) ? undefined : modified();
      return compareMaps(shape, a, b, readings, skip, descend(depth));
  }
}

interface Change {
  readonly name: string;
  readonly element: PathElement;
  /** -1 for a key that is not a field of a struct. */
  readonly rank: number;
  readonly delta: Delta;
}

function byRankOrName(a: Change, b: Change): number {
  return a.rank >= 0 && b.rank >= 0 ? a.rank - b.rank : compareUtf8(a.name, b.name);
}

function compareMaps(
  shape: MapShape | AnyShape,
  a: unknown,
  b: unknown,
  readings: Readings,
  skip: Skip | undefined,
  depth: number,
): Delta | undefined {
  const left = isMap(a) ? a : undefined;
  const right = isMap(b) ? b : undefined;
  const leftReading = readingOf(shape, readings.left);
  const rightReading = readingOf(shape, readings.right);
  let changes: Change[] | undefined;
  const visit = (name: string): void => {
    const field = shape.kind === 'map' ? shape.fields.get(name) : undefined;
    const element = field ? field.element : `f:${name}`;
    let skipped: Skip | undefined;
    if (skip !== undefined && skip !== true) {
      skipped = skip[element];
      if (skipped === true) return;
    }
    let x = left && Object.hasOwn(left, name) ? left[name] : undefined;
    let y = right && Object.hasOwn(right, name) ? right[name] : undefined;
    if (field) {
      if (left) x = readField(field, x, leftReading);
      if (right) y = readField(field, y, rightReading);
    }
    if (x === undefined && y === undefined) return;
    const delta = compareValues(field ? field.shape : valueShape(shape, name), x, y, readings, skipped, depth);
    if (delta) (changes ??= []).push({ name, element, rank: field ? field.rank : -1, delta });
  };
  if (right) {
    for (const name in right) {
      const value = right[name];
      // Fast path: most fields are unchanged.
      if (left && left[name] === value && typeof value !== 'object' && Object.hasOwn(left, name)) continue;
      visit(name);
    }
  }
  if (left) for (const name in left) if (!right || !Object.hasOwn(right, name)) visit(name);
  if (shape.kind === 'map' && shape.structured) {
    for (const { name } of shape.always) {
      if (!(left && Object.hasOwn(left, name)) && !(right && Object.hasOwn(right, name))) visit(name);
    }
  }
  // Beside a value of another type, or null beside an empty object, the value itself has changed.
  const itself = (left === undefined || right === undefined) && isLeafChange(shape, a, b, changes !== undefined);
  if (!changes) return itself ? modified() : undefined;
  if (changes.length > 1) changes.sort(byRankOrName);
  const delta: Delta = { added: undefined, modified: itself ? { '.': leaf } : undefined, removed: undefined };
  for (const { element, delta: change } of changes) {
    if (change.added) (delta.added ??= {})[element] = change.added;
    if (change.modified) (delta.modified ??= {})[element] = change.modified;
    if (change.removed) (delta.removed ??= {})[element] = change.removed;
  }
  if (itself && delta.modified && isBareMember(delta.modified)) delta.modified = leaf;
  return delta;
}

function isLeafChange(shape: MapShape | AnyShape, a: unknown, b: unknown, hasChanges: boolean): boolean {
  if (a === null || b === null) return !hasChanges && a !== b;
  return shape.kind === 'any';
}

function isBareMember(node: Node): boolean {
  for (const key in node) if (key !== '.') return false;
  return true;
}

function compareLists(shape: ListShape, a: unknown, b: unknown, readings: Readings, depth: number): Delta | undefined {
  const left = Array.isArray(a) ? a : [];
  const right = Array.isArray(b) ? b : [];
  if (left.length === 0 && right.length === 0) return equalValues(a, b) ? undefined : modified();
  if (left.length === right.length && equalValues(left, right)) return undefined;

  return atOnce(comparingItems(shape, left, right, readings, depth));
}

/** Compares different lists item by item; yields after `step` of them. */
function* comparingItems(
  shape: ListShape,
  left: unknown[],
  right: unknown[],
  readings: Readings,
  depth: number,
  step = stepKeys,
): Steps<Delta | undefined> {
  const lefts = yield* groupItems(shape, left, readings.left);
  const rights = yield* groupItems(shape, right, readings.right);
  const elements = [...lefts.keys()];
  for (const element of rights.keys()) if (!lefts.has(element)) elements.push(element);
  const out: Delta = { added: undefined, modified: undefined, removed: undefined };
  let done = 0;
  for (const element of yield* sortedElements(elements)) {
    if (++done % step === 0) yield;
    const ours = lefts.get(element) ?? [];
    const theirs = rights.get(element) ?? [];
    let delta: Delta | undefined;
    if (ours.length <= 1 && theirs.length <= 1) delta = compareValues(shape.items, ours[0], theirs[0], readings, undefined, depth);
    // Duplicates have one owner, like a leaf.
    else if (ours.length > 1 && theirs.length > 1) delta = equalValues(ours, theirs) ? undefined : modified();
    else if (ours.length > 1) {
      delta = theirs.length > 0 ? added(subtree(shape.items, theirs[0], readings.right, depth)) : removed(leaf);
      delta.removed = leaf;
    } else {
      delta = ours.length > 0 ? removed(subtree(shape.items, ours[0], readings.left, depth)) : added(leaf);
      delta.added = leaf;
    }
    if (!delta) continue;
    if (delta.added) (out.added ??= {})[element] = delta.added;
    if (delta.modified) (out.modified ??= {})[element] = delta.modified;
    if (delta.removed) (out.removed ??= {})[element] = delta.removed;
  }
  return out.added || out.modified || out.removed ? out : undefined;
}

/** Returns all paths of a value without a counterpart, including its own. */
function subtree(shape: Shape, value: unknown, reading: Reading, depth: number): Node {
  const part = parts.current?.get(value as object);
  if (part) return (part.added ?? part.removed)!;
  if (!isContainer(value) || shape.kind === 'scalar' || shape.atomic) return leaf;
  if (shape.kind === 'list') return Array.isArray(value) && value.length > 0 ? listSubtree(shape, value, reading, descend(depth)) : leaf;
  if (!isMap(value)) return leaf;
  return readingOf(shape, reading) === 'typed'
    ? structSubtree(shape as MapShape, value, descend(depth))
    : mapSubtree(shape, value, reading, descend(depth));
}

function structSubtree(shape: MapShape, value: Json, depth: number): Node {
  // Insertion sort: structs have few fields, and the ranks are small integers.
  const present: FieldShape[] = [];
  for (const name in value) {
    const field = shape.fields.get(name);
    if (!field) {
      if (value[name] !== undefined) valueShape(shape, name);
      continue;
    }
    if (readField(field, value[name], 'typed') !== undefined) insertByRank(present, field);
  }
  for (const field of shape.always) if (!Object.hasOwn(value, field.name)) insertByRank(present, field);
  if (present.length === 0) return leaf;
  const out: Node = { '.': leaf };
  for (let i = 0; i < present.length; i++) {
    const field = present[i]!;
    const child = value[field.name] ?? field.zero;
    out[field.element] = typeof child === 'object' ? subtree(field.shape, child, 'typed', depth) : leaf;
  }
  return out;
}

function insertByRank(fields: FieldShape[], field: FieldShape): void {
  let i = fields.length;
  while (i > 0 && fields[i - 1]!.rank > field.rank) {
    fields[i] = fields[i - 1]!;
    i--;
  }
  fields[i] = field;
}

function mapSubtree(shape: MapShape | AnyShape, value: Json, reading: Reading, depth: number): Node {
  const names = sortedKeys(value);
  const out: Node = { '.': leaf };
  for (const name of names) {
    const child = value[name];
    if (child === undefined) continue;
    const field = shape.kind === 'map' ? shape.fields.get(name) : undefined;
    out[field ? field.element : `f:${name}`] = subtree(field ? field.shape : valueShape(shape, name), child, reading, depth);
  }
  return isBareMember(out) ? leaf : out;
}

function listSubtree(shape: ListShape, items: unknown[], reading: Reading, depth: number): Node {
  if (items.length > 1) return atOnce(listSubtreeSteps(shape, items, reading, depth));
  return { '.': leaf, [itemElementAt(shape, items, 0, reading)]: subtree(shape.items, items[0], reading, depth) };
}

function* listSubtreeSteps(shape: ListShape, items: unknown[], reading: Reading, depth: number, step = stepKeys): Steps<Node> {
  const out: Node = { '.': leaf };
  const groups = yield* groupItems(shape, items, reading);
  let done = 0;
  const elements = yield* sortedElements([...groups.keys()]);
  for (const element of elements) {
    if (++done % step === 0) yield;
    const group = groups.get(element)!;
    out[element] = group.length > 1 ? leaf : subtree(shape.items, group[0], reading, depth);
  }
  return noteKeys(out, ['.', ...elements]);
}
