import { getOwn } from '#apimachinery/patch/own-property';
import { equalValues, equalValuesSteps } from '#apimachinery/runtime/equality';
import { isContainer } from '#apimachinery/runtime/numbers';
import type { Steps } from '#apimachinery/runtime/steps';
import { keysOf } from '#apimachinery/runtime/wide-objects';
import { isEmptyContainer, withAlwaysFields, withoutOmitted } from './always-fields.ts';
import { holdsOnlyScalars, type MapShape, type Shape } from './shape.ts';
import { descend, isMap, type Reading, readField, readingOf } from './typed-value.ts';
import { type Json, stepKeys } from './wide-values.ts';

/** Interpretations of the two values of a comparison. */
export interface Readings {
  readonly left: Reading;
  readonly right: Reading;
}

/**
 * Compares an atomic value. A stored value has the fields that Go always writes, and none that it omits; a client's value may lack the
 * former and have the latter, such as `matchLabels: {}`.
 */
export function isSameWhole(shape: Shape, a: unknown, b: unknown, { left, right }: Readings): boolean {
  if (equalValues(a, b)) return true;
  const whole = (value: unknown, reading: Reading): unknown =>
    reading === 'raw' ? value : withAlwaysFields(shape, withoutOmitted(shape, value));
  return equalValues(whole(a, left), whole(b, right));
}

/** Like `isSameWhole` for large values; yields to the event loop, and not at all for small ones. */
export function* isSameWholeSteps(shape: Shape, a: unknown, b: unknown, readings: Readings): Steps<boolean> {
  if (yield* equalValuesSteps(a, b)) return true;
  return yield* new WholeComparison(readings).isSame(shape, a, b, false, 0);
}

/** Compares the complete forms of two values without creating them. */
class WholeComparison {
  #visited = 0;

  constructor(private readonly readings: Readings) {}

  *isSame(shape: Shape, a: unknown, b: unknown, isInList: boolean, depth: number): Steps<boolean> {
    const isLeaf = !isContainer(a) || !isContainer(b) || holdsOnlyScalars(shape);
    if (!isLeaf && shape.kind === 'list' && Array.isArray(a) && Array.isArray(b)) return yield* this.#isSameList(shape.items, a, b, depth);
    if (!isLeaf && shape.kind === 'map' && isMap(a) && isMap(b)) return yield* this.#isSameMap(shape, a, b, isInList, depth);
    return yield* equalValuesSteps(a, b);
  }

  *#isSameList(items: Shape, a: readonly unknown[], b: readonly unknown[], depth: number): Steps<boolean> {
    if (a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) {
      yield* this.#pause();
      if (!(yield* this.isSame(items, a[i], b[i], true, descend(depth)))) return false;
    }
    return true;
  }

  *#isSameMap(shape: MapShape, a: Json, b: Json, isInList: boolean, depth: number): Steps<boolean> {
    for (const [names, other] of [
      [keysOf(a), undefined],
      [keysOf(b), a],
      [shape.always.map(({ name }) => name), undefined],
    ] as const) {
      for (const name of names) {
        yield* this.#pause();
        // It has been compared.
        if (other && getOwn(other, name) !== undefined) continue;
        const x = memberOf(shape, a, name, this.readings.left, isInList);
        const y = memberOf(shape, b, name, this.readings.right, isInList);
        const inner = shape.fields.get(name)?.shape ?? shape.values;
        if (inner ? !(yield* this.isSame(inner, x, y, isInList, descend(depth))) : !equalValues(x, y)) return false;
      }
    }
    return true;
  }

  *#pause(): Steps<void> {
    if (++this.#visited % stepKeys === 0) yield;
  }
}

/** Returns a member as the complete form has it; undefined if that has none. */
function memberOf(shape: MapShape, map: Json, name: string, reading: Reading, isInList: boolean): unknown {
  const value = getOwn(map, name);
  const field = shape.fields.get(name);
  // `isInList` first: checking whether a wide map is empty takes as long as listing it.
  if (reading === 'raw' || !field || (isInList && isEmptyContainer(field.shape, value))) return value;
  return readField(field, value, readingOf(shape, 'typed')) ?? (field.always ? field.zero : undefined);
}
