/** Codecs of field values: scalars, messages that are strings in JSON (quantities, times), messages that stand for one of several JSON types, and raw JSON. */
import { Buffer } from 'node:buffer';
import { canonicalQuantity, Quantity } from '#apimachinery/api/quantity';
import { decode } from '../decode.ts';
import { deepCopy } from '../copy.ts';
import { DecodeError, encodeRawJson, parseJson, parseJsonSteps, rememberedRawJson } from '../json/json.ts';
import { JsonSyntaxError } from '../json/json-syntax.ts';
import { maxNestingDepth } from '../json/json-scan.ts';
import {
  checkTag,
  checkWire,
  enterEntry,
  enterPart,
  fieldNumber,
  hasMore,
  hasMoreOf,
  leaveEntry,
  leavePart,
  peekVarint,
  readBytes,
  readDouble,
  readInt32,
  readInt64,
  readString,
  readVarint,
  skipInEntry,
  skipValue,
  Wire,
  writeDouble,
  writeInteger,
  writeRaw,
  writeString,
  writeVarint,
  writtenBytes,
} from './protobuf-wire.ts';
import type { StructType } from '../schema.ts';
import type { Steps } from '../steps.ts';
import { formatMicroTime, formatTime, parseTime, zeroTime } from '../time.ts';

/** Codec of one value that is not repeated. Undefined is Go's zero value. */
export interface ValueCodec {
  readonly wire: Wire;
  /** Writes the value, with its length prefix if it has one. */
  write(value: unknown): void;
  read(): unknown;
  /** Like `read` for messages, but adds to the fields of an earlier occurrence. */
  readInto?(object: Record<string, unknown>): unknown;
  /** Like `read` for JSON, but yields to the event loop. The caller restores the state of the reading after each yield. */
  parseSteps?(): Steps<unknown>;
  /** Like `readInto`, but yields to the event loop. */
  readSteps?(object: Record<string, unknown>): Steps<unknown>;
  /** Returns the value of a map entry that has none; undefined: null. */
  readonly zero?: () => unknown;
  /** True for types that are slices in Go: nil is not written. */
  readonly nilable?: boolean;
  /** Returns the number of bytes that `write` writes, for values that may be large. */
  lengthSteps?(value: unknown): Steps<number>;
}

function writeLengthDelimited(write: () => void): void {
  const before = writtenBytes();
  write();
  writeVarint(writtenBytes() - before);
}

/** Reads a part at once. */
export function readPart<T>(read: () => T): T {
  const outer = enterPart();
  const value = read();
  leavePart(outer);
  return value;
}

/** Number of small values between two yields. */
export const valuesOfStep = 512;
/** Smaller values are read without a yield. */
export const largePartBytes = 16 * 1024;

type PartCodec = Pick<ValueCodec, 'wire' | 'read' | 'readSteps' | 'parseSteps'>;

/** A field of a message: its Go name, its codec, and what its value adds to the value of the message. */
type PartOf<S> = readonly [goName: string, codec: PartCodec, add: (state: S, value: never) => void];

/** A message that stands for a value: its fields by number add to a state, of which the value is made. */
interface MessageParts<S> {
  /** The Go name. */
  readonly name: string;
  begin(): S;
  readonly parts: Readonly<Record<number, PartOf<S>>>;
  end(state: S): unknown;
}

/** The two ways to read a value: at once, and yielding to the event loop. */
type Readers = Pick<ValueCodec, 'read'> & Required<Pick<ValueCodec, 'parseSteps'>>;

/** Returns the two ways to read such a message. Unknown fields are skipped. */
export function readingOf<S>({ name, begin, parts, end }: MessageParts<S>): Readers {
  const knownPart = (tag: number): PartOf<S> | undefined => {
    checkTag(name, tag);
    const part = parts[fieldNumber(tag)];
    if (part) checkWire(tag & 7, part[1].wire, part[0]);
    else skipValue(tag & 7);
    return part;
  };
  return {
    read() {
      const state = begin();
      const outer = enterPart();
      while (hasMore()) {
        const part = knownPart(readVarint());
        part?.[2](state, part[1].read() as never);
      }
      leavePart(outer);
      return end(state);
    },
    *parseSteps() {
      const state = begin();
      const outer = enterPart();
      for (let count = 1; hasMore(); count += 1) {
        if (count % valuesOfStep === 0) yield;
        const part = knownPart(readVarint());
        part?.[2](state, (yield* valueSteps(part[1])) as never);
      }
      leavePart(outer);
      return end(state);
    },
  };
}

/** The key and value of an entry of a map. */
export type MapEntry = readonly [key: string, value: unknown];

/** Returns the two ways to read an entry of a map, in which Go does not check the wire types of key and value. */
export function entryReading(codec: ValueCodec): Readers {
  const missing = codec.zero ?? (() => null);
  return {
    read(): MapEntry {
      const end = enterEntry();
      let key = '';
      let value: unknown;
      while (hasMoreOf(end)) {
        const tag = readVarint();
        const number = fieldNumber(tag);
        if (number === 1) key = readString();
        else if (number === 2) value = codec.read();
        else skipInEntry(tag & 7, end);
      }
      leaveEntry(end);
      return [key, value ?? missing()];
    },
    *parseSteps(): Steps<MapEntry> {
      const end = enterEntry();
      let key = '';
      let value: unknown;
      for (let count = 1; hasMoreOf(end); count += 1) {
        if (count % valuesOfStep === 0) yield;
        const tag = readVarint();
        const number = fieldNumber(tag);
        if (number === 1) key = readString();
        else if (number === 2) value = yield* valueSteps(codec);
        else skipInEntry(tag & 7, end);
      }
      leaveEntry(end);
      return [key, value ?? missing()];
    },
  };
}

/** Reads a value, and yields to the event loop if it is large. The caller restores the state of the reading after each yield. */
function* valueSteps({ wire, read, readSteps, parseSteps }: PartCodec): Steps<unknown> {
  if (wire !== Wire.Length || peekVarint() < largePartBytes) return read();
  if (readSteps) return yield* readSteps({});
  return parseSteps ? yield* parseSteps() : read();
}

/** The tag of the single field of messages such as Quantity and FieldsV1. */
export const firstString = 0x0a;
const firstVarint = 0x08;
const secondVarint = 0x10;
const secondString = 0x12;
const thirdString = 0x1a;

export const stringCodec: ValueCodec = {
  wire: Wire.Length,
  zero: () => '',
  write: (value) => writeString((value as string | undefined) ?? ''),
  read: readString,
};
export const bytesCodec: ValueCodec = {
  wire: Wire.Length,
  zero: () => '',
  nilable: true,
  write(value) {
    const bytes = Buffer.from((value as string | undefined) ?? '', 'base64');
    writeRaw(bytes);
    writeVarint(bytes.length);
  },
  read: () => readBytes().toString('base64'),
};
const boolCodec: ValueCodec = {
  wire: Wire.Varint,
  zero: () => false,
  write: (value) => writeVarint(value ? 1 : 0),
  read: () => readVarint() !== 0,
};
const int32Codec: ValueCodec = {
  wire: Wire.Varint,
  zero: () => 0,
  write: (value) => writeInteger((value as number | undefined) ?? 0),
  read: readInt32,
};
const int64Codec: ValueCodec = {
  wire: Wire.Varint,
  zero: () => 0,
  write: (value) => writeInteger((value as number | bigint | undefined) ?? 0),
  read: readInt64,
};
export const scalarCodecs: Readonly<Record<string, ValueCodec>> = {
  string: stringCodec,
  bytes: bytesCodec,
  bool: boolCodec,
  int32: int32Codec,
  int64: int64Codec,
  double: { wire: Wire.Fixed64, write: (value) => writeDouble(Number(value ?? 0)), read: readDouble },
};

const quantityCodec: ValueCodec = {
  wire: Wire.Length,
  zero: () => '0',
  write: (value) =>
    writeLengthDelimited(() => {
      writeString(value === undefined ? '0' : String(value));
      writeVarint(firstString);
    }),
  ...readingOf({
    name: 'Quantity',
    begin: () => ({ quantity: '0' }),
    parts: { 1: ['String_', stringCodec, (state, text: string) => void (state.quantity = parsedQuantity(text))] },
    end: ({ quantity }) => quantity,
  }),
};

function parsedQuantity(text: string): string {
  try {
    // Unlike JSON, upstream does not trim the text.
    return text === text.trim() ? canonicalQuantity(text) : Quantity.parse(text).toString();
  } catch (error) {
    throw new DecodeError((error as Error).message, { cause: error });
  }
}

const intOrStringCodec: ValueCodec = {
  wire: Wire.Length,
  write: (value) =>
    writeLengthDelimited(() => {
      const isText = typeof value === 'string';
      writeString(isText ? value : '');
      writeVarint(thirdString);
      writeInteger(isText ? 0 : ((value as number | undefined) ?? 0));
      writeVarint(secondVarint);
      writeVarint(isText ? 1 : 0);
      writeVarint(firstVarint);
    }),
  ...readingOf({
    name: 'IntOrString',
    begin: () => ({ isText: false, number: 0, text: '' }),
    parts: {
      1: ['Type', int64Codec, (state, type: number | bigint) => void (state.isText = type === 1)],
      2: ['IntVal', int32Codec, (state, number: number) => void (state.number = number)],
      3: ['StrVal', stringCodec, (state, text: string) => void (state.text = text)],
    },
    end: ({ isText, number, text }) => (isText ? text : number),
  }),
};

/** Seconds since 1970; the times of one object are often equal. */
let lastTime = '';
let lastSeconds = 0;

function secondsOf(text: string): number {
  if (text !== lastTime) {
    lastSeconds = Math.floor(parseTime(text) / 1000);
    lastTime = text;
  }
  return lastSeconds;
}

function timeCodec(micro: boolean): ValueCodec {
  return {
    wire: Wire.Length,
    write(value) {
      if (value === undefined || value === zeroTime) return writeVarint(0);
      writeLengthDelimited(() => {
        const text = value as string;
        writeVarint(micro ? Number(text.slice(20, 26)) * 1000 : 0);
        writeVarint(secondVarint);
        writeInteger(secondsOf(text));
        writeVarint(firstVarint);
      });
    },
    ...readingOf({
      name: 'Timestamp',
      begin: (): { isAny: boolean; seconds: number | bigint; nanos: number } => ({ isAny: peekVarint() > 0, seconds: 0, nanos: 0 }),
      parts: {
        1: ['Seconds', int64Codec, (state, seconds: number | bigint) => void (state.seconds = seconds)],
        2: ['Nanos', int32Codec, (state, nanos: number) => void (state.nanos = nanos)],
      },
      end({ isAny, seconds, nanos }) {
        if (!isAny) return undefined;
        if (seconds < -62_167_219_200 || seconds > 253_402_300_799)
          throw new DecodeError('Time.UnmarshalJSON: year outside of range [0,9999]');
        const millis = Number(seconds) * 1000;
        if (!micro) return formatTime(millis);
        const micros = Math.floor(nanos / 1000);
        return formatMicroTime(millis + Math.floor(micros / 1000), micros % 1000);
      },
    }),
  };
}

/** Parses JSON bytes in a message; undefined if they are empty. */
function parseRaw(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  try {
    return parseJson(bytes).value;
  } catch (error) {
    throw undecodable(error);
  }
}

/** Like `parseRaw`, but yields to the event loop. */
function* parseRawSteps(bytes: Buffer): Steps<unknown> {
  if (bytes.length === 0) return undefined;
  try {
    return (yield* parseJsonSteps(bytes)).value;
  } catch (error) {
    throw undecodable(error);
  }
}

const undecodable = (error: unknown): unknown =>
  error instanceof JsonSyntaxError ? new DecodeError(error.message, { cause: error }) : error;

/** Returns a codec of JSON in field 1 of a message. */
function jsonCodec(
  name: string,
  encode: (value: unknown) => string,
  decode: (bytes: Buffer) => unknown,
  decodeSteps: (bytes: Buffer) => Steps<unknown>,
): ValueCodec {
  return {
    wire: Wire.Length,
    write(value) {
      if (value === undefined) return writeVarint(0);
      writeLengthDelimited(() => {
        writeString(encode(value));
        writeVarint(firstString);
      });
    },
    ...readingOf({
      name,
      begin: (): { value: unknown } => ({ value: undefined }),
      parts: {
        1: [
          'Raw',
          { wire: Wire.Length, read: () => decode(readBytes()), parseSteps: () => decodeSteps(readBytes()) },
          (state, value: unknown) => void (state.value = value),
        ],
      },
      end: ({ value }) => value,
    }),
  };
}

/** Returns the codec of a message with JSON content. */
const rawCodec = (name: string): ValueCodec => jsonCodec(name, encodeRawJson, parseRaw, parseRawSteps);

/** Characters that JSON.stringify encodes differently from Go. */
const escapedByGo = /[<>&\u2028\u2029\ud800-\udfff]/;

/** FieldsV1 is large and has no numbers: JSON.parse is sufficient. */
const fieldsCodec = jsonCodec(
  'FieldsV1',
  fieldsText,
  (bytes) => (isShortText(bytes) ? parseFields(bytes) : parseRaw(bytes)),
  function* (bytes) {
    return isShortText(bytes) ? parseFields(bytes) : yield* parseRawSteps(bytes);
  },
);

/** True for a text that is too short to exceed the maximum depth. */
function isShortText({ length }: Buffer): boolean {
  return length > 0 && length < maxNestingDepth;
}

/** Parses a text that is too short to exceed the maximum depth. */
function parseFields(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return invalidOrDeep(bytes);
  }
}

/** Returns malformed JSON as a string: as upstream, the field manager drops such fields. */
function invalidOrDeep(bytes: Buffer): unknown {
  try {
    return parseRaw(bytes);
  } catch (error) {
    if (error instanceof DecodeError) return bytes.toString('utf8');
    throw error;
  }
}

function fieldsText(value: unknown): string {
  const known = rememberedRawJson(value);
  if (known !== undefined) return known;
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    // Too deep for JSON.parse.
    if (!(error instanceof RangeError)) throw error;
  }
  return text === undefined || escapedByGo.test(text) ? encodeRawJson(value) : text;
}

export const specialCodecs: Readonly<Record<string, ValueCodec>> = {
  'k8s.io.apimachinery.pkg.api.resource.Quantity': quantityCodec,
  'k8s.io.apimachinery.pkg.util.intstr.IntOrString': intOrStringCodec,
  'k8s.io.apimachinery.pkg.apis.meta.v1.Time': timeCodec(false),
  'k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime': timeCodec(true),
  'k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1': fieldsCodec,
  'k8s.io.apimachinery.pkg.runtime.RawExtension': rawCodec('RawExtension'),
  'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSON': rawCodec('JSON'),
};

/** Returns how to read a message of either one value or a list. */
function oneOrMany(name: string, one: ValueCodec, items: string, item: ValueCodec): Pick<ValueCodec, 'read' | 'parseSteps'> {
  return readingOf({
    name,
    begin: (): { single: unknown; readonly list: unknown[] } => ({ single: undefined, list: [] }),
    parts: {
      1: ['Schema', one, (state, value: unknown) => void (state.single = value)],
      2: [items, item, ({ list }, value: unknown) => void list.push(value)],
    },
    end: ({ single, list }) => (list.length > 0 ? list : single),
  });
}

/** Codecs of messages that stand for one of several JSON types, by their schema names. */
export const unionCodecs: Readonly<Record<string, (schema: ValueCodec, schemaType: StructType) => ValueCodec>> = {
  'apiextensions_v1.JSONSchemaPropsOrArray': (schema, type) => ({
    wire: Wire.Length,
    write: (value) =>
      writeLengthDelimited(() => {
        if (Array.isArray(value))
          writeEach(
            value.map((item) => decoded(type, item)),
            schema,
            secondString,
          );
        else if (value !== undefined) writeTagged(schema, decoded(type, value), firstString);
      }),
    ...oneOrMany('JSONSchemaPropsOrArray', schema, 'JSONSchemas', schema),
  }),
  'apiextensions_v1.JSONSchemaPropsOrBool': (schema, type) => ({
    wire: Wire.Length,
    write: (value) =>
      writeLengthDelimited(() => {
        if (typeof value === 'object') writeTagged(schema, decoded(type, value), secondString);
        writeVarint(value === undefined || value === false ? 0 : 1);
        writeVarint(firstVarint);
      }),
    ...readingOf({
      name: 'JSONSchemaPropsOrBool',
      begin: (): { allows: boolean; props: unknown } => ({ allows: false, props: undefined }),
      parts: {
        1: ['Allows', boolCodec, (state, allows: boolean) => void (state.allows = allows)],
        2: ['Schema', schema, (state, props: unknown) => void (state.props = props)],
      },
      end: ({ allows, props }) => props ?? allows,
    }),
  }),
  'apiextensions_v1.JSONSchemaPropsOrStringArray': (schema, type) => ({
    wire: Wire.Length,
    write: (value) =>
      writeLengthDelimited(() => {
        if (Array.isArray(value)) writeEach(value, stringCodec, secondString);
        else if (value !== undefined) writeTagged(schema, decoded(type, value), firstString);
      }),
    ...oneOrMany('JSONSchemaPropsOrStringArray', schema, 'Property', stringCodec),
  }),
};

/** Decodes raw values of the tables into their type's form first. */
function decoded(type: StructType, value: unknown): object {
  return decode(type, deepCopy(value)).object;
}

function writeTagged(codec: ValueCodec, value: unknown, tag: number): void {
  codec.write(value);
  writeVarint(tag);
}

export function writeEach(list: readonly unknown[], codec: ValueCodec, tag: number): void {
  for (let i = list.length - 1; i >= 0; i--) writeTagged(codec, list[i] ?? undefined, tag);
}

/** Returns the codec of a list that is wrapped in a message (`ExtraValue`, `Verbs`). */
export function wrappedList(name: string, item: ValueCodec): ValueCodec {
  return {
    wire: Wire.Length,
    nilable: true,
    write: (value) => writeLengthDelimited(() => writeEach((value as readonly unknown[] | undefined) ?? [], item, firstString)),
    zero: () => [],
    ...readingOf({
      name,
      begin: (): unknown[] => [],
      parts: { 1: ['Items', item, (list, value: unknown) => void list.push(value)] },
      end: (list) => list,
    }),
  };
}
