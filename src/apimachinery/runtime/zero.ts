import type { Type } from './schema.ts';
import { zeroTime } from './time.ts';

type Json = Record<string, unknown>;

/**
 * True if a decoded value is Go's zero value of its type: undefined, '', 0, false, the zero time; a struct whose fields are all zero; a
 * list or map only if it is absent.
 */
export function isZero(type: Type, value: unknown): boolean {
  if (value === undefined || value === null) return true;
  switch (type.kind) {
    case 'scalar':
      if (type.scalar === 'quantity') return value === '0';
      return isZeroScalar(value) || ((type.scalar === 'time' || type.scalar === 'microtime') && isZeroTime(value as string));
    case 'struct':
      for (const key in value as Json) {
        const field = type.fields.get(key);
        const item = (value as Json)[key];
        if (item === undefined || item === null) continue;
        if (!field || field.ptr || !isZero(field.type, item)) return false;
      }
      return true;
    default:
      return false;
  }
}

export function isZeroScalar(value: unknown): boolean {
  return value === '' || value === 0 || value === false;
}

export function isZeroTime(text: string): boolean {
  return text === zeroTime || text === '0001-01-01T00:00:00.000000Z';
}
