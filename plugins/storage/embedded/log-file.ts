import { Buffer } from 'node:buffer';
import { closeSync, existsSync, fsyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { failpoint } from './failpoint.ts';

/*
 * The worker thread loads this file as it stands (Node strips the types): only syntax that can be erased, and no import
 * but of Node and of files of this folder that keep to the same.
 */

/** `KNST` in the file's header, by which it is known as ours. */
export const applicationId = 0x4b4e5354;
/** Raised when the tables change; a file with a higher one is refused. */
export const schemaVersion = 1;

/**
 * A log, appended to and never updated: each write touches only the last pages of two tables, so that a transaction
 * syncs little more than its own bytes. No index by key is stored; the main thread keeps it (key-index.ts) and rebuilds
 * it from `log`, whose rows are small, at start.
 *
 * Worked example: create /a (2), update /a (3), delete /a (4), create /a (5):
 *
 *     log    revision key create_revision previous deleted      value  revision value
 *            2        /a  2               0        0                   2        v2
 *            3        /a  2               2        0                   3        v3
 *            4        /a  2               3        1
 *            5        /a  5               4        0                   5        v5
 *
 * `previous` chains a key's rows: the state of /a at revision 3 is found from its newest row (5) by 5 -> 4 -> 3.
 * Compaction at revision R deletes each row whose successor is not after R, and each deletion not after R. A chain that
 * ends in a row that is gone ends for readers at R or later, too: that row was not their state.
 */
const schema = `
  CREATE TABLE log (
    revision INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    create_revision INTEGER NOT NULL,
    previous INTEGER NOT NULL,
    deleted INTEGER NOT NULL,
    expires INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE value (revision INTEGER PRIMARY KEY, crc INTEGER NOT NULL, value BLOB NOT NULL) STRICT;
  CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  INSERT INTO meta VALUES ('compact_revision', 0), ('compacted', 0);
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${schemaVersion};
`;

/** Numbers before each record's bytes: revision, createRevision, previous, deleted, expires, length of the key, length of the value. */
const headerNumbers = 7;

/** What a write is in the log. `expires` is milliseconds since 1970, 0 if it does not. */
export interface LogEntry {
  readonly revision: number;
  readonly key: string;
  readonly createRevision: number;
  readonly previous: number;
  readonly value: Uint8Array | undefined;
  readonly expires: number;
}

/** One buffer for a whole batch, so that it is handed to the worker thread without a copy. `entries` are in order of revision. */
export function packBatch(entries: readonly LogEntry[]): ArrayBuffer {
  let size = (1 + entries.length * headerNumbers) * 8;
  for (const entry of entries) size += entry.key.length * 3 + (entry.value?.length ?? 0);
  const bytes = new ArrayBuffer(size);
  const header = new Float64Array(bytes, 0, 1 + entries.length * headerNumbers);
  const body = Buffer.from(bytes);
  let offset = header.byteLength;
  let at = 0;
  header[at++] = entries.length;
  for (const { revision, createRevision, previous, value, expires, key } of entries) {
    const keyLength = body.write(key, offset, 'utf8');
    offset += keyLength;
    if (value) {
      body.set(value, offset);
      offset += value.length;
    }
    header[at++] = revision;
    header[at++] = createRevision;
    header[at++] = previous;
    header[at++] = value ? 0 : 1;
    header[at++] = expires;
    header[at++] = keyLength;
    header[at++] = value?.length ?? 0;
  }
  return bytes;
}

/** The checksum of a value, bound to its key so that a value in a wrong place is found, too. */
export function checksum(key: string, value: Uint8Array): number {
  return crc32(value, crc32(key));
}

/** Opens and configures a connection, without looking at what is in the file. */
export function connect(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 5_000, enableForeignKeyConstraints: false });
  database.exec('PRAGMA cache_size = -1024; PRAGMA temp_store = MEMORY; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON');
  database.exec('PRAGMA wal_autocheckpoint = 0');
  return database;
}

/** Makes the tables in a file that is empty. */
export function createSchema(database: DatabaseSync): void {
  database.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL');
  database.exec(`BEGIN IMMEDIATE; ${schema} COMMIT`);
}

/** How far a compaction has come: its next step goes on after `compacted`. */
export interface CompactionStep {
  readonly compacted: number;
  readonly done: boolean;
}

export interface LogOptions {
  /** The database file grows no further; 0: no limit. */
  readonly quotaBytes: number;
  /** A file that occupies disk space which only deletions may use, once the disk is full; undefined: none. */
  readonly reserve: { readonly file: string; readonly bytes: number } | undefined;
}

/** What the committing side is asked for. It does one thing after the other, in order. */
export type CommitRequest =
  | { readonly type: 'append'; readonly batch: ArrayBuffer }
  | { readonly type: 'beginCompaction'; readonly revision: number }
  | { readonly type: 'compact'; readonly compacted: number; readonly revision: number; readonly limit: number }
  | { readonly type: 'releaseReserve' | 'restoreReserve' | 'ping' | 'close' };

/** `code`: the extended result code of SQLite; 0 if the error is none of its. */
export interface CommitFailure {
  readonly message: string;
  readonly code: number;
}

export interface CommitAnswer {
  readonly error?: CommitFailure;
  readonly step?: CompactionStep;
  readonly restored?: boolean;
  /** No answer to a request: the thread has the file open. */
  readonly ready?: boolean;
  /** No answer to a request: something failed between them. */
  readonly unasked?: CommitFailure;
}

/** Does what is asked, and tells a failure as data. */
export function answer(writer: LogWriter, request: CommitRequest): CommitAnswer {
  try {
    switch (request.type) {
      case 'append':
        writer.append(request.batch);
        return {};
      case 'beginCompaction':
        writer.beginCompaction(request.revision);
        return {};
      case 'compact':
        return { step: writer.compact(request.compacted, request.revision, request.limit) };
      case 'releaseReserve':
        writer.releaseReserve();
        return {};
      case 'restoreReserve':
        return { restored: writer.restoreReserve() };
      case 'ping':
        writer.ping();
        return {};
      case 'close':
        writer.close();
        return {};
    }
  } catch (error) {
    return { error: failureOf(error) };
  }
}

export function failureOf(error: unknown): CommitFailure {
  const { message, errcode } = error as Error & { errcode?: number };
  return { message, code: errcode ?? 0 };
}

/** SQLite's result code for a full disk, or quota. */
export const fullCode = 13;

/** Whether the (extended) result code says that the disk is full. */
export function isFull({ code }: CommitFailure): boolean {
  return (code & 0xff) === fullCode;
}

/** Pages that only deletions may use once the quota is full. */
const reservedPages = 256;
/** Pages that are given back to the file system in one go: each is the place of another that moves. */
const vacuumPages = 128;
const pageBytes = 4_096;
/** A transaction of a small write puts three pages into the write-ahead log, most of which the next one writes again: counted as half of one. */
const transactionBytes = pageBytes / 2;

/** Copies what the write-ahead log has by now into the file. */
export function checkpoint(database: DatabaseSync): void {
  failpoint('before-checkpoint');
  database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get();
  failpoint('after-checkpoint');
}

/** The one writer of a log. Its methods throw what node:sqlite throws, and leave no transaction open then. */
export class LogWriter {
  readonly #database: DatabaseSync;
  readonly #quotaPages: number;
  readonly #reserve: LogOptions['reserve'];
  readonly #file: string | null;
  readonly #insertLog: StatementSync;
  readonly #insertValue: StatementSync;
  readonly #deleteLog: StatementSync;
  readonly #deleteValue: StatementSync;
  readonly #rowsToCompact: StatementSync;
  readonly #setMeta: StatementSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  #unchecked = 0;

  constructor(database: DatabaseSync, options: LogOptions) {
    this.#database = database;
    this.#quotaPages = Math.floor(options.quotaBytes / pageBytes);
    this.#reserve = options.reserve;
    this.#file = database.location();
    if (this.#quotaPages > 0) this.#limitPages(this.#quotaPages);
    this.#insertLog = database.prepare('INSERT INTO log VALUES (?, ?, ?, ?, ?, ?)');
    this.#insertValue = database.prepare('INSERT INTO value VALUES (?, ?, ?)');
    this.#deleteLog = database.prepare('DELETE FROM log WHERE revision = ?');
    this.#deleteValue = database.prepare('DELETE FROM value WHERE revision = ?');
    this.#rowsToCompact = database.prepare(
      'SELECT revision, previous, deleted FROM log WHERE revision > ? AND revision <= ? ORDER BY revision LIMIT ?',
    );
    this.#setMeta = database.prepare('UPDATE meta SET value = ? WHERE name = ?');
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
  }

  /** Bytes that the write-ahead log has grown by since the last checkpoint, about. */
  get uncheckedBytes(): number {
    return this.#unchecked;
  }

  /** Bytes that a checkpoint adds to the file, about, once a batch is written; 0 for deletions alone. A value takes two pages beside its own at most. */
  growthWith(batch: ArrayBuffer): number {
    const count = new Float64Array(batch, 0, 1)[0]!;
    const header = new Float64Array(batch, 8, count * headerNumbers);
    let values = 0;
    for (let at = 3; at < header.length; at += headerNumbers) if (header[at] === 0) values += 1;
    if (values === 0) return 0;
    const size = this.#file === null ? 0 : statSync(this.#file).size;
    return this.#number('PRAGMA page_count') * pageBytes - size + batch.byteLength + values * 2 * pageBytes;
  }

  /** Writes a batch that `packBatch` made; when it returns, the batch is on the disk. */
  append(batch: ArrayBuffer): void {
    this.#unchecked += batch.byteLength + transactionBytes;
    const count = new Float64Array(batch, 0, 1)[0]!;
    const header = new Float64Array(batch, 8, count * headerNumbers);
    const body = Buffer.from(batch);
    let offset = 8 + header.byteLength;
    failpoint('before-transaction');
    this.#transaction(() => {
      for (let at = 0; at < header.length; at += headerNumbers) {
        const revision = header[at]!;
        const deleted = header[at + 3]!;
        const valueStart = offset + header[at + 5]!;
        const key = body.toString('utf8', offset, valueStart);
        offset = valueStart + header[at + 6]!;
        this.#insertLog.run(revision, key, header[at + 1]!, header[at + 2]!, deleted, header[at + 4]!);
        if (deleted === 0) {
          const value = body.subarray(valueStart, offset);
          this.#insertValue.run(revision, checksum(key, value), value);
        }
        failpoint('inside-transaction');
      }
    });
    failpoint('after-transaction');
  }

  /** From now on reads before `revision` are refused, after a restart as well. */
  beginCompaction(revision: number): void {
    this.#setMeta.run(revision, 'compact_revision');
    failpoint('after-compact-revision');
  }

  /** Goes through at most `limit` rows after `compacted`, and deletes what they make needless; behind the last of them, gives pages back. */
  compact(compacted: number, revision: number, limit: number): CompactionStep {
    if (compacted === revision) return { compacted, done: !this.#truncate() };
    const rows = this.#rowsToCompact.all(compacted, revision, limit) as { revision: number; previous: number; deleted: number }[];
    const done = rows.length < limit;
    const reached = done ? revision : rows.at(-1)!.revision;
    this.#transaction(() => {
      for (const row of rows) {
        if (row.previous > 0) this.#drop(row.previous);
        if (row.deleted === 1) this.#drop(row.revision);
        failpoint('inside-compaction');
      }
      this.#setMeta.run(reached, 'compacted');
    });
    // Values are deleted from a page each, more or less.
    this.#unchecked += rows.length * pageBytes;
    return { compacted: reached, done: done && !this.#hasMuchFree() };
  }

  /** From now on `uncheckedBytes` counts for the next checkpoint: another connection makes the one before. */
  beginCheckpoint(): void {
    this.#unchecked = 0;
  }

  /** Copies the write-ahead log into the file, after which its pages are used again. Does nothing while another connection does so. */
  checkpoint(): void {
    this.#unchecked = 0;
    checkpoint(this.#database);
  }

  /** Lets deletions use what is held back from other writes. */
  releaseReserve(): void {
    if (this.#quotaPages > 0) this.#limitPages(this.#quotaPages + reservedPages);
    if (this.#reserve) rmSync(this.#reserve.file, { force: true });
    try {
      // After this the write-ahead log begins anew, in the space that it has.
      this.checkpoint();
    } catch (error) {
      if (!isFull(failureOf(error))) throw error;
    }
  }

  /** Holds the reserve back, and tells whether there was room for it: if not, the store is full still. */
  restoreReserve(): boolean {
    if (this.#quotaPages > 0) {
      const pages = this.#number('PRAGMA page_count');
      if (pages - this.#number('PRAGMA freelist_count') + reservedPages > this.#quotaPages) return false;
      this.#limitPages(Math.max(this.#quotaPages, pages));
    }
    return this.#reserve === undefined || reserve(this.#reserve.file, this.#reserve.bytes);
  }

  /** Checks that a transaction can be begun. */
  ping(): void {
    this.#begin.run();
    this.#commit.run();
  }

  close(): void {
    this.#database.close();
  }

  #drop(revision: number): void {
    this.#deleteLog.run(revision);
    this.#deleteValue.run(revision);
  }

  /** Gives some pages back to the file system if many are free, and tells whether many still are. */
  #truncate(): boolean {
    if (!this.#hasMuchFree()) return false;
    const free = this.#number('PRAGMA freelist_count');
    this.#database.exec(`PRAGMA incremental_vacuum(${vacuumPages})`);
    // With the pages that point to those that move.
    this.#unchecked += vacuumPages * 2 * pageBytes;
    return this.#hasMuchFree() && this.#number('PRAGMA freelist_count') < free;
  }

  /** More than a quarter of the file, and 4 MiB. */
  #hasMuchFree(): boolean {
    const free = this.#number('PRAGMA freelist_count');
    return free > 1024 && free * 4 > this.#number('PRAGMA page_count');
  }

  #limitPages(pages: number): void {
    this.#database.prepare(`PRAGMA max_page_count = ${pages}`).get();
  }

  #number(pragma: string): number {
    return Object.values(this.#database.prepare(pragma).get() ?? {})[0] as number;
  }

  #transaction(write: () => void): void {
    this.#begin.run();
    try {
      write();
      this.#commit.run();
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }
}

/** Written and synced, for a hole would reserve nothing. False: the disk is full. */
function reserve(file: string, bytes: number): boolean {
  try {
    if (existsSync(file) && statSync(file).size >= bytes) return true;
    const descriptor = openSync(file, 'w', 0o600);
    try {
      const zeros = new Uint8Array(65_536);
      for (let written = 0; written < bytes; written += zeros.length) writeSync(descriptor, zeros);
      fsyncSync(descriptor);
      return true;
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    rmSync(file, { force: true });
    return false;
  }
}
