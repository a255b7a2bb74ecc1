import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { errorMessage } from '#apiserver/base/system-error';
import { fileDigest, type VerifiedFiles } from './verified-modules.ts';

/** Largest size of an unpacked archive. */
const maxBytes = 256 * 1024 * 1024;

/** A file of an archive. */
interface ArchivedFile {
  /** Path without the first folder, which npm calls `package`. */
  readonly path: string;
  readonly content: Buffer;
}

/** True if a package of the configuration is an archive, as `npm pack` writes it. */
export function isArchive(name: string): boolean {
  return name.endsWith('.tgz');
}

/** Returns `sha512-` and a digest of an archive: the `integrity` of npm's registry and of package-lock.json. */
export function archiveIntegrity(file: string): string {
  return `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
}

/** An unpacked archive. */
export interface UnpackedArchive {
  readonly folder: string;
  /** The files as they are in the archive; only of an archive whose integrity was expected. */
  readonly verified: VerifiedFiles | undefined;
}

/**
 * Unpacks an archive into a new folder that only the user of this process can read and that is removed when the process ends. `integrity`
 * is the expected one of the archive. Throws an Error that does not name the archive.
 */
export function unpackArchive(name: string, folder: string, integrity: string | undefined): UnpackedArchive {
  const file = resolve(folder, name);
  const bytes = readArchive(file);
  const actual = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  if (integrity !== undefined && actual !== integrity) throw new Error(`integrity mismatch: the archive has ${actual}`);
  const files = archivedFiles(unzipped(bytes));
  const target = realpathSync(mkdtempSync(join(tmpdir(), 'kubenest-package-')));
  removeAtExit(target);
  for (const { path, content } of files) {
    const place = join(target, path);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, content, { flag: 'wx' });
  }
  const digests = (): Map<string, string> => new Map(files.map(({ path, content }) => [join(target, path), fileDigest(content)]));
  return { folder: target, verified: integrity === undefined ? undefined : { folders: [target], digests: digests() } };
}

const unpacked = new Set<string>();

function removeAtExit(folder: string): void {
  if (unpacked.size === 0)
    process.once('exit', () => {
      for (const one of unpacked) rmSync(one, { recursive: true, force: true });
    });
  unpacked.add(folder);
}

function readArchive(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(errorMessage(error, file), { cause: error });
  }
}

function unzipped(bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch (cause) {
    throw new Error(`the archive cannot be unpacked: ${(cause as Error).message}`, { cause });
  }
}

const blockBytes = 512;

/**
 * Reads the files of a tar archive with pax headers, the form of npm. Directories follow from the files; links, devices and paths outside
 * of the archive are refused. Format: POSIX.1-2017, pax, "ustar Interchange Format".
 */
function archivedFiles(tar: Buffer): ArchivedFile[] {
  const files: ArchivedFile[] = [];
  let longPath: string | undefined;
  for (let at = 0; at + blockBytes <= tar.length && tar[at] !== 0; ) {
    const header = tar.subarray(at, at + blockBytes);
    const size = Number.parseInt(textAt(header, 124, 12), 8);
    const content = tar.subarray(at + blockBytes, at + blockBytes + size);
    if (Number.isNaN(size) || content.length !== size) throw new Error('the archive is damaged');
    at += blockBytes + Math.ceil(size / blockBytes) * blockBytes;
    const type = String.fromCharCode(header[156] ?? 0);
    const prefix = textAt(header, 345, 155);
    const path = longPath ?? (prefix === '' ? textAt(header, 0, 100) : `${prefix}/${textAt(header, 0, 100)}`);
    longPath = undefined;
    if (type === 'x') longPath = paxPath(content);
    else if (type === '0' || type === '\0') files.push({ path: innerPath(path), content });
    else if (type !== 'g' && type !== '5') throw new Error(`${path} in the archive is neither a file nor a folder`);
  }
  return files;
}

function textAt(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? length : end).trim();
}

/** Returns the path of a pax header, whose records are `LENGTH KEY=VALUE\n`. */
function paxPath(content: Buffer): string | undefined {
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(' ', at);
    const length = Number(content.toString('utf8', at, space));
    if (space < 0 || !(length > 0)) throw new Error('the archive is damaged');
    const record = content.toString('utf8', space + 1, at + length - 1);
    if (record.startsWith('path=')) return record.slice('path='.length);
    at += length;
  }
  return undefined;
}

function innerPath(path: string): string {
  const [, ...parts] = path.split('/');
  if (parts.length === 0 || parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\\')))
    throw new Error(`${JSON.stringify(path)} in the archive is outside of its folder`);
  return parts.join('/');
}
