import { isContainer } from '#apimachinery/runtime/numbers';
import type { Steps } from '#apimachinery/runtime/steps';
import { keyElement, type PathElement, sortedElementsSteps, sortPathElements, valueElement } from './path-element.ts';
import { keyDefault, type ListShape } from './shape.ts';
import { isMap, type Reading, readField, readingOf, TypedError } from './typed-value.ts';
import { stepKeys } from './wide-values.ts';

/** Returns the path element of an item at an index, which errors name. */
export function itemElementAt(shape: ListShape, items: readonly unknown[], index: number, reading: Reading): PathElement {
  try {
    return itemElement(shape, items[index], reading);
  } catch (cause) {
    if (cause instanceof TypedError) throw new TypedError(`element ${index}: ${cause.message}`, { cause });
    throw cause;
  }
}

/** Returns the path element of an item of a granular list. Throws TypedError for an item without one. */
export function itemElement(shape: ListShape, item: unknown, reading: Reading): PathElement {
  if (shape.keys.length === 0) return setItemElement(item);
  if (item === null || item === undefined) throw nullElement;
  if (!isMap(item)) throw noMap;
  const names: string[] = [];
  const values: unknown[] = [];
  for (const name of shape.keys) {
    let value = Object.hasOwn(item, name) ? item[name] : undefined;
    const field = shape.items.kind === 'map' ? shape.items.fields.get(name) : undefined;
    if (field && shape.items.kind === 'map') value = readField(field, value, readingOf(shape.items, reading));
    value ??= value === null ? null : keyDefault(shape, name);
    if (value === undefined) continue;
    names.push(name);
    values.push(value);
  }
  if (names.length === 0) throw withoutKeys(shape);
  return keyElement(names, values);
}

/** A shared error: creating one per item, with its stack, would be slower than everything else. */
const nullElement = new TypedError('associative list with keys may not have a null element');
const noMap = new TypedError('associative list with keys may not have non-map elements');
const errorsWithoutKeys = new WeakMap<ListShape, TypedError>();

function withoutKeys(shape: ListShape): TypedError {
  let error = errorsWithoutKeys.get(shape);
  if (!error) {
    const keys = `[${shape.declaredKeys.map((key) => JSON.stringify(key)).join(' ')}]`;
    error = new TypedError(
      `associative list with keys has an element that omits all key fields ${keys} (and doesn't have default values for any key fields)`,
    );
    errorsWithoutKeys.set(shape, error);
  }
  return error;
}

function setItemElement(item: unknown): PathElement {
  if (item === null || item === undefined) throw new TypedError("associative list without keys has an element that's an explicit null");
  if (Array.isArray(item)) throw new TypedError('not supported: associative list with lists as elements');
  if (isContainer(item)) throw new TypedError("associative list without keys has an element that's a map type");
  return valueElement(item);
}

/** Groups the items of a list by path element; several items of one element are duplicates. */
export function* groupItems(shape: ListShape, items: unknown[], reading: Reading): Steps<Map<PathElement, unknown[]>> {
  const groups = new Map<PathElement, unknown[]>();
  for (let i = 0; i < items.length; i++) {
    if (i % stepKeys === stepKeys - 1) yield;
    const element = itemElementAt(shape, items, i, reading);
    const group = groups.get(element);
    if (group) group.push(items[i]);
    else groups.set(element, [items[i]]);
  }
  return groups;
}

/** Returns the elements in the order of field sets. */
export function* sortedElements(elements: PathElement[]): Steps<PathElement[]> {
  return elements.length <= stepKeys ? sortPathElements(elements) : yield* sortedElementsSteps(elements);
}
