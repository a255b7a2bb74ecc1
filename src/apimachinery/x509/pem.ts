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

/** Returns the blocks of a text, which may have other content around them; incomplete blocks are left out. Upstream: encoding/pem (Decode). */
export function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  const lines = text.split('\n').map((line) => withoutTrailing(line, ' \t\r'));
  let start = -1;
  for (const [at, line] of lines.entries()) {
    if (line.startsWith(begin)) start = at;
    if (!line.startsWith(end)) continue;
    const block = start < 0 ? undefined : parseBlock(lines.slice(start, at), line);
    if (block) blocks.push(block);
    start = -1;
  }
  return blocks;
}

function parseBlock([first = '', ...lines]: readonly string[], last: string): PemBlock | undefined {
  if (!first.endsWith(dashes)) return undefined;
  const type = first.slice(begin.length, -dashes.length);
  if (last !== `${end}${type}${dashes}`) return undefined;
  const bodyAt = lines.findIndex((line) => !line.includes(':'));
  const body = (bodyAt < 0 ? [] : lines.slice(bodyAt)).join('').replaceAll(/[ \t\r]/g, '');
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(body)) return undefined;
  return { type, hasHeaders: bodyAt !== 0 && lines.length > 0, bytes: Buffer.from(body, 'base64') };
}

/** Encodes a block. */
export function pemOf(type: string, bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return [`${begin}${type}${dashes}`, ...lines, `${end}${type}${dashes}`, ''].join('\n');
}
