import { formatValue, goTypeName } from '#apimachinery/patch/format-value';
import { encodeString, sortedKeys } from '#apimachinery/runtime/json';
import { isContainer, isNumber } from '#apimachinery/runtime/numbers';
import { atOnce, type Steps } from '#apimachinery/runtime/steps';
import { keysOf } from '#apimachinery/runtime/wide-objects';
import { formatPathElement } from './path-element.ts';
import type { AnyShape, ListShape, MapShape, ScalarShape, Shape } from './shape.ts';
import { itemElement, TypedError } from './typed.ts';

const maxDepth = 500;

/**
 * Checks a configuration that is to be applied: kinds of values, unknown fields, items that cannot be told apart. Throws
 * TypedError with upstream's message: one error, or `errors:` and a line each (structured-merge-diff/typed/validate.go).
 */
export function validate(shape: Shape, value: unknown): void {
  validateBut(nothing, shape, value);
}

/** `validate` of what is large in steps: wide maps of strings and long lists first. It must not change meanwhile. */
export function* validateSteps(shape: Shape, value: unknown): Steps<void> {
  const valid = new Set<object>();
  yield* largeParts(shape, value, valid, 0);
  validateBut(valid, shape, value);
}

const nothing: ReadonlySet<object> = new Set();

const stepKeys = 1_024;
const stepItems = 128;

/** Finds the large parts that are valid; what is wrong with others, `validateBut` tells in its order. */
function* largeParts(shape: Shape, value: unknown, valid: Set<object>, depth: number): Steps<void> {
  if (depth > maxDepth) return;
  if (shape.kind === 'map' && isMap(value)) yield* wideMap(shape, value, valid, depth);
  else if (shape.kind === 'list' && Array.isArray(value)) yield* longList(shape, value, valid, depth);
}

function* wideMap(shape: MapShape, value: Record<string, unknown>, valid: Set<object>, depth: number): Steps<void> {
  const isOfStrings = shape.fields.size === 0 && shape.values?.kind === 'scalar' && shape.values.scalar === 'string';
  let done = 0;
  for (const name of keysOf(value)) {
    if (++done % stepKeys === 0) yield;
    if (isOfStrings && typeof value[name] !== 'string') return;
    const child = shape.fields.get(name)?.shape ?? shape.values;
    if (child && child.kind !== 'scalar') yield* largeParts(child, value[name], valid, depth + 1);
  }
  if (isOfStrings && done > stepKeys) valid.add(value);
}

function* longList(shape: ListShape, items: unknown[], valid: Set<object>, depth: number): Steps<void> {
  if (shape.items.kind !== 'scalar') {
    for (const [i, item] of items.entries()) {
      if (i % stepItems === stepItems - 1) yield;
      yield* largeParts(shape.items, item, valid, depth + 1);
    }
  }
  if (items.length <= stepItems) return;
  const findings: Findings = { errors: [], valid };
  const validating = itemsSteps(shape, items, () => '', findings, depth);
  for (;;) {
    const step = validating.next();
    if (findings.errors.length > 0) return;
    if (step.done) break;
    yield;
  }
  valid.add(items);
}

/** Passes over parts that are known to be valid. */
function validateBut(valid: ReadonlySet<object>, shape: Shape, value: unknown): void {
  const errors: string[] = [];
  validateValue(shape, value, () => '', { errors, valid }, 0);
  if (errors.length > 0)
    throw new TypedError(errors.length === 1 ? errors[0]! : ['errors:', ...errors.map((error) => `  ${error}`)].join('\n'));
}

interface Findings {
  readonly errors: string[];
  readonly valid: ReadonlySet<object>;
}

/** Where a value is, in words, which only an error needs. */
type Place = () => string;

function addFinding({ errors }: Findings, place: Place, message: string): void {
  const path = place();
  errors.push(path ? `${path}: ${message}` : message);
}

const isMap = (value: unknown): value is Record<string, unknown> => isContainer(value) && !Array.isArray(value);

function validateValue(shape: Shape, value: unknown, place: Place, findings: Findings, depth: number): void {
  if (value === null || value === undefined) return;
  const report = (message: string): void => addFinding(findings, place, message);
  if (depth > maxDepth) return report(`the value is nested more than ${maxDepth} levels deep`);
  switch (shape.kind) {
    case 'scalar':
      return validateScalar(shape, value, report);
    case 'any':
      return;
    case 'list':
      if (!Array.isArray(value)) return report(`expected list, got ${formatGoPointer(value)}`);
      return findings.valid.has(value) ? undefined : atOnce(itemsSteps(shape, value, place, findings, depth));
    case 'map':
      if (!isMap(value)) return report(`expected map, got ${formatGoPointer(value)}`);
      return validateFields(shape, value, place, findings, depth);
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

function* itemsSteps(shape: ListShape, items: unknown[], place: Place, findings: Findings, depth: number): Steps<void> {
  const report = (message: string): void => addFinding(findings, place, message);
  const seen = new Set<string>();
  for (let i = 0; i < items.length; i++) {
    if (i % stepItems === stepItems - 1) yield;
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
    validateValue(shape.items, items[i], () => place() + formatPathElement(element), findings, depth + 1);
  }
}

function validateFields(shape: MapShape | AnyShape, value: Record<string, unknown>, place: Place, findings: Findings, depth: number): void {
  if (findings.valid.has(value)) return;
  for (const name of keysOf(value)) {
    const child = shape.kind === 'any' ? shape : (shape.fields.get(name)?.shape ?? shape.values);
    if (!child) {
      findings.errors.push(`${place()}.${name}: field not declared in schema`);
      return;
    }
    validateValue(child, value[name], () => `${place()}.${name}`, findings, depth + 1);
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
