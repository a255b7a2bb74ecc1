import { formatValue, goTypeName } from '#apimachinery/patch/format-value';
import { encodeString, sortedKeys } from '#apimachinery/runtime/json/json';
import { isContainer, isNumber } from '#apimachinery/runtime/numbers';
import { atOnce, type Steps } from '#apimachinery/runtime/steps';
import { keysOf } from '#apimachinery/runtime/wide-objects';
import { maxErrors } from '#apimachinery/validation/field';
import { formatPathElement } from './path-element.ts';
import type { ListShape, MapShape, ScalarShape, Shape } from './shape.ts';
import { itemElement } from './item-element.ts';
import { maxDepth, TypedError } from './typed-value.ts';

/**
 * Validates a configuration to be applied: types of values, unknown fields, ambiguous items. Throws TypedError with upstream's message: one
 * error, or `errors:` and a line each (structured-merge-diff/typed/validate.go).
 */
export function validate(shape: Shape, value: unknown): void {
  atOnce(validateSteps(shape, value));
}

/**
 * Like `validate`, but yields to the event loop. The value must not change meanwhile. `allowed`: upstream's AllowDuplicates, for objects.
 */
export function* validateSteps(shape: Shape, value: unknown, allowed?: 'duplicates'): Steps<void> {
  const validation = new Validation(allowed === 'duplicates');
  yield* validation.value(shape, value, () => '', 0);
  if (validation.errors.length > 0) throw asOne(validation.errors);
}

function asOne(errors: readonly string[]): TypedError {
  return new TypedError(errors.length === 1 ? errors[0]! : ['errors:', ...errors.map((error) => `  ${error}`)].join('\n'));
}

/** Number of values between two yields. */
const stepValues = 256;

/** Returns the path of a value for an error message. */
type Place = () => string;

const isMap = (value: unknown): value is Record<string, unknown> =>
  isContainer(value) && !Array.isArray(value) && !(value instanceof Uint8Array);

/** Validates one configuration and collects the errors. It stops at the first error beyond `maxErrors`. */
class Validation {
  readonly errors: string[] = [];
  #checked = 0;

  constructor(private readonly allowsDuplicates: boolean) {}

  *value(shape: Shape, value: unknown, place: Place, depth: number): Steps<void> {
    if (value === null || value === undefined) return;
    if (++this.#checked % stepValues === 0) yield;
    const report = (message: string): void => this.#report(place, message);
    if (depth > maxDepth) return report(`the value is nested more than ${maxDepth} levels deep`);
    switch (shape.kind) {
      case 'scalar':
        return validateScalar(shape, value, report);
      case 'any':
        return;
      case 'list':
        return Array.isArray(value)
          ? yield* this.#items(shape, value, place, depth)
          : report(`expected list, got ${formatGoPointer(value)}`);
      case 'map':
        return isMap(value) ? yield* this.#fields(shape, value, place, depth) : report(`expected map, got ${formatGoPointer(value)}`);
    }
  }

  *#items(shape: ListShape, items: unknown[], place: Place, depth: number): Steps<void> {
    const seen = new Set<string>();
    for (const [i, item] of items.entries()) {
      let element = `i:${i}`;
      if (!shape.atomic) {
        try {
          element = itemElement(shape, item, 'raw');
        } catch (error) {
          if (error instanceof TypedError) return this.#report(place, `element ${i}: ${error.message}`);
          throw error;
        }
        if (!this.allowsDuplicates && seen.has(element)) this.#report(place, `duplicate entries for key ${formatPathElement(element)}`);
        seen.add(element);
      }
      yield* this.value(shape.items, item, () => place() + formatPathElement(element), depth + 1);
    }
  }

  *#fields(shape: MapShape, value: Record<string, unknown>, place: Place, depth: number): Steps<void> {
    for (const name of keysOf(value)) {
      const child = shape.fields.get(name)?.shape ?? shape.values;
      if (!child) {
        return this.#report(() => `${place()}.${name}`, 'field not declared in schema');
      }
      yield* this.value(child, value[name], () => `${place()}.${name}`, depth + 1);
    }
  }

  #report(place: Place, message: string): void {
    const path = place();
    this.errors.push(path ? `${path}: ${message}` : message);
    if (this.errors.length > maxErrors) throw asOne(this.errors);
  }
}

function validateScalar({ scalar }: ScalarShape, value: unknown, report: (message: string) => void): void {
  const kind = typeof value;
  switch (scalar) {
    case 'numeric':
      if (!isNumber(value)) report(`expected numeric (int or float), got ${goTypeName(value)}`);
      return;
    case 'string':
      if (kind !== 'string') report(`expected string, got &value.valueUnstructured{Value:${formatGoSyntax(value)}}`);
      return;
    case 'boolean':
      if (kind !== 'boolean') report(`expected boolean, got ${formatGoPointer(value)}`);
      return;
    case 'untyped':
      if (isContainer(value)) report(`expected any scalar, got ${formatGoPointer(value)}`);
  }
}

/** Formats a value as %v prints a pointer to a struct with it. */
const formatGoPointer = (value: unknown): string => `&{${formatValue(value)}}`;

/** Formats a JSON value as %#v prints it. */
function formatGoSyntax(value: unknown, depth = 0): string {
  if (depth > 200) return '…';
  if (value === null || value === undefined) return 'interface {}(nil)';
  if (typeof value === 'string') return encodeString(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map((item) => formatGoSyntax(item, depth + 1)).join(', ')}}`;
  if (value instanceof Uint8Array) return `[]uint8{${[...value].map((byte) => `0x${byte.toString(16)}`).join(', ')}}`;
  if (isMap(value)) {
    return `map[string]interface {}{${sortedKeys(value)
      .map((key) => `${encodeString(key)}:${formatGoSyntax(value[key], depth + 1)}`)
      .join(', ')}}`;
  }
  return formatValue(value);
}
