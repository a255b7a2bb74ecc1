import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';

/** A range of a content. */
export interface ByteRange {
  readonly start: number;
  readonly length: number;
}

/** Error of a Range header in Go's words. */
export interface InvalidRange {
  readonly message: string;
  /** True if the header is well-formed but no range is within the content. */
  readonly isOutside: boolean;
}

const invalid: InvalidRange = { message: 'invalid range', isOutside: false };
const outside: InvalidRange = { message: 'invalid range: failed to overlap', isOutside: true };
const unit = 'bytes=';

/**
 * Parses a Range header (RFC 9110, 14.2) like Go (net/http/fs.go, parseRange and serveContent). Returns no ranges if the whole content
 * must be sent: without the header, and for ranges that together exceed the content.
 *
 *     size 10: `bytes=0-3,-2` -> [0, 4), [8, 10)
 */
export function byteRanges(header: string | undefined, size: number): readonly ByteRange[] | InvalidRange {
  if (!header) return [];
  if (!header.startsWith(unit)) return invalid;
  const ranges: ByteRange[] = [];
  let isOutside = false;
  for (const part of header.slice(unit.length).split(',')) {
    const text = part.trim();
    if (text === '') continue;
    const dash = text.indexOf('-');
    if (dash < 0) return invalid;
    const first = numberOf(text.slice(0, dash));
    const last = numberOf(text.slice(dash + 1));
    if (Number.isNaN(first) || Number.isNaN(last) || (first === undefined && last === undefined)) return invalid;
    if (first === undefined) {
      const length = Math.min(last as number, size);
      ranges.push({ start: size - length, length });
    } else if (first >= size) {
      isOutside = true;
    } else {
      if (last !== undefined && first > last) return invalid;
      ranges.push({ start: first, length: Math.min(last ?? Infinity, size - 1) - first + 1 });
    }
  }
  if (ranges.length === 0) return isOutside && size > 0 ? outside : [];
  return ranges.reduce((sum, { length }) => sum + length, 0) > size ? [] : ranges;
}

/** Parses a number; undefined for an empty text, NaN for another one. */
function numberOf(text: string): number | undefined {
  const digits = text.trim();
  if (digits === '') return undefined;
  return /^\d+$/.test(digits) ? Number(digits) : Number.NaN;
}

/** Returns the bytes of a range of a content in several buffers. */
export function bytesOf(pieces: readonly Buffer[], { start, length }: ByteRange): Buffer {
  const found: Buffer[] = [];
  let before = 0;
  for (const piece of pieces) {
    const from = Math.max(start - before, 0);
    const to = Math.min(start + length - before, piece.length);
    if (from < to) found.push(piece.subarray(from, to));
    before += piece.length;
  }
  return Buffer.concat(found, length);
}

/** Returns the Content-Range: RFC 9110, 14.4. */
export function contentRange({ start, length }: ByteRange, size: number): string {
  return `bytes ${start}-${start + length - 1}/${size}`;
}

/** Returns a multipart response with several ranges: RFC 9110, 14.6. */
export function multipartRanges(
  pieces: readonly Buffer[],
  size: number,
  contentType: string,
  ranges: readonly ByteRange[],
): { readonly contentType: string; readonly body: Buffer } {
  const boundary = randomBytes(30).toString('hex');
  const parts = ranges.flatMap((range, i) => [
    Buffer.from(
      `${i === 0 ? '' : '\r\n'}--${boundary}\r\nContent-Range: ${contentRange(range, size)}\r\nContent-Type: ${contentType}\r\n\r\n`,
    ),
    bytesOf(pieces, range),
  ]);
  return {
    contentType: `multipart/byteranges; boundary=${boundary}`,
    body: Buffer.concat([...parts, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  };
}
