/** Encoding an object of a struct type as Go does. Upstream: encoding/json. */
import { setOwn } from '#apimachinery/patch/own-property';
import {
  encodeJson,
  encodeJsonSteps,
  encodeNumber,
  encodeRawJson,
  encodeRawJsonSteps,
  encodeString,
  sortedKeys,
  sortedKeysSteps,
} from './json.ts';
import type { RawType, StructType } from './schema.ts';
import { Code, type ValuePlan, type FieldPlan, type StructPlan, structPlan, maxStructDepth } from './struct-plan.ts';
import type { Steps } from './steps.ts';
import { isZero, isZeroScalar, isZeroTime } from './zero.ts';

type Json = Record<string, unknown>;

/**
 * An object of a type as json.Marshal writes it: compact, in the order of the Go struct, map keys sorted, zero values left out or written as the fields
 * say. Properties that are undefined, null or unknown to the type are not there. Values must be decoded ones, or of the same form.
 */
export function encode(type: StructType, object: object): string {
  return encodeStruct(structPlan(type), object as Json, 0);
}

/** The texts of parts of one large object, made before the object's own in steps. */
type Parts = Map<object, string>;

let parts: Parts | undefined;

/** `encode` of a large object in steps. It must not change meanwhile. */
export function* encodeSteps(type: StructType, object: object): Steps<string> {
  const made: Parts = new Map();
  yield* structParts(structPlan(type), object as Json, made);
  return withParts(made, () => encode(type, object));
}

function withParts<T>(made: Parts, work: () => T): T {
  parts = made;
  try {
    return work();
  } finally {
    parts = undefined;
  }
}

const partOf = (value: unknown): string | undefined => parts?.get(value as object);

function* structParts(plan: StructPlan, object: Json, made: Parts): Steps<void> {
  for (const key of Object.keys(object)) {
    const value = object[key];
    if (typeof value !== 'object' || value === null) continue;
    const field = plan.byName.get(key);
    if (field) yield* valueParts(field.value, value, made);
    else if (plan.preserve) made.set(value, yield* encodeJsonSteps(value));
  }
}

/** So many items are encoded in a step; a list or map that has no more is no part of its own. */
const stepItems = 256;

function* valueParts(plan: ValuePlan, value: object, made: Parts): Steps<void> {
  switch (plan.code) {
    case Code.Struct:
      return yield* structParts(plan.struct(), value as Json, made);
    case Code.Raw:
      made.set(value, yield* isAny(plan) ? encodeJsonSteps(value) : encodeRawJsonSteps(value));
      return;
    case Code.List:
      return yield* listParts(plan, value as unknown[], made);
    case Code.StringMap:
    case Code.Map:
      return yield* mapParts(plan, value as Json, made);
    default:
  }
}

function* listParts(plan: ValuePlan, list: readonly unknown[], made: Parts): Steps<void> {
  const items = plan.items();
  let out = '';
  for (let from = 0; from < list.length; from += stepItems) {
    const some = list.slice(from, from + stepItems);
    for (const item of some) if (typeof item === 'object' && item !== null) yield* valueParts(items, item, made);
    if (list.length <= stepItems) return;
    out += `${from === 0 ? '[' : ','}${withParts(made, () => encodeValue(plan, some, 0)).slice(1, -1)}`;
    yield;
  }
  if (list.length > 0) made.set(list, `${out}]`);
}

function* mapParts(plan: ValuePlan, map: Json, made: Parts): Steps<void> {
  const items = plan.code === Code.Map ? plan.items() : undefined;
  const keys = yield* sortedKeysSteps(map);
  let out = '';
  for (let from = 0; from < keys.length; from += stepItems) {
    const some: Json = {};
    for (const key of keys.slice(from, from + stepItems)) {
      const item = map[key];
      setOwn(some, key, item);
      if (items && typeof item === 'object' && item !== null) yield* valueParts(items, item, made);
    }
    if (keys.length <= stepItems) return;
    const text = withParts(made, () => encodeValue(plan, some, 0)).slice(1, -1);
    if (text) out += `${out ? ',' : '{'}${text}`;
    yield;
  }
  if (out) made.set(map, `${out}}`);
}

function encodeStruct(plan: StructPlan, object: Json, depth: number): string {
  if (plan.preserve) return encodeOpenStruct(plan, object, depth);
  if (depth > maxStructDepth) throw new RangeError('encode: exceeded max depth');
  const { byName, always } = plan;
  let out = '';
  let last = -1;
  let nextAlways = 0;
  for (const key in object) {
    const value = object[key];
    if (value === undefined || value === null) continue;
    const field = byName.get(key);
    if (field === undefined) continue;
    const { index } = field;
    if (index < last) return encodeUnordered(plan, object, depth);
    last = index;
    while (nextAlways < always.length) {
      const due = always[nextAlways]!;
      if (due.index > index) break;
      nextAlways++;
      if (due.index === index) break;
      out += (out === '' ? due.first : due.prefix) + zeroOf(due);
    }
    const text = encodeField(field, value, depth);
    if (text !== undefined) out += (out === '' ? field.first : field.prefix) + text;
  }
  for (; nextAlways < always.length; nextAlways++) {
    const due = always[nextAlways]!;
    out += (out === '' ? due.first : due.prefix) + zeroOf(due);
  }
  return out === '' ? '{}' : `${out}}`;
}

/** `encodeStruct` for an object whose keys are not in the order of the struct. */
function encodeUnordered(plan: StructPlan, object: Json, depth: number): string {
  const fields: FieldPlan[] = [];
  /** Of each field its text; undefined where it is left out. */
  const texts: (string | undefined)[] = [];
  for (const key in object) {
    const value = object[key];
    if (value === undefined || value === null) continue;
    const field = plan.byName.get(key);
    if (field !== undefined) insertByIndex(fields, texts, field, encodeField(field, value, depth));
  }
  for (const due of plan.always) if (!fields.includes(due)) insertByIndex(fields, texts, due, zeroOf(due));
  let out = '';
  for (let at = 0; at < fields.length; at++) {
    const text = texts[at];
    if (text !== undefined) out += (out === '' ? fields[at]!.first : fields[at]!.prefix) + text;
  }
  return out === '' ? '{}' : `${out}}`;
}

function insertByIndex(fields: FieldPlan[], texts: (string | undefined)[], field: FieldPlan, text: string | undefined): void {
  let at = fields.length;
  fields.push(field);
  texts.push(text);
  for (; at > 0 && fields[at - 1]!.index > field.index; at--) {
    fields[at] = fields[at - 1]!;
    texts[at] = texts[at - 1];
  }
  fields[at] = field;
  texts[at] = text;
}

/** undefined: the field is left out. */
function encodeField(field: FieldPlan, value: unknown, depth: number): string | undefined {
  switch (field.code) {
    case Code.String:
      return value !== '' || field.keepsZero ? encodeString(value as string) : undefined;
    case Code.Boolean:
      return value === true ? 'true' : field.keepsZero ? 'false' : undefined;
    case Code.Int32:
    case Code.Int64:
      return value !== 0 || field.keepsZero ? String(value) : undefined;
    case Code.Struct:
      return field.omitzero && isZero(field.value.type, value) ? undefined : encodeStruct(field.value.struct(), value as Json, depth + 1);
    case Code.List:
      if ((value as unknown[]).length > 0) return encodeValue(field.value, value, depth);
      return !field.keepsZero ? undefined : field.nullWhenEmpty ? 'null' : '[]';
    case Code.Map:
    case Code.StringMap: {
      // Whether there is a key would take as long to ask as all keys.
      const text = encodeValue(field.value, value, depth);
      return field.keepsZero || text !== '{}' ? text : undefined;
    }
    case Code.Float64:
    case Code.Bytes:
      return field.keepsZero || !isZeroScalar(value) ? encodeValue(field.value, value, depth) : undefined;
    case Code.Time:
    case Code.MicroTime:
      if (!isZeroTime(value as string)) return `"${value as string}"`;
      return field.keepsZero && !field.omitzero ? 'null' : undefined;
    default:
      return field.omitzero && isZero(field.value.type, value) ? undefined : encodeValue(field.value, value, depth);
  }
}

/** A struct that keeps unknown fields is a map to Go: sorted, and nothing left out. */
function encodeOpenStruct(plan: StructPlan, object: Json, depth: number): string {
  let out = '';
  for (const key of sortedKeys(object)) {
    const value = object[key];
    if (value === undefined) continue;
    const field = plan.byName.get(key);
    const text = field && value !== null ? encodeValue(field.value, value, depth + 1) : (partOf(value) ?? encodeJson(value));
    out += `${out === '' ? '{' : ','}${encodeString(key)}:${text}`;
  }
  return out === '' ? '{}' : `${out}}`;
}

function encodeValue(plan: ValuePlan, value: unknown, depth: number): string {
  if (value === null || value === undefined) return zeroText(plan);
  const part = parts && partOf(value);
  if (part !== undefined) return part;
  switch (plan.code) {
    case Code.String:
      return encodeString(value as string);
    case Code.Boolean:
    case Code.Int32:
    case Code.Int64:
      return String(value);
    case Code.Float64:
      return typeof value === 'bigint' ? String(value) : encodeNumber(value as number);
    case Code.Bytes:
      return `"${value as string}"`;
    case Code.Time:
    case Code.MicroTime:
      return isZeroTime(value as string) ? 'null' : `"${value as string}"`;
    case Code.Quantity:
      return encodeString(String(value));
    case Code.IntOrString:
      return typeof value === 'string' ? encodeString(value) : String(value);
    // Go has a map behind plain `any`, and the bytes as they came behind its own raw types.
    case Code.Raw:
      return isAny(plan) ? encodeJson(value) : encodeRawJson(value);
    case Code.Struct:
      return encodeStruct(plan.struct(), value as Json, depth + 1);
    case Code.List: {
      const list = value as unknown[];
      if (list.length === 0) return '[]';
      const items = plan.items();
      let out = `[${encodeValue(items, list[0], depth + 1)}`;
      for (let i = 1; i < list.length; i++) out += `,${encodeValue(items, list[i], depth + 1)}`;
      return `${out}]`;
    }
    case Code.StringMap: {
      const map = value as Json;
      let out = '';
      for (const key of sortedKeys(map)) {
        const item = map[key];
        if (item !== undefined) out += `${out === '' ? '{' : ','}${encodeString(key)}:${encodeString((item ?? '') as string)}`;
      }
      return out === '' ? '{}' : `${out}}`;
    }
    case Code.Map: {
      const map = value as Json;
      const items = plan.items();
      let out = '';
      for (const key of sortedKeys(map)) {
        const item = map[key];
        if (item !== undefined) out += `${out === '' ? '{' : ','}${encodeString(key)}:${encodeValue(items, item, depth + 1)}`;
      }
      return out === '' ? '{}' : `${out}}`;
    }
  }
}

const isAny = (plan: ValuePlan): boolean => (plan.type as RawType).name === 'any';

/** Of an `always` field. */
function zeroOf({ zero, value }: FieldPlan): string {
  return zero === 'null' ? 'null' : zeroText(value);
}

/** The zero value of Go, as json.Marshal writes it. */
function zeroText(value: ValuePlan): string {
  switch (value.code) {
    case Code.String:
      return '""';
    case Code.Boolean:
      return 'false';
    case Code.Int32:
    case Code.Int64:
    case Code.Float64:
    case Code.IntOrString:
      return '0';
    case Code.Quantity:
      return '"0"';
    case Code.Struct:
      return encodeStruct(value.struct(), {}, 0);
    default:
      return 'null';
  }
}
