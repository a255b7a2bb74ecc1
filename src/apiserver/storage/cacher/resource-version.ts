import { Buffer } from 'node:buffer';
import { quote } from '#apimachinery/runtime/quote';
import type { Revision } from '../storage.ts';

/** As the versioner's ParseResourceVersion: '' and '0' are 0. Throws a plain error (which is answered with 500) for what is no uint64. */
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
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/**
 * The JSON of an object with another metadata.resourceVersion. The bytes are JSON that the server encoded itself, with
 * metadata.resourceVersion in it (a string, without escapes); throws if it is not there.
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

/** Where the value's first digit stands: only keys are looked at, of the object itself and of its metadata. -1: nowhere. */
function resourceVersionAt(bytes: Buffer): number {
  let depth = 0;
  let inMetadata = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === openBrace || byte === openBracket) depth++;
    else if (byte === closeBrace || byte === closeBracket) {
      if (--depth === 1) inMetadata = false;
    } else if (byte === quoteByte) {
      const end = endOfString(bytes, i + 1);
      if (depth === 1 && bytes[end + 1] === colon) inMetadata = bytes.toString('latin1', i + 1, end) === 'metadata';
      else if (depth === 2 && inMetadata && bytes[end + 1] === colon && bytes.toString('latin1', i + 1, end) === 'resourceVersion')
        return end + 3;
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
  throw new Error('object is no JSON: a string has no end');
}
