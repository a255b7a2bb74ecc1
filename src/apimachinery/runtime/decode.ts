/**
 * Decodes a parsed value into the form of a struct type. Upstream: sigs.k8s.io/json.
 *
 * A decoded object is the parsed value itself, traversed once and changed only where Go has another value: unknown fields, nulls and zero
 * scalars that Go omits are removed, times and quantities are canonical. Empty lists and maps stay, because Go distinguishes them from nil,
 * though it omits both. Fields stay in document order; the encoder writes them in the order of the Go struct.
 */
import { canonicalQuantity } from '../api/quantity.ts';
import { setOwn } from '#apimachinery/patch/own-property';
import { type DecodedParts, Decoding, type DecodingForm, MapKey, type RawContent, valueWord } from './decoding.ts';
import { DecodeError, remarshaled, withoutFloats, withSortedKeys } from './json/json.ts';
import { isContainer, isInt64, isNumber, type JsonNumber, literalOf, toFloat, toInt64 } from './numbers.ts';
import type { RawType, StructType } from './schema.ts';
import { Code, type ValuePlan, type FieldPlan, type StructPlan, structPlan, maxStructDepth } from './struct-plan.ts';
import { canonicalMicroTime, canonicalTime } from './time.ts';
import { keysOf, notedKeys } from './wide-objects.ts';
import { isZero, isZeroScalar, isZeroTime } from './zero.ts';

export interface DecodeOptions {
  /** false drops unknown fields without reporting them. */
  readonly strict?: boolean | undefined;
  /** Default: `json`. */
  readonly form?: DecodingForm | undefined;
  /**
   * The form of raw content: as it was written (default), with sorted keys, as for YAML, or as json.Marshal writes maps, without number
   * literals (default of the form `unstructured`).
   */
  readonly rawContent?: RawContent | undefined;
  /** See `ParsedJson.hasFloats`. */
  readonly hasFloats?: boolean | undefined;
}

export interface Decoded<T = Record<string, unknown>> {
  readonly object: T;
  /** Paths of unknown fields (`spec.containers[0].foo`), in document order, without duplicates, at most 100. */
  readonly unknownFields: readonly string[];
}

type Json = Record<string, unknown>;

/**
 * Decodes a parsed JSON value into an object of a type. It changes the value in place or reuses parts of it. Unknown fields are dropped and
 * reported; the parser reports duplicates. Throws DecodeError with Go's message for a value of the wrong type.
 */
export function decode<T = Json>(type: StructType, value: unknown, options: DecodeOptions = {}): Decoded<T> {
  return decodeRoot(type, value, newDecoding(type, options));
}

/** Returns the state for decoding a document of a type. */
export function newDecoding(type: StructType, options: DecodeOptions, parts?: DecodedParts): Decoding {
  const form = options.form ?? 'json';
  return new Decoding(
    structPlan(type),
    options.strict !== false,
    form,
    options.rawContent ?? (form === 'unstructured' ? 'remarshaled' : 'kept'),
    options.hasFloats !== false,
    parts,
  );
}

export function decodeRoot<T>(type: StructType, value: unknown, decoding: Decoding): Decoded<T> {
  if (!isObject(value)) {
    if (value === null) return { object: {} as T, unknownFields: [] };
    throw decoding.typeError(valueWord(value), type.goName, undefined, undefined);
  }
  const object = decodeStruct(decoding.root, value as Json, decoding);
  if (decoding.error) throw decoding.error;
  return { object: object as T, unknownFields: decoding.unknown };
}

function decodeStruct(plan: StructPlan, object: Json, decoding: Decoding): Json {
  if (++decoding.depth > maxStructDepth) throw new DecodeError('exceeded max depth');
  const keys = plan.preserve ? undefined : notedKeys(object);
  const decoded = keys ? decodeWideStruct(plan, object, keys, decoding) : decodeFields(plan, object, decoding);
  decoding.depth--;
  return decoded;
}

function decodeFields(plan: StructPlan, object: Json, decoding: Decoding): Json {
  const { byName } = plan;
  let dropped: string[] | undefined;
  for (const key in object) {
    const field = byName.get(key);
    if (field === undefined) {
      if (plan.preserve) continue;
      decoding.addUnknown(key);
      (dropped ??= []).push(key);
      continue;
    }
    const value = object[key];
    const decoded = value === null || value === undefined ? undefined : decodeField(field, value, decoding, plan);
    if (decoded === undefined) (dropped ??= []).push(key);
    // An own property, also if the key is `__proto__`: this sets no prototype.
    else if (decoded !== value) object[key] = decoded;
  }
  return dropped === undefined ? object : without(object, dropped);
}

/** Decodes a wide object into a new one, since most of its fields are unknown. */
function decodeWideStruct(plan: StructPlan, object: Json, keys: readonly string[], decoding: Decoding): Json {
  const fields: Json = {};
  for (const key of keys) {
    const field = plan.byName.get(key);
    if (field === undefined) {
      decoding.addUnknown(key);
      continue;
    }
    const value = object[key];
    const decoded = value === null || value === undefined ? undefined : decodeField(field, value, decoding, plan);
    if (decoded !== undefined) setOwn(fields, key, decoded);
  }
  return fields;
}

function without(object: Json, dropped: readonly string[]): Json {
  const rest: Json = {};
  let next = 0;
  for (const key in object) {
    if (key === dropped[next]) next++;
    else setOwn(rest, key, object[key]);
  }
  return rest;
}

/** Returns undefined if the field is left out. */
function decodeField(field: FieldPlan, value: unknown, decoding: Decoding, owner: StructPlan): unknown {
  switch (field.code) {
    case Code.String:
      if (typeof value === 'string') return value !== '' || field.keepsZero ? value : undefined;
      break;
    case Code.Boolean:
      if (typeof value === 'boolean') return value || field.keepsZero ? value : undefined;
      break;
    case Code.Int32:
      if (typeof value === 'number' && (value | 0) === value) {
        return value !== 0 || field.keepsZero ? value : undefined;
      }
      break;
    case Code.Raw:
      return decodeRaw(field.value, value, decoding);
    case Code.Struct: {
      if (!isObject(value)) break;
      decoding.at.push(field.name);
      const object = decodeStruct(field.value.struct(), value as Json, decoding);
      decoding.at.pop();
      return field.omitzero && isZero(field.value.type, object) ? undefined : object;
    }
    case Code.List: {
      if (!Array.isArray(value)) break;
      decoding.at.push(field.name);
      const decoded = decodeList(field.value, value, decoding, owner);
      decoding.at.pop();
      return decoded;
    }
    case Code.Map:
    case Code.StringMap: {
      if (!isObject(value)) break;
      decoding.at.push(field.name);
      const isMapOfStrings = field.code === Code.StringMap;
      if (isMapOfStrings) decodeStringMap(field.value, value as Json, decoding, owner);
      else decodeMap(field.value, value as Json, decoding, owner);
      decoding.at.pop();
      return value;
    }
    default:
      break;
  }
  const decoded = decodeValue(field.value, value, decoding, owner, field.name);
  return decoded !== undefined && (field.keepsZero || !isZeroScalar(decoded)) ? decoded : undefined;
}

/**
 * Decodes a value of any plan. For a list or map the path already contains its name, otherwise `field` is its name (undefined for an item).
 * Returns undefined where Go keeps the zero value: after null, a mismatch, or the zero time.
 */
function decodeValue(
  plan: ValuePlan,
  value: unknown,
  decoding: Decoding,
  owner: StructPlan | undefined,
  field: string | undefined,
): unknown {
  switch (plan.code) {
    case Code.String:
      if (typeof value === 'string') return value;
      break;
    case Code.Boolean:
      if (typeof value === 'boolean') return value;
      break;
    case Code.Int32:
    case Code.Int64: {
      if (!isNumber(value)) break;
      if (isIntegerOf(plan.code, value)) return value;
      if (decoding.form === 'unstructured') {
        if (typeof value !== 'bigint' && !Number.isInteger(Number(value))) break;
        return convertInteger(plan.code, value);
      }
      decoding.save(() => decoding.numberError(`number ${literalOf(value)}`, plan.type, owner, field));
      return undefined;
    }
    case Code.Float64:
      if (typeof value === 'number') return value;
      if (!isNumber(value)) break;
      if (Number.isFinite(toFloat(value))) return toFloat(value);
      decoding.save(() => decoding.numberError(`number ${literalOf(value)}`, plan.type, owner, field));
      return undefined;
    case Code.Bytes:
      if (typeof value === 'string') return decodeBase64(value, decoding);
      if (Array.isArray(value)) return decodeByteList(value, decoding, owner, field);
      break;
    case Code.Time:
    case Code.MicroTime:
      if (typeof value !== 'string') throw decoding.parserError(valueWord(value), 'string', owner, field);
      return decodeTime(value, plan.code === Code.MicroTime);
    case Code.Quantity:
      return decodeQuantity(value);
    case Code.IntOrString: {
      if (typeof value === 'string') return value;
      if (isIntegerOf(Code.Int32, value)) return value;
      throw decoding.parserError(isNumber(value) ? `number ${literalOf(value)}` : valueWord(value), 'int32', owner, field);
    }
    case Code.Raw:
      return decodeRaw(plan, value, decoding);
    case Code.StringMap:
      if (isObject(value)) {
        decodeStringMap(plan, value as Json, decoding, owner);
        return value;
      }
      break;
    case Code.Map:
      if (isObject(value)) {
        decodeMap(plan, value as Json, decoding, owner);
        return value;
      }
      break;
    case Code.List:
      if (Array.isArray(value)) return decodeList(plan, value, decoding, owner);
      break;
    case Code.Struct:
      if (isObject(value)) return decodeStruct(plan.struct(), value, decoding);
      break;
  }
  decoding.save(() => decoding.mismatch(value, plan.type, owner, field));
  return undefined;
}

export const isObject = (value: unknown): value is Json => isContainer(value) && !Array.isArray(value);

function isIntegerOf(code: Code, value: unknown): value is number | bigint {
  return code === Code.Int32 ? typeof value === 'number' && (value | 0) === value : isInt64(value);
}

/** Decodes raw content. Schemas are not raw content: their Go types have no literals. */
function decodeRaw({ type }: ValuePlan, value: unknown, { rawContent, hasFloats }: Decoding): unknown {
  const { name } = type as RawType;
  if (name === 'runtime.RawExtension')
    return rawContent === 'kept' ? value : rawContent === 'sorted' ? withSortedKeys(value) : remarshaled(value);
  return hasFloats && name.startsWith('apiextensions_v1.') ? withoutFloats(value) : value;
}

/** Converts a number for an integer field. Upstream: runtime/converter.go (fromUnstructured). */
function convertInteger(code: Code, value: JsonNumber): number | bigint {
  const long = toInt64(value);
  return code === Code.Int32 ? Number(BigInt.asIntN(32, BigInt(long))) : long;
}

/** Returns Go's zero value of the items, which replaces null in a list or map. */
function zeroItem(plan: ValuePlan): unknown {
  switch (plan.code) {
    // For bytes, Go has null at first, but not after storing as protobuf.
    case Code.String:
    case Code.Bytes:
      return '';
    case Code.Boolean:
      return false;
    case Code.Int32:
    case Code.Int64:
    case Code.Float64:
    case Code.IntOrString:
      return 0;
    case Code.Quantity:
      return '0';
    case Code.Struct:
      return {};
    default:
      return null;
  }
}

/** Decodes in place. */
function decodeStringMap(plan: ValuePlan, map: Json, decoding: Decoding, owner: StructPlan | undefined): void {
  if (!decoding.take(map)) decodeStrings(plan, map, keysOf(map), decoding, owner);
}

function decodeStrings(plan: ValuePlan, map: Json, keys: readonly string[], decoding: Decoding, owner: StructPlan | undefined): void {
  for (const key of keys) {
    const value = map[key];
    if (value === undefined || typeof value === 'string') continue;
    if (value !== null) saveItemError(plan, key, value, decoding, owner);
    map[key] = '';
  }
}

function saveItemError(plan: ValuePlan, key: string, value: unknown, decoding: Decoding, owner: StructPlan | undefined): void {
  decoding.at.push(new MapKey(key));
  decoding.save(() => decoding.mismatch(value, plan.items().type, owner, undefined));
  decoding.at.pop();
}

/** Decodes in place. */
function decodeMap(plan: ValuePlan, map: Json, decoding: Decoding, owner: StructPlan | undefined): void {
  if (!decoding.take(map)) decodeEntries(plan, map, keysOf(map), decoding, owner);
}

/** Decodes entries of a map in place. The path of the decoding is that of the map. */
export function decodeEntries(
  plan: ValuePlan,
  map: Json,
  keys: readonly string[],
  decoding: Decoding,
  owner: StructPlan | undefined,
): void {
  if (plan.code === Code.StringMap) return decodeStrings(plan, map, keys, decoding, owner);
  const items = plan.items();
  for (const key of keys) {
    const value = map[key];
    if (value === undefined) continue;
    decoding.at.push(new MapKey(key));
    const decoded = value === null ? undefined : decodeValue(items, value, decoding, owner, undefined);
    decoding.at.pop();
    if (decoded === undefined) map[key] = zeroItem(items);
    else if (decoded !== value) map[key] = decoded;
  }
}

function decodeList(plan: ValuePlan, list: unknown[], decoding: Decoding, owner: StructPlan | undefined): unknown[] {
  if (!decoding.take(list)) decodeItems(plan, list, 0, list.length, decoding, owner);
  return list;
}

/** Decodes the items from `from` to `to` of a list in place. The path of the decoding is that of the list. */
export function decodeItems(
  plan: ValuePlan,
  list: unknown[],
  from: number,
  to: number,
  decoding: Decoding,
  owner: StructPlan | undefined,
): void {
  const items = plan.items();
  const depth = decoding.at.length;
  for (let i = from; i < to; i++) {
    const value = list[i];
    if (items.code === Code.String && typeof value === 'string') continue;
    decoding.at[depth] = i;
    const decoded = value === null ? undefined : decodeValue(items, value, decoding, owner, undefined);
    if (decoded === undefined) list[i] = zeroItem(items);
    else if (decoded !== value) list[i] = decoded;
  }
  decoding.at.length = depth;
}

function decodeTime(text: string, micro: boolean): string | undefined {
  let canonical: string;
  try {
    canonical = micro ? canonicalMicroTime(text) : canonicalTime(text);
  } catch (error) {
    throw new DecodeError((error as Error).message, { cause: error });
  }
  return canonical.startsWith('0001-01-01T00:00:00') && isZeroTime(canonical) ? undefined : canonical;
}

function decodeQuantity(value: unknown): string {
  const text = isNumber(value) ? literalOf(value) : typeof value === 'object' ? '{}' : String(value);
  try {
    return canonicalQuantity(text);
  } catch (error) {
    throw new DecodeError((error as Error).message, { cause: error });
  }
}

/**
 * Decodes standard base64 with padding, as Go: line breaks are skipped, surplus bits after the last byte are dropped, any other character
 * is an error with its position.
 */
function decodeBase64(text: string, decoding: Decoding): string | undefined {
  // Node ignores what is malformed, so only a canonical text is encoded as itself: 3 MB take 5 ms, a regular expression takes 60.
  const encoded = Buffer.from(text, 'base64').toString('base64');
  if (encoded === text) return text;
  const problem = base64Problem(text);
  if (problem === undefined) return encoded;
  decoding.save(() => new DecodeError(decoding.form === 'unstructured' ? `error decoding from json: ${problem}` : problem));
  return undefined;
}

/** Returns Go's error for malformed base64; undefined if it is valid. */
export function base64Problem(text: string): string | undefined {
  const position = base64Error(text);
  return position === undefined ? undefined : `illegal base64 data at input byte ${position}`;
}

/** Base64 without line breaks, if its length is a multiple of four: the loop takes ten times as long. */
const wholeBase64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** True for a letter, a digit, `+` or `/`. */
const isOfBase64 = (c: number): boolean =>
  (c >= 0x61 && c <= 0x7a) || (c >= 0x41 && c <= 0x5a) || (c >= 0x30 && c <= 0x39) || c === 0x2b || c === 0x2f;

/** Returns the position in Go's base64.CorruptInputError; undefined if the text is valid. Upstream: encoding/base64, decodeQuantum. */
function base64Error(text: string): number | undefined {
  if (text.length % 4 === 0 && wholeBase64.test(text)) return undefined;
  const bytes = Buffer.from(text);
  const skip = (from: number): number => {
    let at = from;
    while (bytes[at] === 0x0a || bytes[at] === 0x0d) at++;
    return at;
  };
  let i = 0;
  for (;;) {
    for (let j = 0; j < 4; j++) {
      i = skip(i);
      if (i >= bytes.length) return j === 0 ? undefined : i - j;
      const c = bytes[i++]!;
      if (isOfBase64(c)) continue;
      if (c !== 0x3d || j < 2) return i - 1;
      if (j === 2) {
        i = skip(i);
        if (i >= bytes.length) return bytes.length;
        if (bytes[i] !== 0x3d) return i - 1;
        i++;
      }
      // Padding ends the text: anything after it is the error.
      i = skip(i);
      return i < bytes.length ? i : undefined;
    }
  }
}

/** Decodes a list of numbers as bytes, like Go. */
function decodeByteList(list: readonly unknown[], decoding: Decoding, owner: StructPlan | undefined, field: string | undefined): string {
  const bytes = list.map((item) => {
    if (item === null) return 0;
    if (typeof item === 'number' && Number.isInteger(item) && item >= 0 && item < 256) return item;
    decoding.save(() => decoding.typeError(isNumber(item) ? `number ${literalOf(item)}` : valueWord(item), 'uint8', owner, field));
    return 0;
  });
  return Buffer.from(bytes).toString('base64');
}
