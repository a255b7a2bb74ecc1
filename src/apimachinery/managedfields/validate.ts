import { formatValue, goTypeName } from '#apimachinery/patch/format-value';
import { encodeString, sortedKeys } from '#apimachinery/runtime/json';
import { formatPathElement } from './path-element.ts';
import type { AnyShape, ListShape, MapShape, ScalarShape, Shape } from './shape.ts';
import { itemElement, TypedError } from './typed.ts';

const maxDepth = 500;

/**
 * Checks a configuration that is to be applied: kinds of values, unknown fields, items that cannot be told apart. Throws
 * TypedError with upstream's message: one error, or `errors:` and a line each (structured-merge-diff/typed/validate.go).
 */
export function validate(shape: Shape, value: unknown): void {
  const errors: string[] = [];
  validateValue(shape, value, '', errors, 0);
  if (errors.length > 0)
    throw new TypedError(errors.length === 1 ? errors[0]! : ['errors:', ...errors.map((error) => `  ${error}`)].join('\n'));
}

const isMap = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

function validateValue(shape: Shape, value: unknown, path: string, errors: string[], depth: number): void {
  if (value === null || value === undefined) return;
  const report = (message: string): void => {
    errors.push(path ? `${path}: ${message}` : message);
  };
  if (depth > maxDepth) return report(`the value is nested more than ${maxDepth} levels deep`);
  switch (shape.kind) {
    case 'scalar':
      return validateScalar(shape, value, report);
    case 'any':
      return;
    case 'list':
      if (!Array.isArray(value)) return report(`expected list, got ${formatGoPointer(value)}`);
      return validateItems(shape, value, path, errors, depth, report);
    case 'map':
      if (!isMap(value)) return report(`expected map, got ${formatGoPointer(value)}`);
      return validateFields(shape, value, path, errors, depth);
  }
}

function validateScalar({ scalar }: ScalarShape, value: unknown, report: (message: string) => void): void {
  const kind = typeof value;
  switch (scalar) {
    case 'numeric':
      if (kind !== 'number' && kind !== 'bigint') report(`expected numeric (int or float), got ${goTypeName(value)}`);
      return;
    case 'string':
      if (kind !== 'string') report(`expected string, got &value.valueUnstructured{Value:${formatGoSyntax(value)}}`);
      return;
    case 'boolean':
      if (kind !== 'boolean') report(`expected boolean, got ${formatGoPointer(value)}`);
      return;
    case 'untyped':
      if (kind === 'object') report(`expected any scalar, got ${formatGoPointer(value)}`);
  }
}

function validateItems(
  shape: ListShape,
  items: unknown[],
  path: string,
  errors: string[],
  depth: number,
  report: (message: string) => void,
): void {
  const seen = new Set<string>();
  for (let i = 0; i < items.length; i++) {
    let element = `i:${i}`;
    if (!shape.atomic) {
      try {
        element = itemElement(shape, items[i], 'raw');
      } catch (error) {
        if (error instanceof TypedError) return report(`element ${i}: ${error.message}`);
        throw error;
      }
      if (seen.has(element)) report(`duplicate entries for key ${formatPathElement(element)}`);
      seen.add(element);
    }
    validateValue(shape.items, items[i], path + formatPathElement(element), errors, depth + 1);
  }
}

function validateFields(shape: MapShape | AnyShape, value: Record<string, unknown>, path: string, errors: string[], depth: number): void {
  for (const name of Object.keys(value)) {
    const child = shape.kind === 'any' ? shape : (shape.fields.get(name)?.shape ?? shape.values);
    if (!child) {
      errors.push(`${path}.${name}: field not declared in schema`);
      return;
    }
    validateValue(child, value[name], `${path}.${name}`, errors, depth + 1);
  }
}

/** A pointer to a struct around the value, as %v prints it. */
const formatGoPointer = (value: unknown): string => `&{${formatValue(value)}}`;

/** A JSON value as %#v prints it. */
function formatGoSyntax(value: unknown, depth = 0): string {
  if (depth > 200) return '…';
  if (value === null || value === undefined) return 'interface {}(nil)';
  if (typeof value === 'string') return encodeString(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map((item) => formatGoSyntax(item, depth + 1)).join(', ')}}`;
  if (isMap(value)) {
    return `map[string]interface {}{${sortedKeys(value)
      .map((key) => `${encodeString(key)}:${formatGoSyntax(value[key], depth + 1)}`)
      .join(', ')}}`;
  }
  return formatValue(value);
}
