/**
 * Decodes one CBOR item into the corresponding JSON value. Upstream: fxamacker/cbor decode.go, with the options of
 * apimachinery/pkg/runtime/serializer/cbor/internal/modes/decode.go.
 *
 * Open containers are on an explicit stack, so that any well-formed depth can be read. If a type is given, the value is checked against it
 * with CBOR's messages, and unknown struct fields are skipped; `decode` afterwards does what JSON decoding would do (zero values, canonical
 * times and quantities).
 */
import { Buffer, isUtf8 } from 'node:buffer';
import { setOwn } from '#apimachinery/patch/own-property';
import { checkWellFormed, CborCursor, Info, itemsOfStep, Major, majorNames, Tag, unacceptable } from './cbor-wire.ts';
import { base64Problem } from '../decode.ts';
import { compareUtf8, DecodeError } from '../json/json.ts';
import { Float64, rereadFloat } from '../numbers.ts';
import { quote } from '../quote.ts';
import type { RawType } from '../schema.ts';
import { Code, goTypeName, type StructPlan, type ValuePlan, valuePlan } from '../struct-plan.ts';
import type { Steps } from '../steps.ts';
import { formatNanoTime, nanoTime } from '../time.ts';

export interface ReadCbor {
  readonly value: unknown;
  /** Offset of the first unknown key of a struct; undefined if there is none. */
  readonly unknownField: number | undefined;
}

type Json = Record<string, unknown>;

/** The type of any JSON value. */
export const anything: RawType = { kind: 'raw', name: 'interface {}' };

/**
 * Decodes one item into JSON, with the numbers of numbers.ts. Maps in raw parts of the plan have sorted keys, and if `sorts` all untyped
 * ones. Throws DecodeError.
 */
export function* readCbor(bytes: Buffer, plan?: ValuePlan, sorts = false): Steps<ReadCbor> {
  yield* checkWellFormed(bytes);
  return yield* readWellFormed(bytes, plan, sorts);
}

/** Like `readCbor`, for bytes that `checkWellFormed` has accepted. */
export function readWellFormed(bytes: Buffer, plan?: ValuePlan, sorts = false): Steps<ReadCbor> {
  return new Reading(bytes, sorts).read(plan);
}

/** Placeholder for a nested container that is not complete. */
const pending = Symbol('pending');

/** Encodings that tags announce for nested byte strings. RFC 8949, 3.4.5.2. */
const laterEncodings: ReadonlyMap<number, BufferEncoding> = new Map([
  [Tag.Base64Url, 'base64url'],
  [Tag.Base64, 'base64'],
  [Tag.Base16, 'hex'],
]);

interface KeptRaw {
  readonly name: string;
  /** Prefix of error messages. */
  readonly problem: string;
}

/** Types that keep the bytes of their value, and decode them after everything else. */
const keptRaw: ReadonlyMap<string, KeptRaw> = new Map([
  ['runtime.RawExtension', { name: 'RawExtension', problem: 'failed to parse RawExtension bytes as CBOR' }],
  ['meta_v1.FieldsV1', { name: 'FieldsV1', problem: 'metav1.FieldsV1 cbor invalid' }],
]);

const textPlan = valuePlan({ kind: 'scalar', scalar: 'string' });

/** State of an open container; reused for the next one of its depth. */
class Frame {
  container: unknown[] | Json = [];
  /** Number of remaining items or entries; Infinity for indefinite length. */
  left = 0;
  struct: StructPlan | undefined;
  /** Plan of the items or values; undefined for any. */
  items: ValuePlan | undefined;
  later: BufferEncoding | undefined;
  /** Index of the current item or entry. */
  index = -1;
  /** Current key; empty while it is being read. */
  key = '';
  /** Offset of the first unknown key of the struct. */
  unknown: number | undefined;
  /** Offset of the first unknown key in a nested container. */
  unknownInside: number | undefined;
  unknownKeys: Set<string | bigint> | undefined;

  put(value: unknown): void {
    const { container } = this;
    if (Array.isArray(container)) {
      container[this.index] = value;
      return;
    }
    if (this.struct === undefined && Object.hasOwn(container, this.key)) throw duplicate(this.key, this.index);
    setOwn(container, this.key, value);
  }
}

const beyondAscii = /[^\0-\x7f]/;

/** Returns an untyped map with sorted keys, as Go's maps are encoded. */
function* sorted(object: Json): Steps<Json> {
  const keys = Object.keys(object);
  const inOrder = yield* sortedRuns(keys);
  if (keys.every((key, i) => key === inOrder[i])) return object;
  const result: Json = {};
  for (const [i, key] of inOrder.entries()) {
    setOwn(result, key, object[key]);
    if (i % itemsOfStep === itemsOfStep - 1) yield;
  }
  return result;
}

/** Sorts in runs and merges them. */
function* sortedRuns(keys: readonly string[]): Steps<readonly string[]> {
  // In ASCII, UTF-16 order equals UTF-8 order.
  const isAscii = !keys.some((key) => beyondAscii.test(key));
  let runs: (readonly string[])[] = [];
  for (let from = 0; from < keys.length; from += itemsOfStep) {
    const run = keys.slice(from, from + itemsOfStep);
    runs.push(isAscii ? run.sort() : run.sort(compareUtf8));
    yield;
  }
  for (; runs.length > 1; yield) {
    const merged: (readonly string[])[] = [];
    for (let i = 0; i < runs.length; i += 2) {
      merged.push(mergedRuns(runs[i]!, runs[i + 1] ?? []));
      yield;
    }
    runs = merged;
  }
  return runs[0] ?? keys;
}

function mergedRuns(a: readonly string[], b: readonly string[]): readonly string[] {
  const merged: string[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) merged.push(compareUtf8(a[i]!, b[j]!) <= 0 ? a[i++]! : b[j++]!);
  return [...merged, ...a.slice(i), ...b.slice(j)];
}

function duplicate(key: string, index: number): DecodeError {
  return new DecodeError(`cbor: found duplicate map key ${quote(key)} at map element index ${index}`);
}

class Reading {
  readonly #cursor: CborCursor;
  readonly #frames: Frame[] = [];
  /** Number of open frames. */
  #depth = 0;
  #unknownField: number | undefined;
  /** The raw value that is being read, and the number of frames around it. */
  #raw: { readonly kept: KeptRaw | undefined; readonly depth: number } | undefined;

  constructor(
    bytes: Buffer,
    private readonly sorts: boolean,
  ) {
    this.#cursor = new CborCursor(bytes);
  }

  *read(plan: ValuePlan | undefined): Steps<ReadCbor> {
    try {
      let value = this.#item(plan, undefined, false);
      for (let read = 1; this.#depth > 0; read++) {
        const frame = this.#frames[this.#depth - 1]!;
        if (value !== pending) frame.put(value);
        value = this.#hasMore(frame) ? this.#next(frame) : yield* this.#close(frame);
        if (read % itemsOfStep === 0) yield;
      }
      return { value, unknownField: this.#unknownField };
    } catch (error) {
      if (!this.#raw?.kept || !(error instanceof DecodeError)) throw error;
      const { name, problem } = this.#raw.kept;
      throw new DecodeError(`failed to transcode ${name} to JSON: ${problem}: ${error.message}`, { cause: error });
    }
  }

  #hasMore(frame: Frame): boolean {
    if (frame.left === Infinity) return !this.#cursor.breaks();
    return frame.left-- > 0;
  }

  *#close(frame: Frame): Steps<unknown> {
    this.#depth -= 1;
    const isSorted = this.sorts || this.#raw !== undefined;
    if (this.#raw?.depth === this.#depth) this.#raw = undefined;
    const unknown = frame.unknown ?? frame.unknownInside;
    if (this.#depth > 0) this.#frames[this.#depth - 1]!.unknownInside ??= unknown;
    else this.#unknownField = unknown;
    const { container } = frame;
    const isTyped = frame.struct !== undefined || frame.items !== undefined;
    return !isSorted || isTyped || frame.index < 1 || Array.isArray(container) ? container : yield* sorted(container);
  }

  /** Reads the next item or value; returns `pending` for a container, or for a skipped value. */
  #next(frame: Frame): unknown {
    frame.index += 1;
    if (Array.isArray(frame.container)) return this.#item(frame.items, frame.later, false);
    frame.key = '';
    if (frame.struct) return this.#field(frame, frame.struct);
    // Null leaves Go's string unchanged.
    frame.key = (this.#item(textPlan, frame.later, false) as string | null) ?? '';
    return this.#item(frame.items, frame.later, false);
  }

  #field(frame: Frame, { byName }: StructPlan): unknown {
    const key = this.#fieldName();
    const field = typeof key === 'string' ? byName.get(key) : undefined;
    const container = frame.container as Json;
    if (!field) {
      frame.unknown ??= frame.index;
      this.#noteUnknown(frame, key);
      this.#cursor.skip();
      return pending;
    }
    if (Object.hasOwn(container, field.name)) throw duplicate(field.name, frame.index);
    container[field.name] = undefined;
    frame.key = field.name;
    return this.#item(field.value, frame.later, field.isPointer);
  }

  /** Reads a field name, or a number, which may be a name. */
  #fieldName(): string | bigint {
    const cursor = this.#cursor;
    const major = cursor.nextMajor();
    if (major > Major.Text)
      throw this.#mismatch(major, 'string', `map key is of type ${majorNames[major]} and cannot be used to match struct field name`);
    cursor.head();
    if (major === Major.Text) return this.#text();
    if (major === Major.Bytes) return cursor.text('utf8');
    const value = cursor.exactArgument();
    if (major === Major.Unsigned) return BigInt.asIntN(64, value);
    if (value > 0x7fff_ffff_ffff_ffffn) throw this.#mismatch(major, 'int64', `-1-${value} overflows Go's int64`);
    return -1n - value;
  }

  #noteUnknown(frame: Frame, key: string | bigint): void {
    const keys = (frame.unknownKeys ??= new Set());
    if (keys.has(key))
      throw typeof key === 'string'
        ? duplicate(key, frame.index)
        : new DecodeError(`cbor: found duplicate map key ${key} at map element index ${frame.index}`);
    keys.add(key);
  }

  /** Reads an item. `later` is the encoding of byte strings; `isPointer` is true if undefined is read as nil. */
  #item(plan: ValuePlan | undefined, later: BufferEncoding | undefined, isPointer: boolean): unknown {
    const cursor = this.#cursor;
    const isRaw = plan?.code === Code.Raw && plan.type !== anything;
    const kept = isRaw ? keptRaw.get((plan.type as RawType).name) : undefined;
    if (isRaw) this.#raw = { kept, depth: this.#depth };
    let encoding = kept ? undefined : later;
    let tag = -1;
    for (cursor.head(); cursor.major === Major.Tag; cursor.head()) {
      tag = cursor.argument;
      checkTag(tag, cursor.bytes[cursor.at]!);
      encoding = laterEncodings.get(tag) ?? encoding;
    }
    const value = this.#valueOf(plan, tag, encoding, isPointer);
    if (isRaw && value !== pending) this.#raw = undefined;
    return value;
  }

  #valueOf(plan: ValuePlan | undefined, tag: number, encoding: BufferEncoding | undefined, isPointer: boolean): unknown {
    const { major, info } = this.#cursor;
    if (major === Major.Simple && (info < Info.Float16 || info > Info.Float64)) return this.#simple(plan, isPointer);
    return plan === undefined || plan.code === Code.Raw ? this.#anything(tag, encoding) : this.#typed(plan, encoding);
  }

  #simple(plan: ValuePlan | undefined, isPointer: boolean): unknown {
    const { argument } = this.#cursor;
    switch (argument) {
      case Info.False:
      case Info.True:
        if (plan === undefined || plan.code === Code.Boolean || plan.code === Code.Raw) return argument === Info.True;
        throw this.#mismatch(Major.Simple, goNameOf(plan));
      case Info.Null:
        return null;
      case Info.Undefined:
        if (isPointer || (plan !== undefined && readsThroughPointer(plan.code))) return null;
        break;
      default:
        break;
    }
    throw unacceptable(majorNames[Major.Simple]!, `simple value ${argument} is not recognized`);
  }

  /** Reads an untyped item after its head and tag. */
  #anything(tag: number, encoding: BufferEncoding | undefined): unknown {
    const cursor = this.#cursor;
    if (tag === Tag.Rfc3339Time) return timeOf(this.#text());
    if (tag === Tag.EpochTime) return this.#epochTime();
    switch (cursor.major) {
      case Major.Unsigned:
      case Major.Negative:
        return this.#integer('int64', "Go's int64");
      case Major.Bytes:
        return cursor.text(encoding ?? 'utf8');
      case Major.Text:
        return this.#text();
      case Major.Array:
        return this.#begin(this.#newList(), undefined, undefined, encoding);
      case Major.Map:
        return this.#begin({}, undefined, undefined, encoding);
      default:
        return this.#float();
    }
  }

  /** Reads an untyped float as a float64; where bytes are kept, it passes through JSON. */
  #float(): number | bigint | Float64 {
    const value = this.#cursor.float();
    return this.#raw?.kept ? rereadFloat(value) : Float64.of(value);
  }

  #typed(plan: ValuePlan, encoding: BufferEncoding | undefined): unknown {
    const cursor = this.#cursor;
    const { major } = cursor;
    const isText = major === Major.Bytes || major === Major.Text;
    switch (plan.code) {
      case Code.String:
      case Code.Time:
      case Code.MicroTime:
      case Code.Quantity:
        if (isText) return this.#anything(-1, encoding);
        break;
      case Code.IntOrString:
        if (isText) return this.#anything(-1, encoding);
        if (major <= Major.Negative) return this.#integer('int32');
        break;
      case Code.Int32:
        if (major <= Major.Negative) return this.#integer('int32');
        break;
      case Code.Int64:
        if (major <= Major.Negative) return this.#integer('int64');
        break;
      case Code.Float64:
        if (major <= Major.Negative) return Number(this.#exactInteger());
        if (major === Major.Simple) return cursor.float();
        break;
      case Code.Bytes:
        if (major === Major.Bytes) return this.#bytes(encoding);
        if (major === Major.Array) return this.#listOfBytes();
        break;
      case Code.List:
        if (major === Major.Array) return this.#begin(this.#newList(), undefined, plan.items(), encoding);
        break;
      case Code.Map:
      case Code.StringMap:
        if (major === Major.Map) return this.#begin({}, undefined, plan.items(), encoding);
        break;
      case Code.Struct:
        if (major === Major.Map) return this.#begin({}, plan.struct(), undefined, encoding);
        if (major === Major.Array) throw this.#mismatch(major, goNameOf(plan), 'cannot decode CBOR array to struct without toarray option');
        break;
      default:
        break;
    }
    throw this.#mismatch(major, goNameOf(plan));
  }

  /** Creates a list with its final length. */
  #newList(): unknown[] {
    const { info, argument } = this.#cursor;
    return info === Info.Indefinite ? [] : new Array<unknown>(argument);
  }

  #begin(
    container: unknown[] | Json,
    struct: StructPlan | undefined,
    items: ValuePlan | undefined,
    encoding: BufferEncoding | undefined,
  ): unknown {
    const { info, argument } = this.#cursor;
    if (argument === 0) return container;
    const frame = (this.#frames[this.#depth++] ??= new Frame());
    frame.container = container;
    frame.left = info === Info.Indefinite ? Infinity : argument;
    frame.struct = struct;
    frame.items = items;
    frame.later = encoding;
    frame.index = -1;
    frame.key = '';
    frame.unknown = frame.unknownInside = frame.unknownKeys = undefined;
    return pending;
  }

  /** Reads bytes; without a tag they are the base64 of JSON. */
  #bytes(encoding: BufferEncoding | undefined): string {
    const bytes = this.#cursor.string();
    if (encoding !== undefined) return bytes.toString('base64');
    const text = bytes.toString('utf8');
    const problem = base64Problem(text);
    if (problem !== undefined) throw new DecodeError(`cbor: failed to decode base64 from byte string: ${problem}`);
    return text;
  }

  /** Reads a list of numbers as bytes, like Go. */
  #listOfBytes(): string {
    const cursor = this.#cursor;
    const isIndefinite = cursor.info === Info.Indefinite;
    const bytes: number[] = [];
    for (let left = cursor.argument; isIndefinite ? !cursor.breaks() : left > 0; left -= 1) {
      do cursor.head();
      while (cursor.major === Major.Tag);
      const { major, info } = cursor;
      if (major === Major.Simple && info === Info.Null) bytes.push(0);
      else if (major !== Major.Unsigned) throw this.#mismatch(major, 'uint8');
      else if (cursor.argument > 255) throw this.#mismatch(major, 'uint8', `${cursor.exactArgument()} overflows uint8`);
      else bytes.push(cursor.argument);
    }
    return Buffer.from(bytes).toString('base64');
  }

  #text(): string {
    const bytes = this.#cursor.string();
    if (!isUtf8(bytes)) throw new DecodeError('cbor: invalid UTF-8 string');
    return bytes.toString('utf8');
  }

  /** Returns the integer of the current head; a number if it is safe. */
  #exactInteger(): number | bigint {
    const { major, argument } = this.#cursor;
    const value = major === Major.Unsigned ? argument : -1 - argument;
    if (Number.isSafeInteger(value)) return value;
    const exact = this.#cursor.exactArgument();
    return major === Major.Unsigned ? exact : -1n - exact;
  }

  /** `destination` is the type in the message about an overflow. */
  #integer(goType: 'int32' | 'int64', destination: string = goType): number | bigint {
    const value = this.#exactInteger();
    if (typeof value === 'number' ? goType === 'int64' || (value | 0) === value : goType === 'int64' && BigInt.asIntN(64, value) === value)
      return value;
    const isBelowInt64 = value < -(2n ** 63n);
    throw this.#mismatch(this.#cursor.major, goType, `${value} overflows ${isBelowInt64 ? "Go's int64" : destination}`);
  }

  /** Reads a tagged number of seconds since 1970. */
  #epochTime(): string {
    if (this.#cursor.major === Major.Simple) return epochText(this.#cursor.float());
    const value = this.#exactInteger();
    if (typeof value === 'bigint' && BigInt.asIntN(64, value) !== value)
      throw this.#mismatch(this.#cursor.major, 'time.Time', `${value} overflows Go's int64`);
    return epochText(Number(value));
  }

  /** Returns the error with the outermost struct and its field, as Go's errors are wrapped. */
  #mismatch(major: Major, goType: string, note = ''): DecodeError {
    const root = this.#depth > 0 && !this.#raw?.kept ? this.#frames[0] : undefined;
    const place = root?.struct && root.key !== '' ? `Go struct field ${root.struct.type.goName}.${root.key}` : 'Go value';
    return new DecodeError(`cbor: cannot unmarshal ${majorNames[major]} into ${place} of type ${goType}${note && ` (${note})`}`);
  }
}

/** True if Go reads the type through a pointer, so that undefined is nil. */
function readsThroughPointer(code: Code): boolean {
  return code === Code.Time || code === Code.MicroTime || code === Code.Quantity;
}

/** Returns the Go type into which a CBOR value is read first. */
function goNameOf({ code, type }: ValuePlan): string {
  if (readsThroughPointer(code)) return 'string';
  return code === Code.IntOrString ? 'int32' : goTypeName(type);
}

/** Checks a tag; `next` is the first byte of the tagged item. */
function checkTag(tag: number, next: number): void {
  const major = next >> 5;
  if (tag === Tag.Rfc3339Time && major !== Major.Text)
    throw new DecodeError(`cbor: tag number 0 must be followed by text string, got ${majorNames[major]}`);
  if (tag === Tag.EpochTime && major > Major.Negative && (next < 0xf9 || next > 0xfb))
    throw new DecodeError(`cbor: tag number 1 must be followed by integer or floating-point number, got ${majorNames[major]}`);
}

function timeOf(text: string): string {
  try {
    return nanoTime(text);
  } catch (error) {
    throw new DecodeError(`cbor: cannot set ${text} for time.Time: ${(error as Error).message}`, { cause: error });
  }
}

function epochText(seconds: number): string {
  const text = formatNanoTime(seconds);
  if (text !== undefined) return text;
  throw new DecodeError(
    'cbor: decoded time cannot be represented in RFC3339 format with sub-second precision: Time.MarshalText: year outside of range [0,9999]',
  );
}
