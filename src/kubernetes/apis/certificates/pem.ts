import { Buffer } from 'node:buffer';

export interface PemBlock {
  readonly type: string;
  /** What stands between the two lines, headers too. */
  readonly content: string;
}

/** The blocks of a text, which may have anything around them; a beginning without its end is none. Upstream: encoding/pem. */
export function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  const begin = /-----BEGIN ([^-\n]+)-----/g;
  for (let match = begin.exec(text); match; match = begin.exec(text)) {
    const type = match[1] ?? '';
    const end = text.indexOf(`-----END ${type}-----`, begin.lastIndex);
    if (end < 0) continue;
    blocks.push({ type, content: text.slice(begin.lastIndex, end) });
    begin.lastIndex = end;
  }
  return blocks;
}

/** The bytes of a block without headers. */
export function pemBytes({ content }: PemBlock): Buffer {
  return Buffer.from(content, 'base64');
}
