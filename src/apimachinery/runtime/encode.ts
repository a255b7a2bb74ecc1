/** Encodes an object of a struct type like Go. Upstream: encoding/json. */
import { Buffer } from 'node:buffer';
import { setOwn } from '#apimachinery/patch/own-property';
import { encodeNumber, isContainer } from './numbers.ts';
import { encodeJson, encodeJsonSteps, encodeString, encodeRawJson, encodeRawJsonSteps, sortedKeys, sortedKeysSteps } from './json/json.ts';
import { JsonWriter } from './json/json-writer.ts';
import type { RawType, StructType } from './schema.ts';
import { Code, type ValuePlan, type FieldPlan, type StructPlan, structPlan, maxStructDepth } from './struct-plan.ts';
import type { Steps } from './steps.ts';
import { isZero, isZeroScalar, isZeroTime } from './zero.ts';

type Json = Record<string, unknown>;

const writer = new JsonWriter();

/**
 * Encodes an object of a type like json.Marshal: compact, in the order of the Go struct, map keys sorted, zero values omitted or written as
 * the fields specify. Properties that are undefined, null or unknown are left out. Values must be decoded, or of the same form.
 */
export function encode(type: StructType, object: object): string {
  write(type, object);
  return writer.toString();
}

/** Like `encode`, with a newline, in UTF-8: as json.Encoder writes it, in responses and in storage. */
export function encodeLine(type: StructType, object: object): Buffer {
  return line(type, object, 0);
}

function line(type: StructType, object: object, partBytes: number): Buffer {
  write(type, object, partBytes);
  writer.byte(newline);
  return writer.toBuffer();
}

function write(type: StructType, object: object, partBytes = 0): void {
  writer.begin(partBytes);
  pending = 0;
  writeStruct(structPlan(type), object as Json, 0);
}

const newline = 0x0a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const comma = 0x2c;
const colon = 0x3a;

/**
 * JSON of parts of a large object as pieces, encoded in chunks before the object itself: bytes, since encoding a long text takes 100 ms.
 * Parts are lists, maps, raw values and long texts.
 */
type Parts = Map<object | string, readonly Buffer[]>;

/** Minimum length of a text that is encoded in chunks, and length of a chunk. */
const longText = 128 * 1024;

let parts: Parts | undefined;

/** Like `encodeLine`, but yields to the event loop. The object must not change meanwhile. */
export function* encodeLineSteps(type: StructType, object: object): Steps<Buffer> {
  const made: Parts = new Map();
  yield* structParts(structPlan(type), object as Json, made);
  let bytes = 0;
  for (const pieces of made.values()) for (const { length } of pieces) bytes += length;
  return withParts(made, () => line(type, object, bytes));
}

function withParts<T>(made: Parts, work: () => T): T {
  parts = made;
  try {
    return work();
  } finally {
    parts = undefined;
  }
}

/** Returns the content between the brackets of a list or map, using the encoded parts. */
function partBetween(plan: ValuePlan, value: object, made: Parts): Buffer {
  return withParts(made, () => {
    writer.begin();
    pending = 0;
    writeValue(plan, value, 0);
    return writer.toBuffer().subarray(1, -1);
  });
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');
const betweenItems = bytesOf(',');

/** Returns the encoded parts of a list or map in brackets. */
function bracketed(open: string, between: readonly Buffer[], close: string): Buffer[] {
  const pieces = between.flatMap((piece, i) => (i === 0 ? [piece] : [betweenItems, piece]));
  return [bytesOf(open), ...pieces, bytesOf(close)];
}

/** Encodes a long text, in chunks that cut no pair of surrogates. */
function* textPieces(text: string): Steps<Buffer[]> {
  const pieces = [bytesOf('"')];
  for (let from = 0; from < text.length; ) {
    let to = Math.min(from + longText, text.length);
    if (to < text.length && (text.charCodeAt(to - 1) & 0xfc00) === 0xd800) to += 1;
    pieces.push(Buffer.from(encodeString(text.slice(from, to)).slice(1, -1)));
    from = to;
    yield;
  }
  pieces.push(bytesOf('"'));
  return pieces;
}

const isLongText = (value: unknown): value is string => typeof value === 'string' && value.length >= longText;

/** Writes a text, or its encoded part. */
function writeText(text: string): void {
  const pieces = parts && text.length >= longText ? parts.get(text) : undefined;
  if (!pieces) return writer.string(text);
  for (const piece of pieces) writer.bytes(piece);
}

/** Writes an encoded part, if the value is one. Each is written once, so that no part is kept that another one contains. */
function writePart(value: unknown): boolean {
  const pieces = parts?.get(value as object);
  if (!pieces) return false;
  parts!.delete(value as object);
  for (const piece of pieces) writer.bytes(piece);
  return true;
}

/** Number of values that are encoded between two yields. Many short lists in each other are as long as one. */
const stepValues = 1_024;

/** Encodes the parts of a struct. Returns the number of values that are to be encoded with the container around it, as the others do. */
function* structParts(plan: StructPlan, object: Json, made: Parts): Steps<number> {
  const keys = Object.keys(object);
  let pending = keys.length;
  for (const key of keys) {
    const value = object[key];
    if (isLongText(value)) made.set(value, yield* textPieces(value));
    if (!isContainer(value)) continue;
    const field = plan.byName.get(key);
    if (field) pending += yield* valueParts(field.value, value, made);
    else if (plan.preserve) made.set(value, yield* encodeJsonSteps(value));
  }
  return pending;
}

function* valueParts(plan: ValuePlan, value: object, made: Parts): Steps<number> {
  switch (plan.code) {
    case Code.Struct:
      return yield* structParts(plan.struct(), value as Json, made);
    case Code.Raw:
      made.set(value, yield* isAny(plan) ? encodeJsonSteps(value) : encodeRawJsonSteps(value));
      return 0;
    case Code.List:
      return yield* listParts(plan, value as unknown[], made);
    case Code.StringMap:
    case Code.Map:
      return yield* mapParts(plan, value as Json, made);
    default:
      return 0;
  }
}

function* listParts(plan: ValuePlan, list: readonly unknown[], made: Parts): Steps<number> {
  const items = plan.items();
  const between: Buffer[] = [];
  let from = 0;
  let pending = 0;
  for (const [i, item] of list.entries()) {
    pending += 1;
    if (isContainer(item)) pending += yield* valueParts(items, item, made);
    else if (isLongText(item)) made.set(item, yield* textPieces(item));
    if (pending < stepValues) continue;
    between.push(partBetween(plan, list.slice(from, i + 1), made));
    from = i + 1;
    pending = 0;
    yield;
  }
  if (from === 0) return pending;
  if (from < list.length) between.push(partBetween(plan, list.slice(from), made));
  made.set(list, bracketed('[', between, ']'));
  return 0;
}

function* mapParts(plan: ValuePlan, map: Json, made: Parts): Steps<number> {
  const items = plan.code === Code.Map ? plan.items() : undefined;
  const keys = yield* sortedKeysSteps(map);
  const between: Buffer[] = [];
  let some: Json = {};
  let pending = 0;
  for (const key of keys) {
    const item = map[key];
    setOwn(some, key, item);
    pending += 1;
    if (items && isContainer(item)) pending += yield* valueParts(items, item, made);
    else if (isLongText(item)) made.set(item, yield* textPieces(item));
    if (pending < stepValues) continue;
    between.push(partBetween(plan, some, made));
    some = {};
    pending = 0;
    yield;
  }
  if (between.length === 0) return pending;
  between.push(partBetween(plan, some, made));
  made.set(
    map,
    bracketed(
      '{',
      between.filter(({ length }) => length > 0),
      '}',
    ),
  );
  return 0;
}

/** Fields of the structs that are being written, in struct order, used as a stack. */
const fields: FieldPlan[] = [];
/** Values of `fields`. */
const values: unknown[] = [];
let pending = 0;

function writeStruct(plan: StructPlan, object: Json, depth: number): void {
  if (plan.preserve) return writeOpenStruct(plan, object, depth);
  if (depth > maxStructDepth) throw new RangeError('encode: exceeded max depth');
  const { byName, always } = plan;
  const first = pending;
  for (const key in object) {
    const value = object[key];
    if (value === undefined || value === null) continue;
    const field = byName.get(key);
    if (field !== undefined) insertByIndex(first, field, value);
  }
  const last = pending;
  const start = writer.at;
  let nextAlways = 0;
  for (let at = first; at < last; at += 1) {
    const field = fields[at]!;
    const value = values[at];
    values[at] = undefined;
    while (nextAlways < always.length && always[nextAlways]!.index <= field.index) {
      const due = always[nextAlways]!;
      nextAlways += 1;
      if (due.index < field.index) writeZero(due);
    }
    writeField(field, value, depth);
  }
  for (; nextAlways < always.length; nextAlways += 1) writeZero(always[nextAlways]!);
  pending = first;
  writer.close(start, openBrace, closeBrace);
}

function insertByIndex(first: number, field: FieldPlan, value: unknown): void {
  let at = pending;
  pending += 1;
  for (; at > first && fields[at - 1]!.index > field.index; at -= 1) {
    fields[at] = fields[at - 1]!;
    values[at] = values[at - 1];
  }
  fields[at] = field;
  values[at] = value;
}

/** Writes a field with its key, unless it is omitted. */
function writeField(field: FieldPlan, value: unknown, depth: number): void {
  const { prefix, keepsZero } = field;
  switch (field.code) {
    case Code.String:
      if (value === '' && !keepsZero) return;
      writer.text(prefix);
      return writeText(value as string);
    case Code.Boolean:
      if (value !== true && !keepsZero) return;
      writer.text(prefix);
      return writer.text(value === true ? 'true' : 'false');
    case Code.Int32:
    case Code.Int64:
      if (value === 0 && !keepsZero) return;
      writer.text(prefix);
      return writer.text(String(value));
    case Code.Struct:
      if (field.omitzero && isZero(field.value.type, value)) return;
      writer.text(prefix);
      return writeStruct(field.value.struct(), value as Json, depth + 1);
    case Code.List: {
      const isEmpty = (value as unknown[]).length === 0;
      if (isEmpty && !keepsZero) return;
      writer.text(prefix);
      return isEmpty ? writer.text(field.nullWhenEmpty ? 'null' : '[]') : writeValue(field.value, value, depth);
    }
    case Code.Map:
    case Code.StringMap: {
      // Checking whether there is a key takes as long as listing all.
      const before = writer.at;
      writer.text(prefix);
      const start = writer.at;
      writeValue(field.value, value, depth);
      if (!keepsZero && writer.isPair(start, openBrace, closeBrace)) writer.rewind(before);
      return;
    }
    case Code.Float64:
    case Code.Bytes:
      if (!keepsZero && isZeroScalar(value)) return;
      break;
    case Code.Time:
    case Code.MicroTime:
      if (isZeroTime(value as string) && (!keepsZero || field.omitzero)) return;
      break;
    default:
      if (field.omitzero && isZero(field.value.type, value)) return;
  }
  writer.text(prefix);
  writeValue(field.value, value, depth);
}

/** Writes a struct that preserves unknown fields as a map: sorted, and nothing omitted. */
function writeOpenStruct(plan: StructPlan, object: Json, depth: number): void {
  const start = writer.at;
  for (const key of sortedKeys(object)) {
    const value = object[key];
    if (value === undefined) continue;
    writeKey(key);
    const field = plan.byName.get(key);
    if (field && value !== null) writeValue(field.value, value, depth + 1);
    else if (!writePart(value)) writer.text(encodeJson(value));
  }
  writer.close(start, openBrace, closeBrace);
}

function writeKey(key: string): void {
  writer.byte(comma);
  writer.string(key);
  writer.byte(colon);
}

function writeValue(plan: ValuePlan, value: unknown, depth: number): void {
  if (value === null || value === undefined) return writeZeroValue(plan);
  if (parts && writePart(value)) return;
  switch (plan.code) {
    case Code.String:
      return writeText(value as string);
    case Code.Boolean:
      return writer.text(String(value));
    case Code.Int32:
    case Code.Int64:
      return writer.text(String(value));
    case Code.Float64:
      return writer.text(encodeNumber(value as number | bigint));
    case Code.Bytes:
      return writer.quoted(value as string);
    case Code.Time:
    case Code.MicroTime:
      return isZeroTime(value as string) ? writer.text('null') : writer.quoted(value as string);
    case Code.Quantity:
      return writer.string(String(value));
    case Code.IntOrString:
      return typeof value === 'string' ? writeText(value) : writer.text(String(value));
    // Go decodes plain `any` to a map, and keeps the bytes of raw types.
    case Code.Raw:
      return writer.text(isAny(plan) ? encodeJson(value) : encodeRawJson(value));
    case Code.Struct:
      return writeStruct(plan.struct(), value as Json, depth + 1);
    case Code.List:
      return writeList(plan, value as unknown[], depth);
    case Code.StringMap:
    case Code.Map:
      return writeMap(plan, value as Json, depth);
  }
}

function writeList(plan: ValuePlan, list: readonly unknown[], depth: number): void {
  const items = plan.items();
  const start = writer.at;
  for (let at = 0; at < list.length; at += 1) {
    writer.byte(comma);
    writeValue(items, list[at], depth + 1);
  }
  writer.close(start, openBracket, closeBracket);
}

function writeMap(plan: ValuePlan, map: Json, depth: number): void {
  const items = plan.code === Code.Map ? plan.items() : undefined;
  const start = writer.at;
  for (const key of sortedKeys(map)) {
    const item = map[key];
    if (item === undefined) continue;
    writeKey(key);
    if (items) writeValue(items, item, depth + 1);
    else writeText((item ?? '') as string);
  }
  writer.close(start, openBrace, closeBrace);
}

const isAny = (plan: ValuePlan): boolean => (plan.type as RawType).name === 'any';

/** Writes an absent `always` field. */
function writeZero({ prefix, zero, value }: FieldPlan): void {
  writer.text(prefix);
  if (zero === 'null') writer.text('null');
  else writeZeroValue(value);
}

/** Writes Go's zero value like json.Marshal. */
function writeZeroValue(value: ValuePlan): void {
  switch (value.code) {
    case Code.String:
      return writer.text('""');
    case Code.Boolean:
      return writer.text('false');
    case Code.Int32:
    case Code.Int64:
    case Code.Float64:
    case Code.IntOrString:
      return writer.text('0');
    case Code.Quantity:
      return writer.text('"0"');
    case Code.Struct:
      return writeStruct(value.struct(), {}, 0);
    default:
      return writer.text('null');
  }
}
