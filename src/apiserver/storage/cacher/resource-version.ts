import { Buffer } from 'node:buffer';
import { quote } from '#apimachinery/runtime/quote';
import type { Revision } from '../storage.ts';

/**
 * Parses a resourceVersion like the versioner's ParseResourceVersion: '' and '0' are 0. Throws a plain error, answered with
 * 500, if it is not a uint64.
 */
export function parseResourceVersion(text: string): Revision {
  if (text === '') return 0;
  if (!/^[0-9]+$/.test(text))
    throw new Error(`resourceVersion: Invalid value: ${quote(text)}: strconv.ParseUint: parsing ${quote(text)}: invalid syntax`);
  if (text.length > 19 && BigInt(text) > 0xffff_ffff_ffff_ffffn) {
    throw new Error(`resourceVersion: Invalid value: ${quote(text)}: strconv.ParseUint: parsing ${quote(text)}: value out of range`);
  }
  return Number(text);
}

const quoteByte = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/**
 * Replaces metadata.resourceVersion in the JSON of an object. `bytes` must be JSON encoded by this server; throws if the
 * field is missing.
 */
export function spliceResourceVersion(bytes: Buffer, revision: Revision): Buffer {
  const start = resourceVersionAt(bytes);
  if (start < 0) throw new Error('object has no metadata.resourceVersion');
  const end = bytes.indexOf(quoteByte, start);
  const text = String(revision);
  const out = Buffer.allocUnsafe(bytes.length - (end - start) + text.length);
  bytes.copy(out, 0, 0, start);
  out.write(text, start, 'latin1');
  bytes.copy(out, start + text.length, end);
  return out;
}

const member = Buffer.from('"resourceVersion":"');

/**
 * Sets metadata.resourceVersion in the JSON of an object, with or without a previous one. Throws for JSON without metadata
 * or with whitespace.
 */
export function withResourceVersion(bytes: Buffer, revision: Revision): Buffer {
  if (resourceVersionAt(bytes) >= 0) return spliceResourceVersion(bytes, revision);
  const start = metadataAt(bytes);
  if (start < 0) throw new Error('object has no metadata');
  const isEmpty = bytes[start] === closeBrace;
  const text = Buffer.from(`"resourceVersion":"${revision}"${isEmpty ? '' : ','}`);
  return Buffer.concat([bytes.subarray(0, start), text, bytes.subarray(start)]);
}

/** Removes metadata.resourceVersion from the JSON of an object. */
export function withoutResourceVersion(bytes: Buffer): Buffer {
  const value = resourceVersionAt(bytes);
  if (value < 0) return bytes;
  let start = value - member.length;
  let end = bytes.indexOf(quoteByte, value) + 1;
  if (bytes[end] === comma) end++;
  else if (bytes[start - 1] === comma) start--;
  return Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
}

/**
 * Returns the position of the value's first digit, looking only at the keys of the object and of its metadata; -1 if there
 * is none.
 */
function resourceVersionAt(bytes: Buffer): number {
  const start = metadataAt(bytes);
  return start < 0 ? -1 : valueOf(bytes, start, 'resourceVersion');
}

/** Returns the position of the first member of metadata, or of its closing brace; -1 if there is no metadata. */
function metadataAt(bytes: Buffer): number {
  return valueOf(bytes, 1, 'metadata');
}

/**
 * Returns the position after the brace or quote that opens a member's value; `start` is the position after the brace of the
 * object. -1 if the member is missing.
 */
function valueOf(bytes: Buffer, start: number, name: string): number {
  let depth = 1;
  for (let i = start; i < bytes.length && depth > 0; i++) {
    const byte = bytes[i];
    if (byte === openBrace || byte === openBracket) depth++;
    else if (byte === closeBrace || byte === closeBracket) depth--;
    else if (byte === quoteByte) {
      const end = endOfString(bytes, i + 1);
      if (depth === 1 && bytes[end + 1] === colon && bytes.toString('latin1', i + 1, end) === name) return end + 3;
      i = end;
    }
  }
  return -1;
}

function endOfString(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(quoteByte, start); end >= 0; end = bytes.indexOf(quoteByte, end + 1)) {
    let slashes = 0;
    while (bytes[end - 1 - slashes] === backslash) slashes++;
    if (slashes % 2 === 0) return end;
  }
  throw new Error('object is not valid JSON: unterminated string');
}
