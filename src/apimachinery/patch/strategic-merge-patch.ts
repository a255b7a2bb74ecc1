import { quote } from '#apimachinery/runtime/quote';
import type { Field, StructType, Type } from '#apimachinery/runtime/schema';
import { atOnce, type Steps } from '#apimachinery/runtime/steps';
import { keysOf, noteKeys, notedKeys } from '#apimachinery/runtime/wide-objects';
import { cleanValue, isDropped } from './clean-value.ts';
import { formatValue, goTypeName } from './format-value.ts';
import { insertionOrder } from './insertion-order.ts';
import { scalarKey } from '#apimachinery/runtime/numbers';
import { getOwn, isJsonObject, type JsonObject, setOwn } from './own-property.ts';

const directiveMarker = '$patch';
const retainKeysDirective = '$retainKeys';
const setElementOrderPrefix = '$setElementOrder';
const deleteFromPrimitiveListPrefix = '$deleteFromPrimitiveList';

/** Maximum depth of patches, since the merge is recursive. API types are not as deep. */
const maxDepth = 500;

/**
 * Error for a strategic merge patch that does not apply. `answer` selects 400, 422, or 500 with the message
 * (interpretStrategicMergePatchError of apiserver/pkg/endpoints/handlers/patch.go; see `interpretPatchError`).
 */
export class StrategicMergePatchError extends Error {
  override readonly name = 'StrategicMergePatchError';
  constructor(
    message: string,
    readonly answer: 'badRequest' | 'unprocessable' | 'internal' = 'internal',
  ) {
    super(message);
  }
}

const badPrimitiveList = () => new StrategicMergePatchError('invalid patch format of primitive list', 'badRequest');
const badRetainKeys = () => new StrategicMergePatchError('invalid patch format of retainKeys', 'badRequest');
const badSetElementOrder = () => new StrategicMergePatchError('invalid patch format of setElementOrder list', 'badRequest');
const noListOfLists = () => new StrategicMergePatchError('lists of lists are not supported', 'unprocessable');
const noMergeKey = (item: JsonObject, key: string) =>
  new StrategicMergePatchError(`map: ${formatValue(item)} does not contain declared merge key: ${key}`);
const badArgument = (expected: string, actual: unknown) =>
  new StrategicMergePatchError(`expected a ${expected}, but received a ${goTypeName(actual)}`);

/**
 * Applies a strategic merge patch to an object of a built-in type (apimachinery/pkg/util/strategicpatch, StrategicMergeMapPatch). Inputs
 * are not changed; the result shares untouched values. The result must be decoded: it may have fields that the type does not have. Throws
 * StrategicMergePatchError.
 */
export function applyStrategicMergePatch(document: JsonObject, patch: JsonObject, type: StructType): JsonObject {
  return atOnce(applyStrategicMergePatchSteps(document, patch, type));
}

/** Like `applyStrategicMergePatch`, but yields to the event loop. Inputs must not change meanwhile. */
export function applyStrategicMergePatchSteps(document: JsonObject, patch: JsonObject, type: StructType): Steps<JsonObject> {
  return mergeMap(document, patch, type, 0);
}

const keysPerStep = 1_024;

function* mergeMap(original: JsonObject, patch: JsonObject, type: Type, depth: number): Steps<JsonObject> {
  if (depth > maxDepth) throw new StrategicMergePatchError(`the patch is nested more than ${maxDepth} levels deep`, 'badRequest');
  if (Object.hasOwn(patch, directiveMarker)) return followDirective(patch);

  const result = yield* retainKeys(original, patch);
  const handled = yield* applyElementOrders(result, patch, type, depth);
  let done = 0;
  for (const key of keysOf(patch)) {
    if (++done % keysPerStep === 0) yield;
    if (handled?.has(key) || key === retainKeysDirective) continue;
    yield* mergeField(result, key, patch[key], type, depth);
  }
  return result;
}

function followDirective(patch: JsonObject): JsonObject {
  const { [directiveMarker]: directive, ...rest } = patch;
  if (directive === 'replace') return rest;
  if (directive === 'delete') return {};
  throw new StrategicMergePatchError(`unknown patch type: ${formatDirective(directive)} in map: ${formatValue(patch)}`);
}

const formatDirective = (directive: unknown): string =>
  typeof directive === 'string' ? directive : directive === null ? '%!s(<nil>)' : `%!s(${goTypeName(directive)}=${formatValue(directive)})`;

function* mergeField(target: JsonObject, patchKey: string, change: unknown, type: Type, depth: number): Steps<void> {
  let key = patchKey;
  const deletesItems = patchKey.startsWith(deleteFromPrimitiveListPrefix);
  if (deletesItems) key = keyAfter(patchKey, deleteFromPrimitiveListPrefix, badPrimitiveList) || patchKey;
  if (change === null) {
    delete target[key];
    return;
  }
  if (!Object.hasOwn(target, key)) {
    if (!deletesItems) setCleaned(target, key, change);
    return;
  }
  const current = target[key];
  if (isJsonObject(current) && isJsonObject(change)) {
    const field = lookup(type, key);
    setOwn(target, key, strategyOf(field) === 'replace' ? change : yield* mergeMap(current, change, field.type, depth + 1));
  } else if (Array.isArray(current) && Array.isArray(change)) {
    const { items, strategy, mergeKey } = lookupList(type, key);
    const merges = strategy === 'merge' || deletesItems;
    setOwn(target, key, merges ? yield* mergeList(current, change, items, mergeKey, deletesItems, depth) : change);
  } else if (!deletesItems || goTypeName(current) === goTypeName(change)) {
    setCleaned(target, key, change);
  }
}

/** Sets a patch value without a counterpart: without null fields and directives. */
function setCleaned(target: JsonObject, key: string, value: unknown): void {
  if (isDropped(value)) delete target[key];
  else setOwn(target, key, cleanValue(value));
}

/** Copies the original with the keys in the patch's `$retainKeys`, or with all if there is no such directive. */
function* retainKeys(original: JsonObject, patch: JsonObject): Steps<JsonObject> {
  if (!Object.hasOwn(patch, retainKeysDirective)) return notedKeys(original) ? yield* copyOfWide(original) : { ...original };
  const list = patch[retainKeysDirective];
  if (!Array.isArray(list)) throw badRetainKeys();
  const retained = new Set<unknown>(list);
  for (const key of Object.keys(patch)) {
    if (key === retainKeysDirective || patch[key] === null) continue;
    if (key.startsWith(deleteFromPrimitiveListPrefix) || key.startsWith(setElementOrderPrefix)) continue;
    if (!retained.has(key)) throw badRetainKeys();
  }
  const result: JsonObject = {};
  for (const key of Object.keys(original)) if (retained.has(key)) setOwn(result, key, original[key]);
  return result;
}

function* copyOfWide(original: JsonObject): Steps<JsonObject> {
  const copy: JsonObject = {};
  const keys = keysOf(original);
  let done = 0;
  for (const key of keys) {
    if (++done % keysPerStep === 0) yield;
    if (original[key] !== undefined) setOwn(copy, key, original[key]);
  }
  return noteKeys(copy, keys);
}

/**
 * Merges each list that has a `$setElementOrder/<list>` with its patch and sorts it: by `$setElementOrder` first, then by the patch, then
 * by the live list. Returns the keys of the patch that are done.
 */
function* applyElementOrders(target: JsonObject, patch: JsonObject, type: Type, depth: number): Steps<Set<string> | undefined> {
  let handled: Set<string> | undefined;
  for (const key of keysOf(patch)) {
    if (!key.startsWith(setElementOrderPrefix)) continue;
    (handled ??= new Set()).add(key);
    const order = patch[key];
    if (!Array.isArray(order)) throw badArgument('[]interface {}', order);
    const listKey = keyAfter(key, setElementOrderPrefix, badSetElementOrder);
    const current = listOf(target, listKey);
    const changes = listOf(patch, listKey);
    const { items, strategy, mergeKey } = lookupList(type, listKey);
    checkAgainstOrder(changes ?? [], order, mergeKey);
    let merged: unknown[];
    if (current && changes) {
      merged = strategy === 'merge' ? yield* mergeList(current, changes, items, mergeKey, false, depth) : changes;
    } else if (current) merged = current;
    else if (changes) merged = cleanValue(changes, { keepNulls: true }) as unknown[];
    else continue;

    const [inOrder, serverOnly] = partition(merged, order, mergeKey);
    const ofMaps = elementTypeName(current ?? [], changes ?? []) === 'map[string]interface {}';
    setOwn(target, listKey, orderItems(inOrder, serverOnly, order, current ?? [], mergeKey, ofMaps));
    handled.add(listKey);
  }
  return handled;
}

function listOf(object: JsonObject, key: string): unknown[] | undefined {
  if (!Object.hasOwn(object, key)) return undefined;
  const value = object[key];
  if (!Array.isArray(value)) throw badArgument('[]interface {}', value);
  return value;
}

/** Returns the part after the `/` of a directive such as `$setElementOrder/containers`. */
function keyAfter(key: string, prefix: string, error: () => Error): string {
  const slash = key.indexOf('/');
  if (slash < 0 || key.slice(0, slash) !== prefix) throw error();
  return key.slice(slash + 1);
}

/** Validates that the items of the patch are in the order of `$setElementOrder`, and all in that list. */
function checkAgainstOrder(changes: unknown[], order: unknown[], mergeKey: string): void {
  if (order.length === 0 || changes.length === 0) return;
  const kept = mergeKey ? changes.filter((item) => mapOf(item)[directiveMarker] !== 'delete') : changes;
  let next = 0;
  let position = 0;
  while (next < kept.length && position < order.length) {
    const item = kept[next];
    if (isJsonObject(item) && Object.hasOwn(item, directiveMarker)) {
      next++;
      continue;
    }
    const expected = order[position++];
    if (mergeKey ? keyValue(item, mergeKey) === keyValue(expected, mergeKey) : item === expected) next++;
  }
  if (next < kept.length && position >= order.length) {
    throw new StrategicMergePatchError(
      `The order in patch list:\n${formatValue(changes)}\n doesn't match ${setElementOrderPrefix} list:\n${formatValue(order)}\n`,
    );
  }
}

function mapOf(item: unknown): JsonObject {
  if (!isJsonObject(item)) throw badArgument('map[string]interface {}', item);
  return item;
}

function keyValue(item: unknown, mergeKey: string): unknown {
  const map = mapOf(item);
  if (!Object.hasOwn(map, mergeKey)) throw noMergeKey(map, mergeKey);
  return scalarKey(map[mergeKey]);
}

function* mergeList(
  current: unknown[],
  changes: unknown[],
  items: Type,
  mergeKey: string,
  deletesItems: boolean,
  depth: number,
): Steps<unknown[]> {
  if (current.length === 0 && changes.length === 0) return current;
  if (elementTypeName(current, changes) !== 'map[string]interface {}') {
    if (deletesItems) {
      const gone = new Set(changes.map(scalarKey));
      return current.filter((item) => !gone.has(scalarKey(item)));
    }
    const merged = withoutRepeats([...current, ...changes]);
    const [inPatch, serverOnly] = partition(merged, changes, mergeKey);
    return orderItems(inPatch, serverOnly, changes, current, mergeKey, false);
  }
  if (!mergeKey) throw new StrategicMergePatchError(`cannot merge lists without merge key for ${goKind(items)}`);
  const [live, patch] = applyItemDirectives(current as JsonObject[], changes as JsonObject[], mergeKey);
  const merged = yield* mergeItems(live, patch, items, mergeKey, depth);
  const [inPatch, serverOnly] = partition(merged, patch, mergeKey);
  return orderItems(inPatch, serverOnly, patch, live, mergeKey, true);
}

/** Applies the `$patch` directives of items: returns the list without deleted items, and the patch without directives. */
function applyItemDirectives(current: JsonObject[], changes: JsonObject[], mergeKey: string): [JsonObject[], JsonObject[]] {
  const gone = new Set<unknown>();
  let replaces = false;
  const plain: JsonObject[] = [];
  for (const item of changes) {
    if (!Object.hasOwn(item, directiveMarker)) {
      plain.push(item);
      continue;
    }
    const directive = item[directiveMarker];
    if (directive === 'delete') gone.add(keyValue(item, mergeKey));
    else if (directive === 'replace') replaces = true;
    else if (directive === 'merge') throw new StrategicMergePatchError('merging lists cannot yet be specified in the patch');
    else throw new StrategicMergePatchError(`unknown patch type: ${formatDirective(directive)} in map: ${formatValue(item)}`);
  }
  if (replaces) return [plain, []];
  return [
    gone.size === 0 ? current : current.filter((item) => !(Object.hasOwn(item, mergeKey) && gone.has(scalarKey(item[mergeKey])))),
    plain,
  ];
}

function* mergeItems(live: JsonObject[], patch: JsonObject[], items: Type, mergeKey: string, depth: number): Steps<JsonObject[]> {
  const merged = live.slice();
  const places = new Map<unknown, number>();
  live.forEach((item, index) => {
    const key = scalarKey(getOwn(item, mergeKey));
    if (key !== undefined && !places.has(key)) places.set(key, index);
  });
  for (const item of patch) {
    const key = keyValue(item, mergeKey);
    const place = places.get(key);
    if (place === undefined) places.set(key, merged.push(item) - 1);
    else {
      merged[place] = yield* mergeMap(merged[place]!, item, items, depth + 1);
      yield;
    }
  }
  return merged;
}

/** Returns scalars without duplicates. */
function withoutRepeats(list: readonly unknown[]): unknown[] {
  const first = new Map<unknown, unknown>();
  for (const item of list) if (!first.has(scalarKey(item))) first.set(scalarKey(item), item);
  return [...first.values()];
}

/** Returns the items that are in `by`, and the others, both in list order. */
function partition(list: unknown[], by: unknown[], mergeKey: string): [unknown[], unknown[]] {
  const named = new Set(by.map((item) => scalarKey(mergeKey ? getOwn(elementMap(item, by), mergeKey) : item)));
  const inside: unknown[] = [];
  const outside: unknown[] = [];
  for (const item of list) (named.has(mergeKey ? keyValue(item, mergeKey) : scalarKey(item)) ? inside : outside).push(item);
  return [inside, outside];
}

function elementMap(item: unknown, list: unknown[]): JsonObject {
  if (!isJsonObject(item)) throw new StrategicMergePatchError(`value for key ${list.indexOf(item)} is not a map`);
  return item;
}

/** Sorts both parts by their own order and zips them: a server-only item goes first if it is first in the live list. */
function orderItems(
  patchItems: unknown[],
  serverOnly: unknown[],
  patchOrder: unknown[],
  serverOrder: unknown[],
  mergeKey: string,
  ofMaps: boolean,
): unknown[] {
  const keyOf = ofMaps ? (item: unknown) => keyValue(item, mergeKey) : scalarKey;
  const serverPlaces = placesOf(serverOrder, keyOf);
  const left = sortByPlace(serverOnly, serverPlaces, keyOf);
  const right = sortByPlace(patchItems, placesOf(patchOrder, keyOf), keyOf);
  const all: unknown[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length && r < right.length) {
    const leftPlace = serverPlaces.get(keyOf(left[l]));
    const rightPlace = serverPlaces.get(keyOf(right[r]));
    const leftFirst = leftPlace !== undefined && rightPlace !== undefined && leftPlace < rightPlace;
    all.push(leftFirst ? left[l++] : right[r++]);
  }
  for (; l < left.length; l++) all.push(left[l]);
  for (; r < right.length; r++) all.push(right[r]);
  return all;
}

function placesOf(order: unknown[], keyOf: (item: unknown) => unknown): Map<unknown, number> {
  const places = new Map<unknown, number>();
  order.forEach((item, index) => {
    const key = keyOf(item);
    if (!places.has(key)) places.set(key, index);
  });
  return places;
}

function sortByPlace(items: unknown[], places: Map<unknown, number>, keyOf: (item: unknown) => unknown): unknown[] {
  const keyed = items.map((item) => ({ item, place: places.get(keyOf(item)) }));
  if (keyed.every(({ place }) => place !== undefined)) return keyed.sort((a, b) => a.place! - b.place!).map(({ item }) => item);
  return insertionOrder(keyed.map(({ place }) => place)).map((index) => items[index]);
}

/** Returns the common Go type of the elements of both lists. */
function elementTypeName(...lists: unknown[][]): string {
  let name: string | undefined;
  for (const list of lists) {
    for (const item of list) {
      const own = goTypeName(item);
      if (name === undefined) {
        if (own === '[]interface {}') throw noListOfLists();
        name = own;
      } else if (name !== own) throw new StrategicMergePatchError(`list element types are not identical: ${formatValue(lists)}`);
    }
  }
  if (name === undefined) throw new StrategicMergePatchError('no elements in any of the given slices');
  return name;
}

function lookup(type: Type, key: string): Field {
  if (type.kind === 'raw')
    throw new StrategicMergePatchError(`unable to find api field in struct ${shortName(type.name)} for the json field ${quote(key)}`);
  if (type.kind !== 'struct') {
    throw new StrategicMergePatchError(`merging an object in json but data type is not struct, instead is: ${goKind(type)}`);
  }
  const field = type.fields.get(key) ?? [...type.fields.values()].find(({ name }) => name.toLowerCase() === key.toLowerCase());
  if (!field)
    throw new StrategicMergePatchError(`unable to find api field in struct ${shortName(type.goName)} for the json field ${quote(key)}`);
  return field;
}

function lookupList(type: Type, key: string): { items: Type; strategy: string; mergeKey: string } {
  const field = lookup(type, key);
  if (field.type.kind !== 'list') throw new StrategicMergePatchError(`expected slice or array type, but got: ${goKind(type)}`);
  if (field.type.items.kind === 'list') throw new StrategicMergePatchError('unexpected slice of slice');
  return { items: field.type.items, strategy: strategyOf(field), mergeKey: field.patchMergeKey ?? '' };
}

/** Returns a field's patch strategy without retainKeys, which only matters for creating patches. */
function strategyOf(field: Field): string {
  return (field.patchStrategy ?? '').split(',').find((strategy) => strategy !== 'retainKeys') ?? '';
}

const shortName = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

/** Returns reflect's name of a type's kind. */
function goKind(type: Type): string {
  switch (type.kind) {
    case 'list':
      return 'slice';
    case 'map':
      return 'map';
    case 'struct':
    case 'raw':
      return 'struct';
    default:
      switch (type.scalar) {
        case 'boolean':
          return 'bool';
        case 'bytes':
          return 'slice';
        case 'string':
        case 'int32':
        case 'int64':
        case 'float64':
          return type.scalar;
        default:
          return 'struct';
      }
  }
}
