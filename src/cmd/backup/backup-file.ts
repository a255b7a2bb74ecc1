import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { StringDecoder } from 'node:string_decoder';
import { createGunzip, createGzip } from 'node:zlib';
import { errorMessage } from '#apiserver/base/system-error';
import type { Revision, Storage, StorageRecord } from '#apiserver/storage/storage';
import { syncPath } from '#cmd/storage/sync-path';

const format = 'kubenest-backup';
const formatVersion = 1;
const pageRecords = 500;

/** Form of the values: JSON with its resourceVersion, or the form in which kube-apiserver stores objects. */
export type ValueForm = 'json' | 'kubernetes';

/** A complete backup, in the order of the keys. Values are as stored: encrypted values remain encrypted. */
export interface Backup {
  readonly form: ValueForm;
  /** Revision of the state that the backup contains. */
  readonly revision: Revision;
  /** Time of the backup; the store may have continued since. */
  readonly time: Date;
  readonly records: readonly StorageRecord[];
}

interface Header {
  readonly format: string;
  readonly version: number;
  readonly form: ValueForm;
  readonly revision: Revision;
  /** Time in ISO 8601. The first backups lack it. */
  readonly time?: string;
}
type RecordLine = readonly [key: string, revision: Revision, createRevision: Revision, value: string];
interface Trailer {
  readonly records: number;
  /** SHA-256 of all preceding lines, in hexadecimal. */
  readonly sha256: string;
}

/**
 * Writes the present state of a store to a file, which appears only when it is complete. The file consists of JSON lines (a header, one
 * line per record, a trailer with a checksum), is compressed by gzip and readable only by its owner. Returns the revision and the number of
 * records.
 */
export async function writeBackup(file: string, storage: Storage, form: ValueForm): Promise<{ revision: Revision; records: number }> {
  const time = new Date().toISOString();
  const revision = await storage.currentRevision();
  let records = 0;
  const hash = createHash('sha256');
  async function* lines(): AsyncGenerator<string> {
    const line = (content: Header | RecordLine): string => {
      const text = `${JSON.stringify(content)}\n`;
      hash.update(text);
      return text;
    };
    yield line({ format, version: formatVersion, form, revision, time });
    for await (const { key, revision: at, createRevision, value } of recordsOf(storage, revision)) {
      records += 1;
      yield line([key, at, createRevision, value.toString('base64')]);
    }
    yield `${JSON.stringify({ records, sha256: hash.digest('hex') } satisfies Trailer)}\n`;
  }
  const partial = `${file}.partial`;
  try {
    await pipeline(Readable.from(lines()), createGzip({ level: 3 }), createWriteStream(partial, { mode: 0o600 }));
    await syncPath(partial);
    await rename(partial, file);
    // The file name must be persistent too.
    await syncPath(dirname(file));
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
  return { revision, records };
}

/** Yields all records of one revision in the order of their keys, page by page. */
export async function* recordsOf(storage: Storage, revision: Revision): AsyncGenerator<StorageRecord> {
  for (let from: string | undefined = '/'; from !== undefined; ) {
    const { records, more } = await storage.list('/', { revision, from, limit: pageRecords, uncounted: true });
    yield* records;
    from = more ? `${records.at(-1)!.key}\0` : undefined;
  }
}

/** Reads a backup and verifies that it is complete. Rejects with the reason for an invalid file. */
export async function readBackup(file: string): Promise<Backup> {
  const hash = createHash('sha256');
  const records: StorageRecord[] = [];
  let header: Header | undefined;
  let trailer: Trailer | undefined;
  try {
    for await (const line of linesOf(file)) {
      const content = JSON.parse(line) as Header | RecordLine | Trailer;
      if ('sha256' in content) {
        trailer = content;
        continue;
      }
      hash.update(`${line}\n`);
      if ('format' in content) header = content;
      else {
        const [key, revision, createRevision, value] = content;
        records.push({ key, revision, createRevision, value: Buffer.from(value, 'base64') });
      }
    }
  } catch (cause) {
    const { syscall, message } = cause as NodeJS.ErrnoException;
    throw new Error(syscall === undefined ? `${file} is not a backup or is damaged: ${message}` : errorMessage(cause, file), { cause });
  }
  if (header?.format !== format) throw new Error(`${file} is not a backup`);
  if (header.version !== formatVersion) throw new Error(`${file} has the format ${header.version}; this version reads ${formatVersion}`);
  if (trailer === undefined || trailer.records !== records.length || trailer.sha256 !== hash.digest('hex'))
    throw new Error(`${file} is damaged: ${trailer === undefined ? 'its end is missing' : 'its checksum is wrong'}`);
  return {
    form: header.form,
    revision: header.revision,
    time: header.time === undefined ? (await stat(file)).mtime : new Date(header.time),
    records,
  };
}

/** Yields the lines of a compressed file. */
async function* linesOf(file: string): AsyncGenerator<string> {
  let rest = '';
  const decoder = new StringDecoder('utf8');
  const unzipped = createGunzip();
  // The reader below observes the failure of either stream.
  const piped = pipeline(createReadStream(file), unzipped);
  piped.catch(() => {});
  for await (const chunk of unzipped as AsyncIterable<Buffer>) {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') throw new Error('its last line is not terminated');
}
