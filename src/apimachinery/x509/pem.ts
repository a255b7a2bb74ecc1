import { Buffer } from 'node:buffer';
import { withoutTrailing } from '../runtime/trailing.ts';

/** A PEM block. */
export interface PemBlock {
  readonly type: string;
  /** True if there are headers such as `Proc-Type: 4,ENCRYPTED`. */
  readonly hasHeaders: boolean;
  readonly bytes: Buffer;
}

const begin = '-----BEGIN ';
const end = '-----END ';
const dashes = '-----';

/**
 * Returns the blocks of a text, which may have other content around them; incomplete blocks are left out. Upstream: encoding/pem (Decode).
 */
export function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  let first: MarkLine | undefined;
  for (const line of markLines(text)) {
    if (line.text.startsWith(begin)) first = line;
    if (!line.text.startsWith(end)) continue;
    const block = first && parseBlock(first.text, text.slice(first.end + 1, line.start), line.text);
    if (block) blocks.push(block);
    first = undefined;
  }
  return blocks;
}

interface MarkLine {
  /** The line without blanks at its end. */
  readonly text: string;
  /** Offset of the line. */
  readonly start: number;
  /** Offset of the line feed after it. */
  readonly end: number;
}

/** Returns the lines that begin with dashes. Others are skipped: a client may send a million. */
function* markLines(text: string): Iterable<MarkLine> {
  for (let start = text.indexOf(dashes); start >= 0; ) {
    const end = endOfLine(text, start);
    if (start === 0 || text[start - 1] === '\n') yield { text: withoutTrailing(text.slice(start, end), ' \t\r'), start, end };
    start = text.indexOf(dashes, end);
  }
}

function endOfLine(text: string, from: number): number {
  const at = text.indexOf('\n', from);
  return at < 0 ? text.length : at;
}

function parseBlock(first: string, content: string, last: string): PemBlock | undefined {
  if (!first.endsWith(dashes)) return undefined;
  const type = first.slice(begin.length, -dashes.length);
  if (last !== `${end}${type}${dashes}`) return undefined;
  const bodyAt = endOfHeaders(content);
  const body = content.slice(bodyAt).replaceAll(/[ \t\r\n]+/g, '');
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(body)) return undefined;
  return { type, hasHeaders: bodyAt > 0, bytes: Buffer.from(body, 'base64') };
}

/** Returns the offset of the first line without a colon. */
function endOfHeaders(content: string): number {
  let at = 0;
  for (let colon = content.indexOf(':'); colon >= 0; colon = content.indexOf(':', at)) {
    const lineEnd = endOfLine(content, at);
    if (colon > lineEnd) break;
    at = Math.min(content.length, lineEnd + 1);
  }
  return at;
}

/** Encodes a block. */
export function pemOf(type: string, bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return [`${begin}${type}${dashes}`, ...lines, `${end}${type}${dashes}`, ''].join('\n');
}
