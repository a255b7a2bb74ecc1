import { Buffer } from 'node:buffer';
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { CorruptRecordError, CorruptStoreError, type Revision, type StorageRecord } from 'kubenest/sdk';
import { checksum } from './log-file.ts';
import { checkFile } from './open-store.ts';

/** The state of an embedded store at one revision. */
export interface EmbeddedSnapshot {
  readonly revision: Revision;
  /** Sorted by the UTF-8 bytes of the keys. */
  readonly records: readonly StorageRecord[];
}

type Row = [key: string, revision: number, createRevision: number, crc: number, value: Uint8Array];

/**
 * Reads the current content of a file, even while a server has it open, without blocking it. Throws CorruptStoreError and
 * CorruptRecordError, and if the file does not exist.
 */
export function readSnapshot(file: string): EmbeddedSnapshot {
  if (!existsSync(file)) throw new CorruptStoreError(`storage: ${file} does not exist`);
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  try {
    // A transaction reads a consistent state.
    database.exec('BEGIN');
    checkFile(database, file);
    const compacted = database.prepare("SELECT value FROM meta WHERE name = 'compact_revision'").get() as { value: number };
    const last = database.prepare('SELECT max(revision) AS revision FROM log').get() as { revision: number | null };
    const rows = database.prepare(`
      SELECT log.key, log.revision, log.create_revision, value.crc, value.value
      FROM (SELECT max(revision) AS revision FROM log GROUP BY key) AS newest
      JOIN log ON log.revision = newest.revision
      JOIN value ON value.revision = newest.revision
      WHERE log.deleted = 0 ORDER BY log.key`);
    rows.setReturnArrays(true);
    const records: StorageRecord[] = [];
    for (const row of rows.iterate() as unknown as Iterable<Row>) records.push(recordOf(row));
    return { revision: Math.max(1, compacted.value, last.revision ?? 0), records };
  } finally {
    database.close();
  }
}

function recordOf([key, revision, createRevision, crc, bytes]: Row): StorageRecord {
  const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (checksum(key, value) !== crc) throw new CorruptRecordError(key, revision, 'its checksum is wrong');
  return { key, revision, createRevision, value };
}
