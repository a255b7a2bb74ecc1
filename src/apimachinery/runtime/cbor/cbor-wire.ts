/** CBOR items (RFC 8949): heads, strings, floats. */
import { Buffer } from 'node:buffer';
import { DecodeError } from '../json/json.ts';
import type { Steps } from '../steps.ts';

/** The high three bits of an item's first byte. */
export const enum Major {
  Unsigned,
  Negative,
  Bytes,
  Text,
  Array,
  Map,
  Tag,
  Simple,
}

/** Names of major types in fxamacker/cbor. */
export const majorNames: readonly string[] = [
  'positive integer',
  'negative integer',
  'byte string',
  'UTF-8 text string',
  'array',
  'map',
  'tag',
  'primitives',
];

/** Special values of the low five bits of a first byte. */
export const Info = { False: 20, True: 21, Null: 22, Undefined: 23, Float16: 25, Float32: 26, Float64: 27, Indefinite: 31 } as const;

/** End of an item of indefinite length. */
export const breakByte = 0xff;

/** Tags with a meaning in the API. */
export const Tag = { Rfc3339Time: 0, EpochTime: 1, UnsignedBignum: 2, NegativeBignum: 3, Base64Url: 21, Base64: 22, Base16: 23 } as const;

const maxNestedLevels = 10_000;
const maxArrayElements = 2_147_483_647;
const maxMapPairs = 2_097_152;
const uint32 = 0x1_0000_0000;
/** Lengths from here on are negative as a Go int. */
const int64Range = 2 ** 63;

/**
 * Reads item heads in sequence. It only checks that there are bytes; for bytes that may be malformed, the caller checks everything else.
 */
export class CborCursor {
  at = 0;
  major: Major = Major.Unsigned;
  info = 0;
  /** The number in the head, rounded above 2^53; see `exactArgument`. */
  argument = 0;

  constructor(readonly bytes: Buffer) {}

  /** Reads a head. Throws DecodeError if the bytes end within it. */
  head(): void {
    const { bytes } = this;
    if (this.at >= bytes.length) throw unexpectedEnd();
    const first = bytes[this.at++]!;
    const info = first & 31;
    this.major = first >> 5;
    this.info = info;
    this.argument = info;
    if (info < 24 || info > 27) return;
    const size = 1 << (info - 24);
    const at = this.at;
    if (bytes.length - at < size) throw unexpectedEnd();
    this.at = at + size;
    if (info === 24) this.argument = bytes[at]!;
    else if (info === 25) this.argument = bytes.readUInt16BE(at);
    else if (info === 26) this.argument = bytes.readUInt32BE(at);
    else this.argument = bytes.readUInt32BE(at) * uint32 + bytes.readUInt32BE(at + 4);
  }

  /** Returns the exact number in the current head. */
  exactArgument(): bigint {
    return this.info === Info.Float64 ? this.bytes.readBigUInt64BE(this.at - 8) : BigInt(this.argument);
  }

  /** Returns the float of the current head. */
  float(): number {
    if (this.info === Info.Float32) return this.bytes.readFloatBE(this.at - 4);
    return this.info === Info.Float64 ? this.bytes.readDoubleBE(this.at - 8) : halfFloat(this.argument);
  }

  nextMajor(): Major {
    return this.bytes[this.at]! >> 5;
  }

  /** Consumes the next byte if it ends an item of indefinite length; returns true then. */
  breaks(): boolean {
    if (this.bytes[this.at] !== breakByte) return false;
    this.at += 1;
    return true;
  }

  /** Returns the contents of the current string, concatenated if it has chunks. */
  string(): Buffer {
    if (this.info === Info.Indefinite) return this.#chunks();
    const start = this.at;
    this.at += this.argument;
    return this.bytes.subarray(start, this.at);
  }

  /** Returns `string()` decoded as text. */
  text(encoding: BufferEncoding): string {
    if (this.info === Info.Indefinite) return this.#chunks().toString(encoding);
    if (this.argument === 0) return '';
    const start = this.at;
    this.at += this.argument;
    return this.bytes.toString(encoding, start, this.at);
  }

  #chunks(): Buffer {
    const begin = this.at;
    let length = 0;
    while (!this.breaks()) {
      this.head();
      this.at += this.argument;
      length += this.argument;
    }
    const end = this.at;
    const contents = Buffer.allocUnsafe(length);
    let written = 0;
    for (this.at = begin; !this.breaks(); written += this.argument) {
      this.head();
      for (let i = 0; i < this.argument; i++) contents[written + i] = this.bytes[this.at + i]!;
      this.at += this.argument;
    }
    this.at = end;
    return contents;
  }

  /** Skips one well-formed item. */
  skip(): void {
    /** Remaining items of each open container; Infinity for indefinite length. */
    const open: number[] = [];
    for (let left = 1; ; left = open.pop()!) {
      while (left > 0) {
        if (left === Infinity ? this.breaks() : false) break;
        left -= 1;
        const inside = this.#skipHead();
        if (inside === 0) continue;
        open.push(left);
        left = inside;
      }
      if (open.length === 0) return;
    }
  }

  /** Skips a head and its string or float. Returns the number of its items. */
  #skipHead(): number {
    this.head();
    switch (this.major) {
      case Major.Bytes:
      case Major.Text:
        if (this.info === Info.Indefinite) return Infinity;
        this.at += this.argument;
        return 0;
      case Major.Array:
        return this.info === Info.Indefinite ? Infinity : this.argument;
      case Major.Map:
        return this.info === Info.Indefinite ? Infinity : 2 * this.argument;
      case Major.Tag:
        return 1;
      default:
        return 0;
    }
  }
}

function unexpectedEnd(): DecodeError {
  return new DecodeError('unexpected EOF');
}

/** A cursor over untrusted bytes. */
class UncheckedCursor extends CborCursor {
  /** Depth of the current head in containers and nested tags. */
  depth = 0;
}

/** Number of items between two checks of the clock. */
export const itemsOfStep = 4096;

/**
 * Throws DecodeError unless the bytes are exactly one CBOR item in the dialect of the API: no bignums, NaN or infinity. Upstream:
 * fxamacker/cbor valid.go, with the options of apimachinery/pkg/runtime/serializer/cbor/internal/modes/decode.go.
 */
export function* checkWellFormed(bytes: Buffer): Steps<void> {
  if (bytes.length === 0) throw new DecodeError('EOF');
  const cursor = new UncheckedCursor(bytes);
  // Stacks of the open containers.
  const majors: Major[] = [];
  const depths: number[] = [];
  /** Number of remaining items of each; Infinity for indefinite length. */
  const left: number[] = [];
  /** Number of checked items of each. */
  const had: number[] = [];
  let depth = 0;
  for (let checked = 1; ; checked++) {
    const items = checkItem(cursor, depth);
    if (items > 0) {
      majors.push(cursor.major);
      depths.push((depth = cursor.depth + 1));
      left.push(items);
      had.push(0);
    }
    let top = left.length - 1;
    for (; top >= 0 && (left[top] === 0 || (left[top] === Infinity && cursor.breaks())); top--) {
      if (majors[top] === Major.Map && had[top]! % 2 === 1) throw new DecodeError('cbor: unexpected "break" code');
      majors.pop();
      depths.pop();
      left.pop();
      had.pop();
    }
    if (top < 0) break;
    depth = depths[top]!;
    left[top]! -= 1;
    had[top]! += 1;
    if (majors[top] === Major.Map && had[top]! / 2 > maxMapPairs) throw tooManyPairs();
    if (checked % itemsOfStep === 0) yield;
  }
  const rest = bytes.length - cursor.at;
  if (rest > 0) throw new DecodeError(`cbor: ${rest} bytes of extraneous data starting at index ${cursor.at}`);
}

/**
 * Checks an item with its tags. For an array or map, it checks the head, returns the number of items, and sets the cursor's depth. `depth`
 * is that of the containers and tags around it.
 */
function checkItem(cursor: UncheckedCursor, depth: number): number {
  checkHead(cursor);
  for (let inner = depth; cursor.major === Major.Tag; depth = inner++) {
    if (inner > maxNestedLevels) throw tooDeep();
    if (cursor.at >= cursor.bytes.length) throw unexpectedEnd();
    if (cursor.argument === Tag.UnsignedBignum || cursor.argument === Tag.NegativeBignum) throw unacceptable('tag', 'bignum');
    checkHead(cursor);
  }
  const { major } = cursor;
  if (major === Major.Bytes || major === Major.Text) checkString(cursor);
  else if (major === Major.Array || major === Major.Map) {
    if (depth >= maxNestedLevels) throw tooDeep();
    cursor.depth = depth;
    return itemsOf(cursor);
  }
  return 0;
}

function tooDeep(): DecodeError {
  return new DecodeError(`cbor: exceeded max nested level ${maxNestedLevels}`);
}

function tooManyPairs(): DecodeError {
  return new DecodeError(`cbor: exceeded max number of key-value pairs ${maxMapPairs} for CBOR map`);
}

/** Returns the error for an unsupported item; `kind` is its type. */
export function unacceptable(kind: string, what: string): DecodeError {
  return new DecodeError(`cbor: data item of cbor type ${kind} is not accepted by protocol: ${what}`);
}

function checkHead(cursor: CborCursor): void {
  cursor.head();
  const { major, info, argument } = cursor;
  if (info < 24) return;
  if (info > 27) {
    if (info === Info.Indefinite) {
      if (major >= Major.Bytes && major <= Major.Map) return;
      if (major === Major.Simple) throw new DecodeError('cbor: unexpected "break" code');
    }
    throw new DecodeError(`cbor: invalid additional information ${info} for type ${majorNames[major]}`);
  }
  if (major !== Major.Simple) return;
  if (info === 24) {
    if (argument < 32) throw new DecodeError(`cbor: invalid simple value ${argument} for type ${majorNames[major]}`);
    return;
  }
  const value = cursor.float();
  if (!Number.isFinite(value)) throw unacceptable(majorNames[major]!, `floating-point ${Number.isNaN(value) ? 'NaN' : 'infinity'}`);
}

function checkString(cursor: CborCursor): void {
  const { major } = cursor;
  if (cursor.info !== Info.Indefinite) return checkContents(cursor);
  while (!cursor.breaks()) {
    if (cursor.at >= cursor.bytes.length) throw unexpectedEnd();
    const chunk = cursor.nextMajor();
    if (chunk !== major) throw new DecodeError(`cbor: wrong element type ${majorNames[chunk]} for indefinite-length ${majorNames[major]}`);
    checkHead(cursor);
    if (cursor.info === Info.Indefinite) throw new DecodeError(`cbor: indefinite-length ${majorNames[major]} chunk is not definite-length`);
    checkContents(cursor);
  }
}

function checkContents(cursor: CborCursor): void {
  if (cursor.argument >= int64Range) throw new DecodeError(`${lengthOf(cursor)}, causing integer overflow`);
  if (cursor.bytes.length - cursor.at < cursor.argument) throw unexpectedEnd();
  cursor.at += cursor.argument;
}

function lengthOf(cursor: CborCursor): string {
  return `cbor: ${majorNames[cursor.major]} length ${cursor.exactArgument()} is too large`;
}

function itemsOf(cursor: CborCursor): number {
  if (cursor.info === Info.Indefinite) return Infinity;
  const { argument, major } = cursor;
  if (argument >= int64Range) throw new DecodeError(`${lengthOf(cursor)}, it would cause integer overflow`);
  if (major === Major.Map) {
    if (argument > maxMapPairs) throw tooManyPairs();
    return 2 * argument;
  }
  if (argument > maxArrayElements) throw new DecodeError(`cbor: exceeded max number of elements ${maxArrayElements} for CBOR array`);
  return argument;
}

/** Decodes a binary16. */
function halfFloat(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const mantissa = bits & 1_023;
  const sign = bits & 0x8000 ? -1 : 1;
  if (exponent === 0) return sign * mantissa * 2 ** -24;
  if (exponent === 31) return mantissa ? Number.NaN : sign * Infinity;
  return sign * (1_024 + mantissa) * 2 ** (exponent - 25);
}

/** Returns the bits of the equal binary16; undefined if there is none. */
function halfBits(value: number): number | undefined {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size === 0) return sign;
  if (size >= 65_536) return undefined;
  const exponent = Math.max(Math.floor(Math.log2(size)), -14);
  const mantissa = size / 2 ** (exponent - 10);
  if (!Number.isInteger(mantissa) || mantissa >= 2_048) return undefined;
  return sign | (mantissa < 1_024 ? mantissa : ((exponent + 15) << 10) | (mantissa - 1_024));
}

/** Strings shorter than this are written by a loop, which is faster than a native call. */
const shortText = 24;

/** A growing buffer for CBOR items. */
export class CborWriter {
  #buffer = Buffer.allocUnsafe(1024);
  #length = 0;

  /** Returns the written bytes. Nothing may be written afterwards. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  raw(bytes: Uint8Array): void {
    const at = this.#reserve(bytes.length);
    this.#buffer.set(bytes, at);
  }

  byte(value: number): void {
    const at = this.#reserve(1);
    this.#buffer[at] = value;
  }

  /** Writes a head: major type and number, in the fewest bytes. */
  head(major: Major, value: number | bigint): void {
    const first = major << 5;
    if (value < 24) return this.byte(first | Number(value));
    const size = value < 0x100 ? 0 : value < 0x1_0000 ? 1 : value < uint32 ? 2 : 3;
    const at = this.#reserve(1 + (1 << size));
    this.#buffer[at] = first | (24 + size);
    if (size === 3) this.#buffer.writeBigUInt64BE(BigInt(value), at + 1);
    else this.#buffer.writeUIntBE(Number(value), at + 1, 1 << size);
  }

  /** Writes a string as a byte string, which readers need not validate as UTF-8. */
  text(text: string): void {
    if (text.length < shortText && this.#shortText(text)) return;
    const length = Buffer.byteLength(text);
    this.head(Major.Bytes, length);
    const at = this.#reserve(length);
    this.#buffer.write(text, at);
  }

  /** Writes the text if it is ASCII; returns true then. */
  #shortText(text: string): boolean {
    const { length } = text;
    const start = this.#reserve(1 + length);
    const buffer = this.#buffer;
    buffer[start] = (Major.Bytes << 5) | length;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) {
        this.#length = start;
        return false;
      }
      buffer[start + 1 + i] = code;
    }
    return true;
  }

  integer(value: number | bigint): void {
    if (value >= 0) this.head(Major.Unsigned, value);
    else this.head(Major.Negative, typeof value === 'bigint' ? -1n - value : -1 - value);
  }

  /** Writes the narrowest lossless float. */
  float(value: number): void {
    const half = halfBits(value);
    if (half !== undefined) {
      const at = this.#reserve(3);
      this.#buffer[at] = 0xf9;
      this.#buffer.writeUInt16BE(half, at + 1);
    } else if (Math.fround(value) === value) {
      const at = this.#reserve(5);
      this.#buffer[at] = 0xfa;
      this.#buffer.writeFloatBE(value, at + 1);
    } else {
      const at = this.#reserve(9);
      this.#buffer[at] = 0xfb;
      this.#buffer.writeDoubleBE(value, at + 1);
    }
  }

  #reserve(count: number): number {
    const at = this.#length;
    this.#length += count;
    if (this.#length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#length, 2 * this.#buffer.length));
      larger.set(this.#buffer.subarray(0, at));
      this.#buffer = larger;
    }
    return at;
  }
}
