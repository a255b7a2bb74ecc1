/** Conversion of values to JSON data for storage or transport. Upstream: the ConvertToNative methods of cel-go common/types. */
import { type JsonObject, setOwn } from '#apimachinery/patch/own-property';
import { CelType } from './check/types.ts';
import { toText } from './runtime/format.ts';
import { CelError, CelList, CelMap, Double, Duration, isCelObject, Optional, Timestamp, Uint, type Value } from './runtime/values.ts';

/** Maximum number of items, more than a request can hold. Short expressions can create values of any size by sharing parts. */
const maxItems = 1_500_000;

/** A value that JSON cannot represent. */
export class NotJsonError extends Error {
  override readonly name = 'NotJsonError';
}

/** An object with its own JSON form. */
interface JsonSource {
  toJson(form: BytesForm): unknown;
}

/** Representation of bytes: base64 text, or the bytes themselves for validation against a schema. */
export type BytesForm = 'base64' | 'bytes';

/** Converts a value to plain data. Bytes become base64, times and durations text. Throws NotJsonError. */
export function toJson(value: Value, budget = { items: maxItems }, form: BytesForm = 'base64'): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof CelList || value instanceof CelMap) spend(budget, value.size);
  if (value instanceof CelList) return [...value].map((item) => toJson(item, budget, form));
  if (value instanceof CelMap) return mapToJson(value, budget, form);
  if (value instanceof Double) return value.value;
  if (value instanceof Uint) return value.value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value.value) : value.value;
  if (value instanceof Uint8Array) return form === 'bytes' ? value : Buffer.from(value).toString('base64');
  if (value instanceof Timestamp || value instanceof Duration) return toText(value);
  if (value instanceof Optional && value.value !== undefined) return toJson(value.value, budget, form);
  if (
    !(value instanceof Optional) &&
    !(value instanceof CelType) &&
    !(value instanceof CelError) &&
    isCelObject(value) &&
    'toJson' in value
  ) {
    return (value as JsonSource).toJson(form);
  }
  throw new NotJsonError('value cannot be represented as JSON');
}

function spend(budget: { items: number }, size: number): void {
  budget.items -= size;
  if (budget.items < 0) throw new NotJsonError(`a value has at most ${maxItems} items`);
}

function mapToJson(map: CelMap, budget: { items: number }, form: BytesForm): JsonObject {
  const object: JsonObject = {};
  for (const key of map.keys()) {
    if (typeof key !== 'string') throw new NotJsonError('map keys must be strings');
    setOwn(object, key, toJson(map.find(key)!, budget, form));
  }
  return object;
}
