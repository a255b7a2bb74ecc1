import { Buffer } from 'node:buffer';
import { bytesOfText, textOfBytes } from './bytes.ts';

/** File in an archive; a folder if `text` is undefined. */
export interface TarEntry {
  readonly name: string;
  readonly text?: string;
}

const block = 512;
const folderType = '5';
const fileTypes = ['0', '\0'];
/** Extended headers of the format pax; the path in them replaces that of the next entry. */
const extendedType = 'x';

/** Parts of a header: offset and length. */
const fields = { name: [0, 100], size: [124, 12], checksum: [148, 8], type: [156, 1], magic: [257, 6], prefix: [345, 155] } as const;

/**
 * Reads the files and folders of an archive in the format ustar or pax, given as text. Returns undefined if it is malformed, or has other
 * entries.
 */
export function readTar(archive: string): TarEntry[] | undefined {
  const bytes = bytesOfText(archive);
  const entries: TarEntry[] = [];
  let path: string | undefined;
  for (let at = 0; at + block <= bytes.length; ) {
    const header = bytes.subarray(at, at + block);
    if (header.every((byte) => byte === 0)) return entries;
    const field = (one: keyof typeof fields): string => textOf(header.subarray(fields[one][0], fields[one][0] + fields[one][1]));
    const size = Number.parseInt(field('size').trim() || '0', 8);
    const end = at + block + size;
    if (!field('magic').startsWith('ustar') || !Number.isSafeInteger(size) || end > bytes.length) return undefined;
    const content = textOfBytes(bytes.subarray(at + block, end));
    const type = field('type') || '0';
    const prefix = field('prefix');
    const name = path ?? (prefix === '' ? field('name') : `${prefix}/${field('name')}`);
    path = type === extendedType ? /^\d+ path=(.*)$/m.exec(content)?.[1] : undefined;
    if (type === folderType) entries.push({ name });
    else if (fileTypes.includes(type)) entries.push({ name, text: content });
    else if (type !== extendedType) return undefined;
    at = end + padding(size);
  }
  return entries;
}

/** Returns an archive of files in the format ustar; names that are longer than 100 bytes have a pax header. */
export function writeTar(entries: readonly TarEntry[]): string {
  const parts = entries.map(({ name, text = '' }) => {
    const isLong = bytesOfText(name).length > fields.name[1];
    return (isLong ? entry('path', extendedType, paxPath(name)) : '') + entry(isLong ? 'long' : name, '0', text);
  });
  return `${parts.join('')}${'\0'.repeat(2 * block)}`;
}

function entry(name: string, type: string, text: string): string {
  const size = bytesOfText(text).length;
  const header = Buffer.alloc(block);
  const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, '0')}\0`;
  bytesOfText(name).copy(header);
  header.write(octal(0o644, 8), 100);
  header.write(octal(0, 8) + octal(0, 8), 108);
  header.write(octal(size, 12) + octal(0, 12), fields.size[0]);
  header.write(' '.repeat(8), fields.checksum[0]);
  header.write(type, fields.type[0]);
  header.write('ustar\x0000', fields.magic[0]);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, fields.checksum[0]);
  return textOfBytes(header) + text + '\0'.repeat(padding(size));
}

/** Record of a pax header: its own length in decimal digits, and the path. */
function paxPath(name: string): string {
  const rest = ` path=${name}\n`;
  const size = bytesOfText(rest).length;
  let length = size;
  while (size + String(length).length !== length) length = size + String(length).length;
  return `${length}${rest}`;
}

function padding(size: number): number {
  return (block - (size % block)) % block;
}

function textOf(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return textOfBytes(bytes.subarray(0, end < 0 ? bytes.length : end));
}
