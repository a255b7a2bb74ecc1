/**
 * The protobuf wire format. A message is written from its end to its start: when a length is written, its content exists already, so that
 * nothing is measured first. One message at a time is written or read, with the state in this module.
 */
import { Buffer } from 'node:buffer';
import { DecodeError } from '../json/json.ts';

export const enum Wire {
  Varint = 0,
  Fixed64 = 1,
  Length = 2,
  StartGroup = 3,
  EndGroup = 4,
  Fixed32 = 5,
}

let out = Buffer.allocUnsafeSlow(64 * 1024);
/** Number of written bytes, which are at the end of `out`. */
let written = 0;

/** Discards written bytes. */
export function startWriting(): void {
  written = 0;
}

/** Returns the number of written bytes: the length of a part is their difference. */
export function writtenBytes(): number {
  return written;
}

/** Returns a copy of the written bytes. */
export function takeWritten(): Buffer {
  const bytes = Buffer.allocUnsafe(written);
  out.copy(bytes, 0, out.length - written);
  return bytes;
}

/** Ensures room for `bytes` more bytes, and returns the index after their end. */
function reserve(bytes: number): number {
  const end = out.length - written;
  if (bytes <= end) return end;
  const larger = Buffer.allocUnsafeSlow(Math.max(2 * out.length, written + bytes));
  out.copy(larger, larger.length - written, end);
  out = larger;
  return larger.length - written;
}

/** Returns the number of bytes that a writer writes. Discards previously written bytes. */
export function lengthOfWritten(write: () => void): number {
  startWriting();
  write();
  return writtenBytes();
}

/** Returns the number of bytes of an unsigned number below 2^53. */
export function varintLength(value: number): number {
  if (value < 0x80) return 1;
  return value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : Math.floor(Math.log2(value) / 7) + 1;
}

/** Writes an unsigned number below 2^53. */
export function writeVarint(value: number): void {
  if (value < 0x80) {
    const at = reserve(1) - 1;
    out[at] = value;
    written += 1;
    return;
  }
  const size = varintLength(value);
  let at = reserve(size) - size;
  written += size;
  let rest = value;
  for (; rest > 0x7fffffff; rest = Math.floor(rest / 128)) out[at++] = (rest % 128) | 0x80;
  for (; rest >= 0x80; rest >>>= 7) out[at++] = (rest & 0x7f) | 0x80;
  out[at] = rest;
}

/** Writes an int32 or int64; negative ones take ten bytes. */
export function writeInteger(value: number | bigint): void {
  if (typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER) return writeVarint(value);
  let rest = BigInt.asUintN(64, BigInt(value));
  const groups: number[] = [];
  for (; rest >= 0x80n; rest >>= 7n) groups.push(Number(rest & 0x7fn) | 0x80);
  groups.push(Number(rest));
  writeRaw(Uint8Array.from(groups));
}

export function writeDouble(value: number): void {
  const at = reserve(8) - 8;
  out.writeDoubleLE(value, at);
  written += 8;
}

export function writeFixed64(value: bigint): void {
  const at = reserve(8) - 8;
  out.writeBigUInt64LE(value, at);
  written += 8;
}

/** Writes bytes without a length. */
export function writeRaw(bytes: Uint8Array): void {
  const at = reserve(bytes.length) - bytes.length;
  out.set(bytes, at);
  written += bytes.length;
}

/** Up to this number of characters, a loop is faster than a native call. */
const shortString = 40;

/** Writes UTF-8 with a length prefix. */
export function writeString(text: string): void {
  const { length } = text;
  if (length <= shortString) {
    const end = reserve(length);
    let at = end - length;
    let i = 0;
    for (; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code >= 0x80) break;
      out[at++] = code;
    }
    if (i === length) {
      written += length;
      return writeVarint(length);
    }
  }
  const size = Buffer.byteLength(text);
  const at = reserve(size) - size;
  out.write(text, at, size);
  written += size;
  writeVarint(size);
}

let bytes: Buffer = Buffer.alloc(0);
let at = 0;
let end = 0;

/** Starts reading `input`. */
export function startReading(input: Buffer): void {
  bytes = input;
  at = 0;
  end = input.length;
}

/** The input and the position in it. */
export interface Reading {
  readonly bytes: Buffer;
  readonly at: number;
  readonly end: number;
}

/** Returns the state for `resumeReading`, if another input may be read meanwhile. */
export function currentReading(): Reading {
  return { bytes, at, end };
}

export function resumeReading(reading: Reading): void {
  ({ bytes, at, end } = reading);
}

/** Returns the next number without consuming it. */
export function peekVarint(): number {
  const from = at;
  const value = readVarint();
  at = from;
  return value;
}

/** True if the current message has more fields. */
export function hasMore(): boolean {
  return at < end;
}

const unexpectedEnd = (): DecodeError => new DecodeError('unexpected EOF');

/** Returns the length of a part, which must be within the message. */
function readLength(): number {
  const length = readVarint();
  if (length >= 2 ** 63) throw new DecodeError('proto: negative length found during unmarshaling');
  if (at + length > end) throw unexpectedEnd();
  return length;
}

/** Enters a length-delimited part; the result must be passed to `leavePart`. */
export function enterPart(): number {
  const length = readLength();
  const outer = end;
  end = at + length;
  return outer;
}

export function leavePart(outer: number): void {
  at = end;
  end = outer;
}

/** Begins an entry of a map, and returns its end. As in Go, a key or value ends within the message of the map, but may exceed the entry. */
export function enterEntry(): number {
  const length = readLength();
  return at + length;
}

/** True if the entry has more fields. */
export function hasMoreOf(entryEnd: number): boolean {
  return at < entryEnd;
}

export function leaveEntry(entryEnd: number): void {
  at = entryEnd;
}

/** Skips the value of an unknown field of an entry. */
export function skipInEntry(wire: number, entryEnd: number): void {
  skipValue(wire);
  if (at > entryEnd) throw unexpectedEnd();
}

/** Returns the field number of a tag: an int32, as in Go. */
export function fieldNumber(tag: number): number {
  return Math.floor(tag / 8) | 0;
}

/** Throws DecodeError for a tag that no message may have. */
export function checkTag(message: string, tag: number): void {
  const wire = tag & 7;
  if (wire === Wire.EndGroup) throw new DecodeError(`proto: ${message}: wiretype end group for non-group`);
  const number = fieldNumber(tag);
  if (number <= 0) throw new DecodeError(`proto: ${message}: illegal tag ${number} (wire type ${wire})`);
}

export function checkWire(wire: number, wanted: number, goName: string): void {
  if (wire !== wanted) throw new DecodeError(`proto: wrong wireType = ${wire} for field ${goName}`);
}

/** Reads an unsigned number, inexact above 2^53: for tags, lengths and booleans. */
export function readVarint(): number {
  let value = 0;
  let scale = 1;
  for (let i = 0; i < 10; i++) {
    if (at >= end) throw unexpectedEnd();
    const byte = bytes[at++] as number;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
    scale *= 128;
  }
  throw new DecodeError('proto: integer overflow');
}

/** Reads an int64; a number if that is exact. */
export function readInt64(): number | bigint {
  const start = at;
  const value = readVarint();
  if (value <= Number.MAX_SAFE_INTEGER) return value;
  at = start;
  const signed = BigInt.asIntN(64, readBigVarint());
  return signed >= BigInt(Number.MIN_SAFE_INTEGER) && signed <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(signed) : signed;
}

/** Reads an int32: the low 32 bits. */
export function readInt32(): number {
  const start = at;
  const value = readVarint();
  if (value <= 0x7fffffff) return value;
  at = start;
  return Number(BigInt.asIntN(32, readBigVarint()));
}

function readBigVarint(): bigint {
  let value = 0n;
  for (let shift = 0n; ; shift += 7n) {
    const byte = bytes[at++] as number;
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

export function readDouble(): number {
  if (at + 8 > end) throw unexpectedEnd();
  at += 8;
  return bytes.readDoubleLE(at - 8);
}

export function readFixed64(): bigint {
  if (at + 8 > end) throw unexpectedEnd();
  at += 8;
  return bytes.readBigUInt64LE(at - 8);
}

/** Returns a view of a length-delimited part. */
export function readBytes(): Buffer {
  const length = readLength();
  at += length;
  return bytes.subarray(at - length, at);
}

export function readString(): string {
  const length = readLength();
  at += length;
  return bytes.toString('utf8', at - length, at);
}

/** Skips the value of an unknown field; a group with all its fields. Upstream: gogo/protobuf, skipGenerated. */
export function skipValue(wire: number): void {
  if (wire === Wire.StartGroup) return skipGroup();
  skipSingle(wire);
  if (at > end) throw unexpectedEnd();
}

function skipGroup(): void {
  for (let depth = 1; depth > 0; ) {
    if (at >= end) throw unexpectedEnd();
    const wire = readVarint() & 7;
    if (wire === Wire.StartGroup) depth++;
    else if (wire === Wire.EndGroup) depth--;
    else skipSingle(wire);
  }
  if (at > end) throw unexpectedEnd();
}

function skipSingle(wire: number): void {
  switch (wire) {
    case Wire.Varint:
      readVarint();
      return;
    case Wire.Fixed64:
      at += 8;
      return;
    case Wire.Length:
      readBytes();
      return;
    case Wire.Fixed32:
      at += 4;
      return;
    case Wire.EndGroup:
      throw new DecodeError('proto: unexpected end of group');
    default:
      throw new DecodeError(`proto: illegal wireType ${wire}`);
  }
}
