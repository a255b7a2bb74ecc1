import { closeSync, existsSync, fsyncSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { CorruptStoreError, LockedStoreError, type Revision } from 'kubenest/sdk';
import type { Expiry } from './expiry-queue.ts';
import { type IndexEntry, KeyIndex } from './key-index.ts';
import { applicationId, connect, createSchema, schemaVersion } from './log-file.ts';

export interface OpenStore<Pending> {
  readonly database: DatabaseSync;
  readonly index: KeyIndex<Pending>;
  readonly revision: Revision;
  readonly compactRevision: Revision;
  readonly compacted: Revision;
  readonly tombstones: readonly { readonly entry: IndexEntry<Pending>; readonly revision: Revision }[];
  readonly expiries: readonly Expiry[];
  /** Releases the file's lock. */
  release(): void;
}

const busyCode = 5;

/**
 * Locks, checks and reads a store, creating it if it does not exist; undefined: in memory. Throws LockedStoreError and
 * CorruptStoreError.
 */
export function openStore<Pending>(file: string | undefined): OpenStore<Pending> {
  const release = file === undefined ? () => {} : lock(file);
  try {
    // Makes the file readable only by its owner; SQLite creates its auxiliary files with the same mode.
    if (file !== undefined && !existsSync(file)) closeSync(openSync(file, 'a', 0o600));
    if (file !== undefined) syncLog(`${file}-wal`);
    const database = connect(file ?? ':memory:');
    try {
      if (file === undefined || isEmpty(database)) createSchema(database);
      else checkFile(database, file);
      return { database, release, ...load<Pending>(database) };
    } catch (error) {
      database.close();
      throw error;
    }
  } catch (error) {
    release();
    if (error instanceof CorruptStoreError || (error as { code?: unknown }).code !== 'ERR_SQLITE_ERROR') throw error;
    throw new CorruptStoreError(`storage: ${file} is damaged or not a kubenest store: ${(error as Error).message}`, { cause: error });
  }
}

/** Locks a database beside the file exclusively. The operating system releases the lock whenever the process ends. */
function lock(file: string): () => void {
  const database = new DatabaseSync(`${file}-lock`, { timeout: 0 });
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if ((((error as { errcode?: number }).errcode ?? 0) & 0xff) !== busyCode) throw error;
    throw new LockedStoreError(`storage: another process has ${file} open`, { cause: error });
  }
  return () => database.close();
}

/**
 * Syncs the log at start. A killed process may have written a transaction without syncing it; SQLite reads it as committed,
 * and a later power failure could undo it and lead to reused revisions.
 */
function syncLog(file: string): void {
  if (!existsSync(file)) return;
  const descriptor = openSync(file, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** True if the file has no tables: its creator may have died after SQLite had written a header. */
function isEmpty(database: DatabaseSync): boolean {
  const { tables } = database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get() as { tables: number };
  return tables === 0 && pragma(database, 'application_id') === 0 && pragma(database, 'user_version') === 0;
}

/** Throws CorruptStoreError for a foreign file or another format. */
export function checkFile(database: DatabaseSync, file: string): void {
  const id = pragma(database, 'application_id');
  if (id !== applicationId) throw new CorruptStoreError(`storage: ${file} is not a kubenest store: its application id is ${id}`);
  const version = pragma(database, 'user_version');
  if (version !== schemaVersion) {
    throw new CorruptStoreError(`storage: ${file} has the format ${version}; this version of the server reads ${schemaVersion}`);
  }
}

function pragma(database: DatabaseSync, name: string): number {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0] as number;
}

type LoadedRow = [revision: number, key: string, createRevision: number, deleted: number, expires: number];

/** Builds the index from the log's small rows without reading values. */
function load<Pending>(database: DatabaseSync): Omit<OpenStore<Pending>, 'database' | 'release'> {
  const meta = new Map<string, number>();
  for (const { name, value } of database.prepare('SELECT name, value FROM meta').all() as { name: string; value: number }[])
    meta.set(name, value);
  const compactRevision = meta.get('compact_revision') ?? 0;
  const entries = new Map<string, IndexEntry<Pending>>();
  const expiring = new Map<string, number>();
  const tombstones: { entry: IndexEntry<Pending>; revision: Revision }[] = [];
  let revision = Math.max(1, compactRevision);
  const rows = database.prepare('SELECT revision, key, create_revision, deleted, expires FROM log ORDER BY revision');
  rows.setReturnArrays(true);
  for (const [rowRevision, key, createRevision, deleted, expires] of rows.iterate() as unknown as Iterable<LoadedRow>) {
    revision = Math.max(revision, rowRevision);
    let entry = entries.get(key);
    if (!entry) {
      entry = { key, revision: 0, createRevision: 0, deleted: false, pending: undefined };
      entries.set(key, entry);
    }
    entry.revision = rowRevision;
    entry.createRevision = createRevision;
    entry.deleted = deleted === 1;
    if (entry.deleted) tombstones.push({ entry, revision: rowRevision });
    if (expires > 0) expiring.set(key, expires);
    else expiring.delete(key);
  }
  const toMonotonic = performance.now() - Date.now();
  const expiries = [...expiring].map(([key, expires]) => ({ key, revision: entries.get(key)!.revision, at: expires + toMonotonic }));
  return { index: new KeyIndex(entries.values()), revision, compactRevision, compacted: meta.get('compacted') ?? 0, tombstones, expiries };
}
