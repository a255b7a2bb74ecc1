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
  for (let at = 0; at < text.length; ) {
    const isEscape = text.charCodeAt(at) >= escapeBase + 0x80 && text.charCodeAt(at) < escapeBase + 0x100;
    // The text up to the next surrogate that no other one precedes.
    const end = isEscape ? at + 1 : endOfText(text, at + 1);
    if (isEscape) bytes[length++] = text.charCodeAt(at) - escapeBase;
    else length += bytes.write(text.slice(at, end), length);
    at = end;
  }
  return bytes.subarray(0, length);
}

/** Returns the place of the next byte that a surrogate stands for. */
function endOfText(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    const isPaired = text.charCodeAt(at - 1) >= 0xd800 && text.charCodeAt(at - 1) < escapeBase;
    if (!isPaired && unit >= escapeBase + 0x80 && unit < escapeBase + 0x100) return at;
  }
  return text.length;
}

/** Number of bytes of the UTF-8 sequence that begins at a place; 0 if there is none. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] as number;
  const size = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  return size === 1 || (size > 0 && at + size <= bytes.length && isUtf8(bytes.subarray(at, at + size))) ? size : 0;
}

function codePoint(bytes: Uint8Array, at: number, size: number): number {
  const lead = bytes[at] as number;
  if (size === 0) return escapeBase + lead;
  let code = size === 1 ? lead : lead & (0x7f >> size);
  for (let i = 1; i < size; i += 1) code = (code << 6) | ((bytes[at + i] as number) & 0x3f);
  return code;
}
