import { compareUtf8 } from '#apimachinery/runtime/json/json';
import { Float64, formatNumber, isInt64, isNumber } from '#apimachinery/runtime/numbers';
import { isJsonObject } from './own-property.ts';

/** Formats a JSON value as fmt's %v prints it, with integers kept: `map[a:1 b:[x <nil>]]`. */
export function formatValue(value: unknown, depth = 0): string {
  // Cuts very deep values, since recursion would overflow the stack.
  if (depth > 200) return '…';
  if (value === null || value === undefined) return '<nil>';
  if (isNumber(value)) return formatNumber(value);
  if (Array.isArray(value)) return `[${value.map((item) => formatValue(item, depth + 1)).join(' ')}]`;
  if (isJsonObject(value)) {
    const keys = Object.keys(value).sort(compareUtf8);
    return `map[${keys.map((key) => `${key}:${formatValue(value[key], depth + 1)}`).join(' ')}]`;
  }
  return String(value);
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
