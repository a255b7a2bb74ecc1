import { Buffer } from 'node:buffer';
import { tags } from './der-reader.ts';

/** Encodes one element of DER. */
export function element(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const length = contents.reduce((sum, { byteLength }) => sum + byteLength, 0);
  return Buffer.concat([Buffer.of(tag), encodedLength(length), ...contents]);
}

export function sequence(...elements: readonly Uint8Array[]): Buffer {
  return element(tags.sequence, ...elements);
}

export function set(...elements: readonly Uint8Array[]): Buffer {
  return element(tags.set, ...elements);
}

export function boolean(value: boolean): Buffer {
  return element(tags.boolean, Buffer.of(value ? 0xff : 0));
}

/** Encodes a non-negative number, or its big-endian bytes. */
export function integer(value: number | Uint8Array): Buffer {
  const hex = typeof value === 'number' ? value.toString(16) : Buffer.from(value).toString('hex');
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const shortest = bytes.subarray(start);
  return element(tags.integer, ...((shortest[0] ?? 0) >= 0x80 ? [Buffer.of(0)] : []), shortest);
}

export function octetString(content: Uint8Array): Buffer {
  return element(tags.octetString, content);
}

export function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return element(tags.bitString, Buffer.of(unusedBits), bytes);
}

export function utf8String(text: string): Buffer {
  return element(tags.utf8String, Buffer.from(text));
}

/** Encodes an identifier such as `1.2.840.113549`. */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...parts] = dotted.split('.').map(Number);
  return element(tags.objectIdentifier, Buffer.from([40 * first + second, ...parts].flatMap(base128)));
}

/** Encodes a UTCTime before 2050, a GeneralizedTime after: RFC 5280, section 4.1.2.5. */
export function time(date: Date): Buffer {
  const digits = `${date.toISOString().slice(0, 19).replaceAll(/\D/g, '')}Z`;
  return date.getUTCFullYear() < firstGeneralizedYear
    ? element(tags.utcTime, Buffer.from(digits.slice(2)))
    : element(tags.generalizedTime, Buffer.from(digits));
}

const firstGeneralizedYear = 2050;

function encodedLength(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const count = length < 0x100 ? 1 : length < 0x1_0000 ? 2 : 3;
  const bytes = Buffer.alloc(1 + count, 0x80 | count);
  bytes.writeUIntBE(length, 1, count);
  return bytes;
}

function base128(part: number): number[] {
  const bytes = [part & 0x7f];
  for (let rest = Math.floor(part / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift((rest & 0x7f) | 0x80);
  return bytes;
}
