import { isEmptyObject, isJsonObject, type JsonObject, setOwn } from '#apimachinery/patch/own-property';
import { keysOf, noteKeys } from '#apimachinery/runtime/wide-objects';
import { atOnce, type Steps } from '#apimachinery/runtime/steps';
import { itemElement } from './item-element.ts';
import { maxDepth, TypedError } from './typed-value.ts';
import type { PathElement } from './path-element.ts';
import type { AnyShape, ListShape, MapShape, Shape } from './shape.ts';

/** Number of fields or items between two yields. */
const stepItems = 1_024;

/**
 * Merges an applied configuration into a live value: nothing is removed, leaves of the configuration win, and list items are in its order
 * (structured-merge-diff/typed/merge.go). Inputs are not changed; the result shares their parts. Throws TypedError.
 */
export function merge(shape: Shape, live: unknown, applied: unknown): unknown {
  return atOnce(mergeSteps(shape, live, applied, false));
}

/**
 * Like `merge`, but yields to the event loop; neither input may change meanwhile. `isLarge` is true if copying a map, or checking whether
 * it is empty, may take 100 ms.
 */
export function mergeSteps(shape: Shape, live: unknown, applied: unknown, isLarge: boolean): Steps<unknown> {
  return mergeValues(shape, live, applied, isLarge, 0);
}

function* mergeValues(shape: Shape, live: unknown, applied: unknown, isLarge: boolean, depth: number): Steps<unknown> {
  if (applied === undefined) return live;
  if (live === undefined || shape.kind === 'scalar' || shape.atomic) return applied;
  if (depth > maxDepth) throw new TypedError(`the value is nested more than ${maxDepth} levels deep`);
  switch (shape.kind) {
    case 'list':
      return yield* mergeLists(shape, Array.isArray(live) ? live : [], applied, isLarge, depth);
    case 'map':
    case 'any':
      if (!isJsonObject(live) || isEmptyObject(live)) return applied;
      if (applied === null) return live;
      if (isLarge) yield;
      return isJsonObject(applied) ? yield* mergeMaps(shape, live, applied, isLarge, depth) : applied;
  }
}

function* mergeMaps(shape: MapShape | AnyShape, live: JsonObject, applied: JsonObject, isLarge: boolean, depth: number): Steps<JsonObject> {
  const names = keysOf(applied);
  if (names.length === 0) return live;
  const out = isLarge ? yield* copyMap(live) : { ...live };
  const added: string[] = [];
  let done = 0;
  for (const name of names) {
    if (++done % stepItems === 0) yield;
    const child = shape.kind === 'any' ? shape : (shape.fields.get(name)?.shape ?? shape.values);
    if (!child) throw new TypedError(`.${name}: field not declared in schema`);
    const ours = applied[name];
    const isThere = Object.hasOwn(live, name);
    if (!isThere) added.push(name);
    const theirs = isThere ? live[name] : undefined;
    setOwn(
      out,
      name,
      child.kind === 'scalar' ? (ours === undefined ? theirs : ours) : yield* mergeValues(child, theirs, ours, isLarge, depth + 1),
    );
  }
  return isLarge ? noteKeys(out, [...keysOf(live), ...added]) : out;
}

/** Like `{ ...map }`, but chunked. */
function* copyMap(map: JsonObject): Steps<JsonObject> {
  const copy: JsonObject = {};
  let done = 0;
  for (const name of keysOf(map)) {
    if (++done % stepItems === 0) yield;
    if (map[name] !== undefined) setOwn(copy, name, map[name]);
  }
  return copy;
}

interface Indexed {
  readonly elements: readonly PathElement[];
  readonly items: ReadonlyMap<PathElement, unknown>;
}

/** Indexes items by path element. Duplicates, which only live lists may have, become null: they are not merged. */
function* indexItems(shape: ListShape, items: readonly unknown[], allowDuplicates: boolean): Steps<Indexed> {
  const elements: PathElement[] = [];
  const byElement = new Map<PathElement, unknown>();
  for (const [index, item] of items.entries()) {
    if (index % stepItems === stepItems - 1) yield;
    let element: PathElement;
    try {
      element = itemElement(shape, item, allowDuplicates ? 'typed' : 'raw');
    } catch (cause) {
      if (cause instanceof TypedError) throw new TypedError(`element ${index}: ${cause.message}`, { cause });
      throw cause;
    }
    if (byElement.has(element) && !allowDuplicates) continue;
    byElement.set(element, byElement.has(element) ? null : item);
    elements.push(element);
  }
  return { elements, items: byElement };
}

/** Merges the items of both lists. Live-only items stay before the next shared item; shared ones are in the order of the applied list. */
function* mergeLists(shape: ListShape, live: readonly unknown[], applied: unknown, isLarge: boolean, depth: number): Steps<unknown> {
  const ours = Array.isArray(applied) ? applied : [];
  if (live.length === 0) return ours.length === 0 ? applied : ours;
  const left = yield* indexItems(shape, live, true);
  const right = yield* indexItems(shape, ours, false);
  const shared = right.elements.filter((element) => left.items.has(element));
  const merged = new Set<PathElement>();
  const out: unknown[] = [];
  let done = 0;
  let nextShared = 0;
  let l = 0;
  let r = 0;
  function* take(element: PathElement): Steps<void> {
    merged.add(element);
    out.push(yield* mergeValues(shape.items, left.items.get(element), right.items.get(element), isLarge, depth + 1));
  }
  while (l < left.elements.length || r < right.elements.length) {
    if (++done % stepItems === 0) yield;
    if (l < left.elements.length && r < right.elements.length) {
      const element = left.elements[l]!;
      if (element === right.elements[r]) {
        yield* take(element);
        l++;
        r++;
        nextShared++;
        continue;
      }
      if (right.items.has(element) && nextShared < shared.length && shared[nextShared] !== element) {
        l++;
        continue;
      }
    }
    if (l < left.elements.length) {
      const element = left.elements[l]!;
      if (!right.items.has(element)) {
        out.push(live[l]);
        l++;
        continue;
      }
      if (merged.has(element)) l++;
    }
    if (r < right.elements.length) {
      const element = right.elements[r]!;
      yield* take(element);
      r++;
      if (shared[nextShared] === element) nextShared++;
    }
  }
  return out;
}
