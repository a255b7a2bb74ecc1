/** Values as text. Upstream: the String and ConvertToType methods of cel-go common/types. */
import { CelType } from '../check/types.ts';
import { formatFloat } from '#apimachinery/runtime/quote';
import { formatDuration, formatTimestamp } from './time.ts';
import { CelError, CelList, CelMap, Double, Duration, isCelObject, isInt, Optional, Timestamp, Uint, type Value } from './values.ts';

/** Formats a value for error messages (Go's %v). */
export function display(value: Value): string {
  const text = toText(value);
  if (typeof text === 'string') return text;
  if (value instanceof CelList) return `[${[...value].map(display).join(', ')}]`;
  if (value instanceof CelMap) return `{${[...value.keys()].map((key) => `${display(key)}: ${display(value.find(key)!)}`).join(', ')}}`;
  if (value instanceof Optional) return value.value === undefined ? 'optional.none()' : `optional(${display(value.value)})`;
  if (value instanceof CelError) return value.message;
  return isCelObject(value) && value.text !== undefined ? value.text : '';
}

/** Evaluates `string(value)`; an error for types without a string form. */
export function toText(value: Value): string | CelError {
  if (typeof value === 'string') return value;
  if (isInt(value) || typeof value === 'boolean') return String(value);
  if (value === null) return 'null';
  if (value instanceof Double) return formatFloat(value.value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof CelType) return value.name;
  if (value instanceof Uint8Array) return utf8(value) ?? new CelError('invalid UTF-8 in bytes, cannot convert to string');
  return new CelError('no such overload');
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes bytes; undefined if they are not UTF-8. */
export function utf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    // TextDecoder throws a TypeError for invalid bytes.
    return undefined;
  }
}
