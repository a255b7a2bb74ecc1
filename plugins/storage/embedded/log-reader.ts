import { Buffer } from 'node:buffer';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { CorruptRecordError, type Revision, type StorageEvent, type StorageRecord, UnreadableRecord } from 'kubenest/sdk';
import type { IndexEntry } from './key-index.ts';
import { checksum } from './log-file.ts';

/** A row of the log without its value. `previous`: the revision of the row before it of the key; 0: there is none. */
export type LogRow = [revision: number, key: string, createRevision: number, previous: number, deleted: number];

type Entry = IndexEntry<unknown>;

/** Reads the records of keys from the log, at any revision that is not compacted. Reading the value of a damaged or missing record throws CorruptRecordError. */
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

  /** undefined if there was none at the revision. */
  recordAt(entry: Entry, revision: Revision): StorageRecord | undefined {
    if (entry.revision <= revision) {
      if (entry.deleted || entry.revision === 0) return undefined;
      return this.#record(entry.key, entry.revision, entry.createRevision);
    }
    const row = this.#rowAt(entry, revision);
    return row && row[4] === 0 ? this.#record(entry.key, row[0], row[2]) : undefined;
  }

  /** Whether there was a record at the revision; its value is not read. */
  liveAt(entry: Entry, revision: Revision): boolean {
    if (entry.revision <= revision) return !entry.deleted && entry.revision > 0;
    return this.#rowAt(entry, revision)?.[4] === 0;
  }

  /** The rows of keys under the prefix, after one revision and up to another, in their order, at most so many. */
  rows(prefix: string, after: Revision, upTo: Revision, limit: number): LogRow[] {
    return this.#selectEvents.all(after, upTo, prefix, afterPrefix(prefix), limit) as unknown as LogRow[];
  }

  eventOf([revision, key, createRevision, previous, deleted]: LogRow): StorageEvent {
    const record = deleted === 0 ? this.#record(key, revision, createRevision) : undefined;
    return new LoggedEvent(deleted === 0 ? 'PUT' : 'DELETE', key, revision, record, () => this.previous(previous));
  }

  /** The record that a row was; undefined for a deletion, for what is compacted, and once the store is closed. */
  previous(revision: Revision): StorageRecord | undefined {
    if (revision === 0 || !this.#database.isOpen) return undefined;
    const row = this.#row(revision);
    return row && row[4] === 0 ? this.#recordIfKept(row[1], revision, row[2]) : undefined;
  }

  /** Throws where the file cannot be read. */
  check(revision: Revision): void {
    this.#row(revision);
  }

  #row(revision: Revision): LogRow | undefined {
    return this.#selectRow.get(revision) as unknown as LogRow | undefined;
  }

  /** Goes back along the chain of the key's rows. */
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

/** An event whose previous record is read when somebody asks for it. */
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

/** The first key that is after all keys under the prefix: `0` follows `/`. */
function afterPrefix(prefix: string): string {
  return `${prefix.slice(0, -1)}0`;
}

function damaged(place: Omit<StorageRecord, 'value'>, reason: string): StorageRecord {
  return new UnreadableRecord(place, new CorruptRecordError(place.key, place.revision, reason));
}
