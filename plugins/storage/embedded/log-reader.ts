import { Buffer } from 'node:buffer';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { CorruptRecordError, type Revision, type StorageEvent, type StorageRecord, UnreadableRecord } from 'kubenest/sdk';
import type { IndexEntry } from './key-index.ts';
import { checksum } from './log-file.ts';

/** A row of the log without its value. `previous` is the revision of the key's previous row; 0: none. */
export type LogRow = [revision: number, key: string, createRevision: number, previous: number, deleted: number];

type Entry = IndexEntry<unknown>;

/**
 * Reads records from the log at any revision that is not compacted. Reading the value of a damaged or missing record throws
 * CorruptRecordError.
 */
export class LogReader {
  readonly #database: DatabaseSync;
  readonly #selectValue: StatementSync;
  readonly #selectRow: StatementSync;
  readonly #selectEvents: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#selectValue = this.#prepare('SELECT crc, value FROM value WHERE revision = ?');
    this.#selectRow = this.#prepare('SELECT revision, key, create_revision, previous, deleted FROM log WHERE revision = ?');
    this.#selectEvents = this.#prepare(`
      SELECT revision, key, create_revision, previous, deleted FROM log
      WHERE revision > ? AND revision <= ? AND key >= ? AND key < ? ORDER BY revision LIMIT ?`);
  }

  #prepare(sql: string): StatementSync {
    const statement = this.#database.prepare(sql);
    statement.setReturnArrays(true);
    return statement;
  }

  /** Returns the record at the revision; undefined if there was none. */
  recordAt(entry: Entry, revision: Revision): StorageRecord | undefined {
    if (entry.revision <= revision) {
      if (entry.deleted || entry.revision === 0) return undefined;
      return this.#record(entry.key, entry.revision, entry.createRevision);
    }
    const row = this.#rowAt(entry, revision);
    return row && row[4] === 0 ? this.#record(entry.key, row[0], row[2]) : undefined;
  }

  /** True if there was a record at the revision; does not read its value. */
  liveAt(entry: Entry, revision: Revision): boolean {
    if (entry.revision <= revision) return !entry.deleted && entry.revision > 0;
    return this.#rowAt(entry, revision)?.[4] === 0;
  }

  /** Returns at most `limit` rows of keys under the prefix between two revisions, in order. */
  rows(prefix: string, after: Revision, upTo: Revision, limit: number): LogRow[] {
    return this.#selectEvents.all(after, upTo, prefix, afterPrefix(prefix), limit) as unknown as LogRow[];
  }

  eventOf([revision, key, createRevision, previous, deleted]: LogRow): StorageEvent {
    const record = deleted === 0 ? this.#record(key, revision, createRevision) : undefined;
    return new LoggedEvent(deleted === 0 ? 'PUT' : 'DELETE', key, revision, record, () => this.previous(previous));
  }

  /** Returns the record of a row; undefined for deletions, compacted rows and a closed store. */
  previous(revision: Revision): StorageRecord | undefined {
    if (revision === 0 || !this.#database.isOpen) return undefined;
    const row = this.#row(revision);
    return row && row[4] === 0 ? this.#recordIfKept(row[1], revision, row[2]) : undefined;
  }

  /** Throws if the file cannot be read. */
  check(revision: Revision): void {
    this.#row(revision);
  }

  #row(revision: Revision): LogRow | undefined {
    return this.#selectRow.get(revision) as unknown as LogRow | undefined;
  }

  /** Follows the chain of the key's rows backwards. */
  #rowAt(entry: Entry, revision: Revision): LogRow | undefined {
    let at = entry.revision;
    for (;;) {
      const row = at > 0 ? this.#row(at) : undefined;
      if (!row || row[0] <= revision) return row;
      at = row[3];
    }
  }

  #record(key: string, revision: Revision, createRevision: Revision): StorageRecord {
    return this.#recordIfKept(key, revision, createRevision) ?? damaged({ key, revision, createRevision }, 'its value is missing');
  }

  #recordIfKept(key: string, revision: Revision, createRevision: Revision): StorageRecord | undefined {
    const row = this.#selectValue.get(revision) as unknown as [crc: number, value: Uint8Array] | undefined;
    if (!row) return undefined;
    const value = Buffer.from(row[1].buffer, row[1].byteOffset, row[1].byteLength);
    if (checksum(key, value) !== row[0]) return damaged({ key, revision, createRevision }, 'its checksum is wrong');
    return { key, revision, createRevision, value };
  }
}

/** An event that reads the previous record on access. */
export class LoggedEvent implements StorageEvent {
  #previous: StorageRecord | (() => StorageRecord | undefined) | undefined;

  constructor(
    readonly type: 'PUT' | 'DELETE',
    readonly key: string,
    readonly revision: Revision,
    readonly record: StorageRecord | undefined,
    previous: StorageRecord | (() => StorageRecord | undefined),
  ) {
    this.#previous = previous;
  }

  get previous(): StorageRecord | undefined {
    if (typeof this.#previous === 'function') this.#previous = this.#previous();
    return this.#previous;
  }
}

/** Returns the first key after all keys under the prefix: `0` follows `/`. */
function afterPrefix(prefix: string): string {
  return `${prefix.slice(0, -1)}0`;
}

function damaged(place: Omit<StorageRecord, 'value'>, reason: string): StorageRecord {
  return new UnreadableRecord(place, new CorruptRecordError(place.key, place.revision, reason));
}
