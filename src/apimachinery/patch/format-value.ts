import { sortedKeysSteps } from '#apimachinery/runtime/json/json';
import { Float64, formatNumber, isContainer, isInt64, isNumber } from '#apimachinery/runtime/numbers';
import { atOnce, type Steps } from '#apimachinery/runtime/steps';
import { isEmptyObject, isJsonObject } from './own-property.ts';

/** Formats a JSON value as fmt's %v prints it, with integers kept: `map[a:1 b:[x <nil>]]`. */
export function formatValue(value: unknown): string {
  return atOnce(formatValueSteps(value));
}

/** Deeper values are cut, since recursion would overflow the stack. */
const maxDepth = 200;
/** Number of values that are formatted between two yields. */
const valuesPerStep = 512;

/** Like `formatValue`, but yields to the event loop. */
export function* formatValueSteps(root: unknown): Steps<string> {
  let text = '';
  let formatted = 0;
  const add = function* (value: unknown, depth: number): Steps<void> {
    if (depth > maxDepth) text += '…';
    else if (Array.isArray(value)) {
      text += '[';
      for (let i = 0; i < value.length; i++) {
        if (i > 0) text += ' ';
        yield* addItem(value[i], depth + 1);
      }
      text += ']';
    } else if (isJsonObject(value)) {
      text += 'map[';
      let separator = '';
      for (const key of isEmptyObject(value) ? [] : yield* sortedKeysSteps(value)) {
        text += `${separator}${key}:`;
        separator = ' ';
        yield* addItem(value[key], depth + 1);
      }
      text += ']';
    } else text += formatScalar(value);
  };
  const addItem = function* (value: unknown, depth: number): Steps<void> {
    if (++formatted % valuesPerStep === 0) yield;
    if (isContainer(value)) yield* add(value, depth);
    else text += depth > maxDepth ? '…' : formatScalar(value);
  };
  yield* add(root, 0);
  return text;
}

function formatScalar(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  return isNumber(value) ? formatNumber(value) : String(value);
}

/** Returns the Go type of a decoded JSON value, as reflect names it. */
export function goTypeName(value: unknown): string {
  if (value === null || value === undefined) return '%!s(<nil>)';
  if (Array.isArray(value)) return '[]interface {}';
  switch (typeof value) {
    case 'object':
      return value instanceof Float64 ? 'float64' : 'map[string]interface {}';
    case 'number':
    case 'bigint':
      return isInt64(value) ? 'int64' : 'float64';
    case 'boolean':
      return 'bool';
    default:
      return typeof value;
  }
}
