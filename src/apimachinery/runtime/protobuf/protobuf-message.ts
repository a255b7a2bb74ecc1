/**
 * Codecs between messages of generated.proto and types of the schema tables. The codec of a struct type is compiled on first use and kept
 * as long as the type. Encoding equals that of Go's generated marshalers: fields in the order of their numbers, non-pointer fields even if
 * zero, maps sorted by key. Decoding yields the same form as decoding the object's JSON.
 */
import { isZero } from '../zero.ts';
import { setOwn } from '../../patch/own-property.ts';
import { DecodeError, sortedKeys } from '../json/json.ts';
import {
  bytesCodec,
  firstString,
  largePartBytes,
  entryReading,
  type MapEntry,
  readPart,
  scalarCodecs,
  specialCodecs,
  unionCodecs,
  type ValueCodec,
  valuesOfStep,
  wrappedList,
  writeEach,
} from './protobuf-values.ts';
import {
  currentReading,
  enterPart,
  hasMore,
  checkTag,
  checkWire,
  fieldNumber,
  leavePart,
  lengthOfWritten,
  peekVarint,
  readVarint,
  resumeReading,
  skipValue,
  varintLength,
  Wire,
  writeString,
  writeVarint,
  writtenBytes,
} from './protobuf-wire.ts';
import type { Field, ListType, MapType, ProtobufMessage, SchemaRegistry, StructType, Type } from '../schema.ts';
import type { Steps } from '../steps.ts';
import { keysOf } from '../wide-objects.ts';

type Json = Record<string, unknown>;

/** Maximum depth of messages: the codecs are recursive. */
const maxDepth = 1000;
let depth = 0;

interface FieldWriter {
  /** Writes one field of a message from the slots of its object. */
  write(base: number): void;
  /** Returns the number of bytes of the field, computed from the object. Measuring discards written bytes, so no write may span a yield. */
  lengthSteps(object: Json): Steps<number>;
}
/** Reads one occurrence of a field into the object. */
interface FieldReader {
  (object: Json, wire: number): void;
  /** Reads a message field, and yields to the event loop. */
  readonly steps?: (object: Json) => Steps<void>;
}

/** Values of the objects that are being written, nested ones after those of their parents: each field is looked up once, in the object's own order. */
let slots: unknown[] = new Array<unknown>(4096).fill(undefined);
let top = 0;

/** The codec of a struct type's message. */
export class MessageCodec implements ValueCodec {
  readonly wire = Wire.Length;
  readonly #slotOf = new Map<string, number>();
  readonly #writers: readonly FieldWriter[];
  readonly #readers: readonly (FieldReader | undefined)[];
  readonly #name: string;

  constructor(type: StructType, compiler: Compiler, packageName: string, message: ProtobufMessage) {
    this.#name = shortName(type.name);
    for (const name of type.fields.keys()) this.#slotOf.set(name, this.#slotOf.size);
    const { writers, readers } = compiler.fields(type, this.#slotOf, packageName, message);
    this.#writers = writers;
    this.#readers = readers;
  }

  write(value: unknown): void {
    const before = writtenBytes();
    this.writeBody((value as Json | undefined) ?? {});
    writeVarint(writtenBytes() - before);
  }

  /** Writes the fields, without tag and length. */
  writeBody(object: Json): void {
    if (++depth > maxDepth) throw new RangeError('protobuf: exceeded max depth');
    const base = top;
    top += this.#slotOf.size;
    if (top > slots.length) slots = [...slots, ...new Array<unknown>(top).fill(undefined)];
    for (const key in object) {
      const slot = this.#slotOf.get(key);
      if (slot !== undefined) slots[base + slot] = object[key] ?? undefined;
    }
    for (const writer of this.#writers) writer.write(base);
    slots.fill(undefined, base, top);
    top = base;
    depth--;
  }

  *lengthSteps(value: unknown): Steps<number> {
    const length = yield* this.bodyLengthSteps((value as Json | undefined) ?? {});
    return length + varintLength(length);
  }

  /** Returns the number of bytes that `writeBody` writes. */
  *bodyLengthSteps(object: Json): Steps<number> {
    let length = 0;
    for (const writer of this.#writers) length += yield* writer.lengthSteps(object);
    return length;
  }

  read(): Json {
    return this.readInto({});
  }

  /** Reads fields into an object, as Go does where a message occurs twice. */
  readInto(object: Json): Json {
    const outer = enterPart();
    this.readBody(object);
    leavePart(outer);
    return object;
  }

  /** Like `readInto`, but yields to the event loop. */
  *readSteps(object: Json): Steps<Json> {
    const outer = enterPart();
    yield* this.readBodySteps(object);
    leavePart(outer);
    return object;
  }

  /** Like `readBody`, but yields to the event loop; other messages may be read meanwhile. */
  *readBodySteps(object: Json): Steps<Json> {
    if (++depth > maxDepth) throw new DecodeError('exceeded max depth');
    yield* fieldsSteps(object, this.#readers, this.#readFieldOf);
    depth--;
    return object;
  }

  readonly #readFieldOf = (object: Json, tag: number): void => this.#readField(object, tag);

  /** Reads fields up to the end of the current message. */
  readBody(object: Json): Json {
    if (++depth > maxDepth) throw new DecodeError('exceeded max depth');
    while (hasMore()) this.#readField(object, readVarint());
    depth--;
    return object;
  }

  #readField(object: Json, tag: number): void {
    readKnown(this.#name, this.#readers, object, tag);
  }
}

function shortName(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

/** Reads a field of a message into an object; skips an unknown one. */
function readKnown(message: string, readers: readonly (FieldReader | undefined)[], object: Json, tag: number): void {
  checkTag(message, tag);
  const reader = readers[fieldNumber(tag)];
  if (reader) reader(object, tag & 7);
  else skipValue(tag & 7);
}

/** Yields while reading; other messages may be read meanwhile. */
export function* pause(): Steps<void> {
  const [reading, reached] = [currentReading(), depth];
  yield;
  resumeReading(reading);
  depth = reached;
}

/** Runs steps during which other messages may be read. */
function* keepingState<T>(steps: Steps<T>): Steps<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    yield* pause();
  }
}

/** Returns the way to read a large value into an object while yielding to the event loop; undefined for values that have none. */
function stepsOf({ readSteps, parseSteps }: ValueCodec): ((object: Json) => Steps<unknown>) | undefined {
  return readSteps ?? (parseSteps && (() => keepingState(parseSteps())));
}

/** Discards the state of a failed encoding or decoding. Must be called before each new one. */
export function resetMessages(): void {
  depth = 0;
  if (top > 0) slots.fill(undefined);
  top = 0;
}

const codecs = new WeakMap<StructType, MessageCodec | null>();

/** Returns the codec of a type; undefined for types without a protobuf form. */
export function messageCodec(type: StructType): MessageCodec | undefined {
  let codec = codecs.get(type);
  if (codec === undefined) {
    const found = type.registry?.messages?.messageOf(type.name);
    codec = found && type.registry ? new MessageCodec(type, new Compiler(type.registry), found.package, found.message) : null;
    codecs.set(type, codec);
  }
  return codec ?? undefined;
}

/** Creates readers and writers of message fields. */
class Compiler {
  constructor(readonly registry: SchemaRegistry) {}

  fields(
    type: StructType,
    slotOf: ReadonlyMap<string, number>,
    packageName: string,
    message: ProtobufMessage,
  ): { writers: FieldWriter[]; readers: (FieldReader | undefined)[] } {
    const writers: FieldWriter[] = [];
    const readers: (FieldReader | undefined)[] = [];
    // From last to first, the order in which bytes are written.
    for (const [name, number, messageType, cardinality] of [...message].sort((a, b) => b[1] - a[1])) {
      const field = fieldNamed(type, name);
      if (!field) {
        const inline = this.#inline(type, slotOf, packageName, messageType, number);
        writers.push(inline.writer);
        readers[number] = inline.reader;
        continue;
      }
      const slot = slotOf.get(field.name) as number;
      if (cardinality === 'repeated') {
        const item = this.#value(packageName, messageType, (field.type as ListType).items);
        writers.push(repeatedWriter(field.name, slot, number, item));
        readers[number] = repeatedReader(field.name, item);
      } else if (cardinality !== undefined) {
        const value = this.#value(packageName, messageType, (field.type as MapType).values);
        writers.push(mapWriter(field.name, slot, number, value));
        readers[number] = mapReader(field.name, value);
      } else {
        const value = this.#value(packageName, messageType, field.type);
        writers.push(singleWriter(field.name, slot, number, value, field.ptr || (value.nilable ?? false)));
        readers[number] = singleReader(field, value);
      }
    }
    return { writers, readers };
  }

  /** Handles an embedded Go struct, whose fields are inlined in JSON. */
  #inline(
    type: StructType,
    slotOf: ReadonlyMap<string, number>,
    packageName: string,
    messageType: string,
    number: number,
  ): { writer: FieldWriter; reader: FieldReader } {
    const found = this.#message(packageName, messageType);
    if (!found) throw new Error(`protobuf: ${type.name} has no field for ${messageType}`);
    const { writers, readers } = this.fields(type, slotOf, found.package, found.message);
    const tag = number * 8 + Wire.Length;
    return {
      writer: {
        write(base) {
          const before = writtenBytes();
          for (const writer of writers) writer.write(base);
          writeVarint(writtenBytes() - before);
          writeVarint(tag);
        },
        *lengthSteps(object) {
          let length = 0;
          for (const writer of writers) length += yield* writer.lengthSteps(object);
          return length + varintLength(length) + varintLength(tag);
        },
      },
      reader: inlineReader(readers, messageType),
    };
  }

  #value(packageName: string, messageType: string, type: Type): ValueCodec {
    const scalar = scalarCodecs[messageType];
    if (scalar) return scalar;
    const union = type.kind === 'raw' ? unionCodecs[type.name] : undefined;
    if (union) {
      const props = this.registry.struct('apiextensions_v1.JSONSchemaProps');
      return union(this.#struct(props), props);
    }
    const special = specialCodecs[messageType] ?? specialCodecs[`${packageName}.${messageType}`];
    if (special) return special;
    if (type.kind === 'struct') return this.#struct(type);
    if (type.kind === 'list') {
      const found = this.#message(packageName, messageType);
      const items = found?.message[0];
      if (found && items) return wrappedList(shortName(messageType), this.#value(found.package, items[2], type.items));
    }
    throw new Error(`protobuf: no codec for ${messageType} of ${packageName}`);
  }

  /** Returns a codec that is resolved on first use, since types may be recursive. */
  #struct(type: StructType): ValueCodec {
    let codec: MessageCodec | undefined;
    const get = (): MessageCodec => {
      codec ??= messageCodec(type);
      if (!codec) throw new Error(`protobuf: no message of ${type.name}`);
      return codec;
    };
    return {
      wire: Wire.Length,
      zero: () => ({}),
      write: (value) => (codec ?? get()).write(value),
      read: () => (codec ?? get()).read(),
      readInto: (object) => (codec ?? get()).readInto(object),
      readSteps: (object) => get().readSteps(object),
      lengthSteps: (value) => get().lengthSteps(value),
    };
  }

  #message(packageName: string, messageType: string): { package: string; message: ProtobufMessage } | undefined {
    const dot = messageType.lastIndexOf('.');
    const owner = dot < 0 ? packageName : messageType.slice(0, dot);
    const message = this.registry.messages?.messagesOf(owner)?.[messageType.slice(dot + 1)];
    return message && { package: owner, message };
  }
}

/** Reads the fields of an embedded Go struct into the object that embeds it. */
function inlineReader(readers: readonly (FieldReader | undefined)[], messageType: string): FieldReader {
  const name = shortName(messageType);
  const readField = (object: Json, tag: number): void => readKnown(name, readers, object, tag);
  const read = (object: Json, wire: number): void => {
    checkWire(wire, Wire.Length, name);
    const outer = enterPart();
    while (hasMore()) readField(object, readVarint());
    leavePart(outer);
  };
  return Object.assign(read, {
    *steps(object: Json): Steps<void> {
      const outer = enterPart();
      yield* fieldsSteps(object, readers, readField);
      leavePart(outer);
    },
  });
}

/** Reads fields up to the end of the current message. Yields to the event loop; other messages may be read meanwhile. */
function* fieldsSteps(
  object: Json,
  readers: readonly (FieldReader | undefined)[],
  readField: (object: Json, tag: number) => void,
): Steps<void> {
  for (let count = 1; hasMore(); count += 1) {
    if (count % valuesOfStep === 0) yield* pause();
    const tag = readVarint();
    const steps = readers[fieldNumber(tag)]?.steps;
    if (steps && (tag & 7) === Wire.Length && peekVarint() >= largePartBytes) yield* steps(object);
    else readField(object, tag);
  }
}

/** Returns a field by its name in generated.proto, which differs for some: `Webhooks`, `aPIGroup`, `ref` for `$ref`, `xKubernetesListType`. */
function fieldNamed(type: StructType, name: string): Field | undefined {
  const same = type.fields.get(name);
  if (same) return same;
  const plain = (text: string): string => text.replace(/[$-]/g, '').toLowerCase();
  for (const field of type.fields.values()) if (plain(field.name) === plain(name)) return field;
  return undefined;
}

/** Returns the number of bytes of a value, including its length prefix if it has one. */
function* valueLengthSteps(codec: ValueCodec, value: unknown): Steps<number> {
  return codec.lengthSteps ? yield* codec.lengthSteps(value) : lengthOfWritten(() => codec.write(value));
}

function singleWriter(name: string, slot: number, number: number, codec: ValueCodec, optional: boolean): FieldWriter {
  const tag = number * 8 + codec.wire;
  return {
    write(base) {
      const value = slots[base + slot];
      if (value === undefined && optional) return;
      codec.write(value);
      writeVarint(tag);
    },
    *lengthSteps(object) {
      const value = object[name] ?? undefined;
      return value === undefined && optional ? 0 : (yield* valueLengthSteps(codec, value)) + varintLength(tag);
    },
  };
}

function repeatedWriter(name: string, slot: number, number: number, codec: ValueCodec): FieldWriter {
  const tag = number * 8 + codec.wire;
  return {
    write(base) {
      const list = slots[base + slot] as readonly unknown[] | undefined;
      if (list !== undefined) writeEach(list, codec, tag);
    },
    *lengthSteps(object) {
      let length = 0;
      for (const [at, item] of ((object[name] ?? []) as readonly unknown[]).entries()) {
        if (codec.lengthSteps || at % valuesOfStep === 0) yield;
        length += (yield* valueLengthSteps(codec, item ?? undefined)) + varintLength(tag);
      }
      return length;
    },
  };
}

function mapWriter(name: string, slot: number, number: number, codec: ValueCodec): FieldWriter {
  const tag = number * 8 + Wire.Length;
  const valueTag = 2 * 8 + codec.wire;
  const hasValue = (value: unknown): boolean => value !== undefined || codec !== bytesCodec;
  return {
    write(base) {
      const map = slots[base + slot] as Json | undefined;
      if (map === undefined) return;
      const keys = sortedKeys(map);
      for (let i = keys.length - 1; i >= 0; i--) {
        const key = keys[i] as string;
        if (map[key] === undefined) continue;
        const value = map[key] ?? undefined;
        const before = writtenBytes();
        if (hasValue(value)) {
          codec.write(value);
          writeVarint(valueTag);
        }
        writeString(key);
        writeVarint(firstString);
        writeVarint(writtenBytes() - before);
        writeVarint(tag);
      }
    },
    *lengthSteps(object) {
      const map = (object[name] ?? {}) as Json;
      let length = 0;
      for (const [at, key] of keysOf(map).entries()) {
        if (codec.lengthSteps || at % valuesOfStep === 0) yield;
        if (map[key] === undefined) continue;
        const value = map[key] ?? undefined;
        const entry = lengthOfWritten(() => writeString(key)) + (hasValue(value) ? (yield* valueLengthSteps(codec, value)) + 1 : 0) + 1;
        length += entry + varintLength(entry) + varintLength(tag);
      }
      return length;
    },
  };
}

/** Go names that are not just capitalized. */
const goNames: Readonly<Record<string, string>> = {
  metadata: 'ObjectMeta',
  uid: 'UID',
  ip: 'IP',
  ipBlock: 'IPBlock',
  cidr: 'CIDR',
  reportingComponent: 'ReportingController',
  id: 'ID',
  url: 'URL',
  tls: 'TLS',
  apiVersion: 'APIVersion',
  apiGroup: 'APIGroup',
  apiGroups: 'APIGroups',
  fsType: 'FSType',
};

function goFieldName(name: string): string {
  const known = goNames[name];
  if (known !== undefined) return known;
  const joined = name
    .replace(/^\$|^x-kubernetes/, (start) => (start === '$' ? '' : 'x'))
    .replace(/-(.)/g, (_, char: string) => char.toUpperCase());
  return joined.charAt(0).toUpperCase() + joined.slice(1);
}

function singleReader({ name, type, ptr, always, omitzero }: Field, codec: ValueCodec): FieldReader {
  const keepsZero = ptr || (always && !omitzero);
  const set = (object: Json, value: unknown): void => {
    if (
      value === undefined ||
      (!keepsZero &&
        (value === '' ||
          value === 0 ||
          value === false ||
          (omitzero && isZero(type, value)) ||
          (Array.isArray(value) && value.length === 0)))
    ) {
      if (object[name] !== undefined) delete object[name];
    } else {
      object[name] = value;
    }
  };
  const read = (object: Json, wire: number): void => {
    checkWire(wire, codec.wire, goFieldName(name));
    const before = object[name];
    set(object, before !== undefined && codec.readInto ? codec.readInto(before as Json) : codec.read());
  };
  const readSteps = stepsOf(codec);
  if (!readSteps) return read;
  return Object.assign(read, {
    *steps(object: Json): Steps<void> {
      set(object, yield* readSteps((object[name] ?? {}) as Json));
    },
  });
}

function repeatedReader(name: string, codec: ValueCodec): FieldReader {
  const listIn = (object: Json): unknown[] => (object[name] ??= []) as unknown[];
  const read = (object: Json, wire: number): void => {
    const list = listIn(object);
    if (wire === Wire.Length && codec.wire !== Wire.Length) {
      // Numbers may be packed.
      readPart(() => {
        while (hasMore()) list.push(codec.read());
      });
      return;
    }
    checkWire(wire, codec.wire, goFieldName(name));
    list.push(codec.read() ?? null);
  };
  if (codec.wire !== Wire.Length) {
    return Object.assign(read, {
      *steps(object: Json): Steps<void> {
        const list = listIn(object);
        const outer = enterPart();
        while (hasMore()) {
          list.push(codec.read());
          if (list.length % valuesOfStep === 0) yield* pause();
        }
        leavePart(outer);
      },
    });
  }
  const readSteps = stepsOf(codec);
  if (!readSteps) return read;
  return Object.assign(read, {
    *steps(object: Json): Steps<void> {
      listIn(object).push((yield* readSteps({})) ?? null);
    },
  });
}

function mapReader(name: string, codec: ValueCodec): FieldReader {
  const entry = entryReading(codec);
  const add = (object: Json, read: unknown): void => {
    const [key, value] = read as MapEntry;
    setOwn((object[name] ??= {}) as Json, key, value);
  };
  const read = (object: Json, wire: number): void => {
    checkWire(wire, Wire.Length, goFieldName(name));
    add(object, entry.read());
  };
  return Object.assign(read, {
    *steps(object: Json): Steps<void> {
      add(object, yield* keepingState(entry.parseSteps()));
    },
  });
}
