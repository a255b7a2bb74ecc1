import { isContainer, Float64 } from '#apimachinery/runtime/numbers';
import type { AnyShape, FieldShape, MapShape, Shape } from './shape.ts';
import { isEmptyValue, type Json } from './wide-values.ts';

/** Maximum depth of field sets; JSON of clients may be deeper. */
export const maxDepth = 500;

/** Error for a value that its type does not allow; the message is structured-merge-diff's. */
export class TypedError extends Error {
  override readonly name = 'TypedError';
}

/**
 * Interpretation of a value. `typed` values are decoded objects: in a Go struct, a zero value that Go omits counts as absent, and a field
 * that Go always encodes counts as present. In `raw` values, such as an applied configuration, everything counts as written; values of
 * custom resources are always raw.
 */
export type Reading = 'typed' | 'raw';

export function isMap(value: unknown): value is Json {
  return isContainer(value) && !Array.isArray(value);
}

export function descend(depth: number): number {
  if (depth >= maxDepth) throw new TypedError(`the value is nested more than ${maxDepth} levels deep`);
  return depth + 1;
}

/** Returns a field's value under the given interpretation; undefined if it is absent. */
export function readField(field: FieldShape, value: unknown, reading: Reading): unknown {
  if (reading === 'raw') return value;
  if (value === undefined || value === null) return field.always ? field.zero : undefined;
  return field.omitsZero && isZero(value) ? undefined : value;
}

function isZero(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
      return value === '';
    case 'number':
      return value === 0;
    case 'boolean':
      return !value;
    case 'object':
      if (value instanceof Float64) return value.value === 0;
      return value === null || (Array.isArray(value) ? value.length === 0 : isEmptyValue(value));
    default:
      return false;
  }
}

export const readingOf = (shape: MapShape | AnyShape, reading: Reading): Reading =>
  shape.kind === 'map' && shape.structured ? reading : 'raw';

export function valueShape(shape: MapShape | AnyShape, name: string): Shape {
  if (shape.kind === 'any') return shape;
  const { values } = shape;
  if (!values) throw new TypedError(`.${name}: field not declared in schema`);
  return values;
}
