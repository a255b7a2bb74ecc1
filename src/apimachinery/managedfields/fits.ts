import { isContainer, isNumber } from '#apimachinery/runtime/numbers';
import type { Steps } from '#apimachinery/runtime/steps';
import { keysOf } from '#apimachinery/runtime/wide-objects';
import type { ListShape, MapShape, ScalarShape, Shape } from './shape.ts';
import { isMap, maxDepth, TypedError } from './typed-value.ts';
import { validateSteps } from './validate.ts';

/**
 * Returns the error of a stored or new object that its type does not allow; undefined if there is none. Duplicate items of lists are
 * allowed. Only an object with a fault, or with an unusual item, is validated in detail.
 */
export function* problemOf(shape: Shape, object: unknown): Steps<TypedError | undefined> {
  if (yield* fitsSteps(shape, object)) return undefined;
  try {
    yield* validateSteps(shape, object, 'duplicates');
    return undefined;
  } catch (error) {
    if (error instanceof TypedError) return error;
    throw error;
  }
}

/** Number of values between two yields: a millisecond. */
const stepValues = 16_384;

/** Returns true if the type surely allows the value. Yields within a large one, which must not change meanwhile. */
function* fitsSteps(shape: Shape, value: unknown): Steps<boolean> {
  const check = new Check();
  if (!check.add(shape, value, 0)) return false;
  while (check.isUnfinished) {
    if (!check.run(stepValues)) return false;
    if (check.isUnfinished) yield;
  }
  return true;
}

/** A walk over the containers of one value, without recursion, so that it can pause. */
class Check {
  readonly #shapes: (ListShape | MapShape)[] = [];
  readonly #values: object[] = [];
  readonly #depths: number[] = [];
  #seen = 0;

  get isUnfinished(): boolean {
    return this.#values.length > 0;
  }

  /** Visits containers until at least `count` values are seen. Returns false at a value that does not fit. */
  run(count: number): boolean {
    this.#seen = 0;
    while (this.#seen < count && this.#values.length > 0) {
      const shape = this.#shapes.pop()!;
      const value = this.#values.pop()!;
      const depth = this.#depths.pop()! + 1;
      const fits = shape.kind === 'list' ? this.#items(shape, value as unknown[], depth) : this.#fields(shape, value as Json, depth);
      if (!fits) return false;
    }
    return true;
  }

  /** Returns false for a value that does not fit. Its members are visited later. */
  add(shape: Shape, value: unknown, depth: number): boolean {
    this.#seen += 1;
    if (value === null || value === undefined) return true;
    if (shape.kind === 'any') return true;
    if (shape.kind === 'scalar') return isScalar(shape, value);
    if (depth > maxDepth || (shape.kind === 'list' ? !Array.isArray(value) : !isMap(value))) return false;
    this.#shapes.push(shape);
    this.#values.push(value);
    this.#depths.push(depth);
    return true;
  }

  #items(shape: ListShape, items: readonly unknown[], depth: number): boolean {
    const { items: itemShape } = shape;
    for (const item of items) {
      if (!shape.atomic && !hasElement(shape, item)) return false;
      if (!this.add(itemShape, item, depth)) return false;
    }
    return true;
  }

  #fields(shape: MapShape, value: Json, depth: number): boolean {
    const { fields } = shape;
    for (const name of keysOf(value)) {
      const child = fields.get(name)?.shape ?? shape.values;
      if (!child || !this.add(child, value[name], depth)) return false;
    }
    return true;
  }
}

type Json = Record<string, unknown>;

function isScalar({ scalar }: ScalarShape, value: unknown): boolean {
  switch (scalar) {
    case 'string':
      return typeof value === 'string';
    case 'boolean':
      return typeof value === 'boolean';
    case 'numeric':
      return isNumber(value);
    case 'untyped':
      return !isContainer(value);
  }
}

/** True for an item of a granular list that surely has a path element: a scalar, or a map with a key. */
function hasElement({ keys }: ListShape, item: unknown): boolean {
  if (item === null || item === undefined) return false;
  if (keys.length === 0) return !isContainer(item);
  return isMap(item) && keys.some((key) => Object.hasOwn(item, key) && item[key] !== null && item[key] !== undefined);
}
