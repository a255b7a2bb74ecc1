import { Buffer, isUtf8 } from 'node:buffer';

/** Low surrogates that stand for bytes: U+DC80 is byte 0x80. */
const escapeBase = 0xdc00;

/**
 * Returns the text of bytes. Bytes that are not UTF-8 become lone surrogates, as Python's `surrogateescape` does it (PEP 383), so that
 * `bytesOfText` restores them.
 */
export function textOfBytes(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  const units = new Uint16Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; ) {
    const size = sequenceLength(bytes, at);
    const code = codePoint(bytes, at, size);
    if (code < 0x1_0000) units[length++] = code;
    else {
      units[length++] = 0xd7c0 + (code >> 10);
      units[length++] = 0xdc00 + (code & 0x3ff);
    }
    at += Math.max(1, size);
  }
  return Buffer.from(units.buffer, 0, 2 * length).toString('utf16le');
}

/** Returns the bytes of a text: UTF-8, and the bytes for which lone surrogates stand. */
export function bytesOfText(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text);
  const bytes = Buffer.allocUnsafe(3 * text.length);
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.codePointAt(at) as number;
    if (code >= escapeBase + 0x80 && code < escapeBase + 0x100) bytes[length++] = code - escapeBase;
    else length = encode(code, bytes, length);
    if (code >= 0x1_0000) at += 1;
  }
  return bytes.subarray(0, length);
}

/** Writes a code point in UTF-8. Returns the place after it. */
function encode(code: number, bytes: Buffer, start: number): number {
  const size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x1_0000 ? 3 : 4;
  let rest = code;
  for (let at = start + size - 1; at > start; at -= 1) {
    bytes[at] = 0x80 | (rest & 0x3f);
    rest >>= 6;
  }
  bytes[start] = size === 1 ? rest : ((0xf00 >> size) & 0xff) | rest;
  return start + size;
}

const smallest = [0, 0, 0x80, 0x800, 0x1_0000];

/** Number of bytes of the UTF-8 sequence that begins at a place; 0 if there is none. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] as number;
  if (lead < 0x80) return 1;
  const size = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (size === 0 || at + size > bytes.length) return 0;
  for (let i = 1; i < size; i += 1) if (((bytes[at + i] as number) & 0xc0) !== 0x80) return 0;
  const code = codePoint(bytes, at, size);
  const isSurrogate = code >= 0xd800 && code < 0xe000;
  return code < (smallest[size] as number) || code > 0x10_ffff || isSurrogate ? 0 : size;
}

function codePoint(bytes: Uint8Array, at: number, size: number): number {
  const lead = bytes[at] as number;
  if (size === 0) return escapeBase + lead;
  let code = size === 1 ? lead : lead & (0x7f >> size);
  for (let i = 1; i < size; i += 1) code = (code << 6) | ((bytes[at + i] as number) & 0x3f);
  return code;
}
