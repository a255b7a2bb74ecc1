import { Buffer } from 'node:buffer';
import { closeSync, existsSync, fsyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { failpoint } from './failpoint.ts';

/*
 * The worker thread loads this file directly (Node strips the types), so it uses only erasable syntax and imports only Node
 * modules and files of this folder under the same restriction.
 */

/** `KNST`, the application id in the file's header. */
export const applicationId = 0x4b4e5354;
/** Version of the tables; files with a higher version are rejected. */
export const schemaVersion = 1;

/**
 * An append-only log: each write touches only the last pages of two tables, so a transaction syncs little more than its own
 * bytes. There is no stored index by key; the main thread maintains it (key-index.ts) and rebuilds it at start from `log`,
 * whose rows are small.
 *
 * Worked example: create /a (2), update /a (3), delete /a (4), create /a (5):
 *
 *     log    revision key create_revision previous deleted      value  revision value
 *            2        /a  2               0        0                   2        v2
 *            3        /a  2               2        0                   3        v3
 *            4        /a  2               3        1
 *            5        /a  5               4        0                   5        v5
 *
 * `previous` chains a key's rows: the state of /a at revision 3 is found from its newest row (5) by 5 -> 4 -> 3. Compaction
 * at revision R deletes each row whose successor is not after R, and each deletion not after R. If a chain ends in a deleted
 * row, readers at R or later find no record, because that row was not their state.
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

/**
 * Number of header fields before each record's bytes: revision, createRevision, previous, deleted, expires, length of the
 * key, length of the value.
 */
const headerNumbers = 7;

/** A write in the log. `expires` is in milliseconds since 1970, 0 if it does not expire. */
export interface LogEntry {
  readonly revision: number;
  readonly key: string;
  readonly createRevision: number;
  readonly previous: number;
  readonly value: Uint8Array | undefined;
  readonly expires: number;
}

/**
 * Encodes a batch as one buffer, which can be transferred to the worker thread without a copy. `entries` are ordered by
 * revision.
 */
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

/** Returns the checksum of a value, bound to its key, so that misplaced values are detected, too. */
export function checksum(key: string, value: Uint8Array): number {
  return crc32(value, crc32(key));
}

/** Opens and configures a connection without reading the file's content. */
export function connect(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 5_000, enableForeignKeyConstraints: false });
  database.exec('PRAGMA cache_size = -1024; PRAGMA temp_store = MEMORY; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON');
  database.exec('PRAGMA wal_autocheckpoint = 0');
  return database;
}

/** Creates the tables in an empty file. */
export function createSchema(database: DatabaseSync): void {
  database.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL');
  database.exec(`BEGIN IMMEDIATE; ${schema} COMMIT`);
}

/** Progress of a compaction; the next step continues after `compacted`. */
export interface CompactionStep {
  readonly compacted: number;
  readonly done: boolean;
}

export interface LogOptions {
  /** Maximum size of the database file; 0: unlimited. */
  readonly quotaBytes: number;
  /** A file that reserves disk space for deletions when the disk is full; undefined: none. */
  readonly reserve: { readonly file: string; readonly bytes: number } | undefined;
}

/** Requests to the writer, which processes them sequentially. */
export type CommitRequest =
  | { readonly type: 'append'; readonly batch: ArrayBuffer }
  | { readonly type: 'beginCompaction'; readonly revision: number }
  | { readonly type: 'compact'; readonly compacted: number; readonly revision: number; readonly limit: number }
  | { readonly type: 'releaseReserve' | 'restoreReserve' | 'ping' | 'close' };

/** `code` is SQLite's extended result code; 0 for other errors. */
export interface CommitFailure {
  readonly message: string;
  readonly code: number;
}

export interface CommitAnswer {
  readonly error?: CommitFailure;
  readonly step?: CompactionStep;
  readonly restored?: boolean;
  /** True in the message that the thread has opened the file, which answers no request. */
  readonly ready?: boolean;
  /** A failure outside of any request. */
  readonly unasked?: CommitFailure;
}

/** Processes a request and returns a failure as data. */
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

/** SQLite's result code for a full disk or quota. */
export const fullCode = 13;

/** True if the (extended) result code means a full disk. */
export function isFull({ code }: CommitFailure): boolean {
  return (code & 0xff) === fullCode;
}

/** Pages reserved for deletions when the quota is exhausted. */
const reservedPages = 256;
/** Pages returned to the file system in one step; each of them is filled by moving another page. */
const vacuumPages = 128;
const pageBytes = 4_096;
/** Assumed write-ahead log growth of a small transaction: it writes three pages, most of which the next one writes again. */
const transactionBytes = pageBytes / 2;

/** Copies the current write-ahead log into the database file. */
export function checkpoint(database: DatabaseSync): void {
  failpoint('before-checkpoint');
  database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get();
  failpoint('after-checkpoint');
}

/** The only writer of a log. Its methods throw the errors of node:sqlite and then leave no transaction open. */
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

  /** Approximate growth of the write-ahead log in bytes since the last checkpoint. */
  get uncheckedBytes(): number {
    return this.#unchecked;
  }

  /**
   * Returns the approximate growth of the file in bytes by a checkpoint after a batch; 0 for deletions only. A value needs
   * at most two pages in addition to its own.
   */
  growthWith(batch: ArrayBuffer): number {
    const count = new Float64Array(batch, 0, 1)[0]!;
    const header = new Float64Array(batch, 8, count * headerNumbers);
    let values = 0;
    for (let at = 3; at < header.length; at += headerNumbers) if (header[at] === 0) values += 1;
    if (values === 0) return 0;
    const size = this.#file === null ? 0 : statSync(this.#file).size;
    return this.#number('PRAGMA page_count') * pageBytes - size + batch.byteLength + values * 2 * pageBytes;
  }

  /** Writes a batch from `packBatch`, which is durable on return. */
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

  /** Makes reads before `revision` fail from now on, also after a restart. */
  beginCompaction(revision: number): void {
    this.#setMeta.run(revision, 'compact_revision');
    failpoint('after-compact-revision');
  }

  /**
   * Processes at most `limit` rows after `compacted` and deletes the rows that they make obsolete; after the last row,
   * returns pages to the file system.
   */
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
    // Assumes that each value is deleted from its own page.
    this.#unchecked += rows.length * pageBytes;
    return { compacted: reached, done: done && !this.#hasMuchFree() };
  }

  /** Restarts the count of `uncheckedBytes` when another connection makes the checkpoint. */
  beginCheckpoint(): void {
    this.#unchecked = 0;
  }

  /**
   * Copies the write-ahead log into the file, after which its pages are reused. Does nothing during a checkpoint by another
   * connection.
   */
  checkpoint(): void {
    this.#unchecked = 0;
    checkpoint(this.#database);
  }

  /** Releases the reserved space for deletions. */
  releaseReserve(): void {
    if (this.#quotaPages > 0) this.#limitPages(this.#quotaPages + reservedPages);
    if (this.#reserve) rmSync(this.#reserve.file, { force: true });
    try {
      // The write-ahead log then restarts within its existing space.
      this.checkpoint();
    } catch (error) {
      if (!isFull(failureOf(error))) throw error;
    }
  }

  /** Reserves the space again. Returns false if there is no room, so that the store is still full. */
  restoreReserve(): boolean {
    if (this.#quotaPages > 0) {
      const pages = this.#number('PRAGMA page_count');
      if (pages - this.#number('PRAGMA freelist_count') + reservedPages > this.#quotaPages) return false;
      this.#limitPages(Math.max(this.#quotaPages, pages));
    }
    return this.#reserve === undefined || reserve(this.#reserve.file, this.#reserve.bytes);
  }

  /** Checks that a transaction can be started. */
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

  /** Returns some pages to the file system if many are free. Returns true if many still are. */
  #truncate(): boolean {
    if (!this.#hasMuchFree()) return false;
    const free = this.#number('PRAGMA freelist_count');
    this.#database.exec(`PRAGMA incremental_vacuum(${vacuumPages})`);
    // Includes the pages with pointers to the moved ones.
    this.#unchecked += vacuumPages * 2 * pageBytes;
    return this.#hasMuchFree() && this.#number('PRAGMA freelist_count') < free;
  }

  /** True if more than a quarter of the file and more than 4 MiB is free. */
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

/** Writes and syncs a file of the given size; a sparse file would reserve nothing. Returns false if the disk is full. */
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
