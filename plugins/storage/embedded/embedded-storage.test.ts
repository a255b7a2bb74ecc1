import { Buffer } from 'node:buffer';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, copyFileSync, openSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { storageConformance } from '#sdk/testing/storage';
import {
  ConflictError,
  CorruptRecordError,
  CorruptStoreError,
  KeyExistsError,
  LockedStoreError,
  NoSpaceError,
  type StorageRecord,
  UnavailableError,
  UnknownOutcomeError,
} from 'kubenest/sdk';
import { EmbeddedStorage } from './embedded-storage.ts';
import { newFile, open, openInFolder, threadOf } from './testing/stores-in-folders.ts';

storageConformance('embedded, in memory', async () => {
  const storage = await EmbeddedStorage.open();
  return { storage, cleanup: () => storage.close() };
});

async function until(condition: () => Promise<boolean>): Promise<void> {
  await vi.waitUntil(condition, { interval: 5 });
}

const text = (value: string) => (): Buffer => Buffer.from(value);
const kilobytes = (count: number) => (): Buffer => Buffer.alloc(count * 1024, 'x');

describe('group commit', () => {
  it('decides writes in call order', async () => {
    const { storage, file } = await openInFolder({});
    await threadOf(file);
    const order: string[] = [];
    const first = storage.create('/a', text('1')).then((record) => {
      order.push('create');
      return record;
    });
    const second = storage.create('/a', text('2')).catch((error: unknown) => {
      order.push('exists');
      expect(error).toBeInstanceOf(KeyExistsError);
    });
    const other = storage.create('/b', text('1'));
    const [a, , b] = await Promise.all([first, second, other]);
    expect(order).toEqual(['create', 'exists']);
    expect(b.revision).toBe(a.revision + 1);
  });

  it('does not encode rejected writes', async () => {
    const { storage } = await openInFolder({});
    await storage.create('/a', text('1'));
    let encoded = 0;
    await expect(storage.create('/a', () => Buffer.from(String(++encoded)))).rejects.toThrow(KeyExistsError);
    expect(encoded).toBe(0);
  });

  it('does not show unsynced writes', async () => {
    const { storage, file } = await openInFolder({});
    await threadOf(file);
    const before = await storage.currentRevision();
    let given = 0;
    const write = storage.create('/a', (revision) => Buffer.from(String((given = revision))));
    expect(given).toBe(before + 1);
    expect(await storage.get('/a')).toBeUndefined();
    expect(await storage.list('/')).toMatchObject({ count: 0, revision: before });
    expect(await storage.currentRevision()).toBe(before);
    expect((await write).revision).toBe(given);
  });

  it('rejects a conflict only after the winning write is durable', async () => {
    const { storage, file } = await openInFolder({});
    await threadOf(file);
    const { revision } = await storage.create('/a', text('1'));
    const winner = storage.update('/a', revision, text('2'));
    const loser = storage.update('/a', revision, text('3')).catch((error: unknown) => error);
    const conflict = (await loser) as ConflictError;
    expect(conflict).toBeInstanceOf(ConflictError);
    expect(conflict.current?.revision).toBe((await winner).revision);
    expect((await storage.get('/a'))?.value.toString()).toBe('2');
  });

  it.each([{ maxBatchWrites: 3 }, { maxBatchBytes: 1_000 }, { worker: false }])('satisfies the contract with %j', async (options) => {
    const { storage, file } = await openInFolder(options);
    if (options.worker !== false) await threadOf(file);
    const records = await Promise.all(Array.from({ length: 50 }, (_, i) => storage.create(`/pods/${i}`, kilobytes(1))));
    expect(records.map((record) => record.revision)).toEqual(Array.from({ length: 50 }, (_, i) => i + 2));
    expect((await storage.list('/pods/')).count).toBe(50);
  });
});

describe('the file', () => {
  it('is locked against another storage in this process', async () => {
    const { file, reopen } = await openInFolder({});
    await expect(EmbeddedStorage.open({ file })).rejects.toThrow(LockedStoreError);
    await expect(EmbeddedStorage.open({ file })).rejects.toThrow(file);
    await (await reopen()).healthy();
  });

  it('is locked against another process and released when that is killed', async () => {
    const file = newFile();
    const holder = spawn(
      process.execPath,
      [
        '-e',
        `
      const { DatabaseSync } = require('node:sqlite');
      const lock = new DatabaseSync(${JSON.stringify(`${file}-lock`)});
      lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
      console.log('locked');
      setInterval(() => {}, 1000);
    `,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    try {
      await once(holder.stdout!, 'data');
      await expect(EmbeddedStorage.open({ file })).rejects.toThrow(LockedStoreError);
    } finally {
      await kill(holder);
    }
    await (await open({ file })).healthy();
  });

  it('is initialized if its creator died before creating the tables', async () => {
    const file = newFile();
    sql(file, 'PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL');
    expect(statSync(file).size).toBeGreaterThan(0);
    const storage = await open({ file });
    await storage.create('/pods/a', () => Buffer.from('a'));
    expect((await storage.get('/pods/a'))?.value.toString()).toBe('a');
  });

  const damages: readonly { readonly name: string; readonly damage: (file: string) => void; readonly message: RegExp }[] = [
    {
      name: 'text',
      damage: (file) => writeFileSync(file, 'this is no database, but it is long enough to look like one'.repeat(100)),
      message: /store\.db is damaged or not a kubenest store/,
    },
    {
      name: 'a foreign database',
      damage: (file) => sql(file, 'CREATE TABLE other (id INTEGER)'),
      message: /store\.db is not a kubenest store: its application id is 0/,
    },
    {
      name: 'a newer format',
      damage: (file) => edit(file, 'PRAGMA user_version = 99'),
      message: /store\.db has the format 99; this version of the server reads 1/,
    },
    {
      name: 'without tables',
      damage: (file) => edit(file, 'DROP TABLE log'),
      message: /store\.db is damaged or not a kubenest store: no such table: log/,
    },
    {
      name: 'truncated',
      damage: (file) => fill(file, () => truncateSync(file, 8_192)),
      message: /store\.db is damaged or not a kubenest store/,
    },
    {
      name: 'overwritten in the middle',
      damage: (file) => fill(file, () => overwrite(file, 4_096, 40_960)),
      message: /store\.db is damaged or not a kubenest store/,
    },
  ];
  it.each(damages)('is rejected if it is $name', async ({ damage, message }) => {
    const file = newFile();
    damage(file);
    const error = await EmbeddedStorage.open({ file }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CorruptStoreError);
    expect((error as Error).message).toMatch(message);
    // The lock was released.
    await expect(EmbeddedStorage.open({ file })).rejects.toThrow(CorruptStoreError);
  });

  it('isolates a record with modified bytes', async () => {
    const { storage, file, reopen } = await openInFolder({});
    await storage.create('/pods/a', text('the quick brown fox'));
    await storage.create('/pods/b', text('jumps over'));
    await storage.close();
    const bytes = readFileSync(file);
    const at = bytes.indexOf('quick');
    overwrite(file, at, 1);
    const again = await reopen();
    const damaged = await again.get('/pods/a');
    expect(() => damaged?.value).toThrow(CorruptRecordError);
    const { records } = await again.list('/pods/');
    expect(() => records[0]?.value).toThrow(/\/pods\/a of revision 2 cannot be read: its checksum is wrong/);
    expect(records[1]?.value.toString()).toBe('jumps over');
    expect((await again.delete('/pods/a', 2)).record.revision).toBe(2);
    expect(await again.get('/pods/a')).toBeUndefined();
  });

  it('is readable only by its owner', async () => {
    const { storage, file } = await openInFolder({});
    await threadOf(file);
    await storage.create('/a', text('1'));
    for (const suffix of ['', '-wal', '-shm', '-reserve']) expect((statSync(file + suffix).mode & 0o777).toString(8)).toBe('600');
  });

  it('survives a copy of a running store with its write-ahead log', async () => {
    const { storage, file } = await openInFolder({ checkpointBytes: 1e9 });
    await Promise.all(Array.from({ length: 100 }, (_, i) => storage.create(`/pods/${i}`, kilobytes(1))));
    const copy = newFile();
    copyFileSync(file, copy);
    copyFileSync(`${file}-wal`, `${copy}-wal`);
    expect((await (await open({ file: copy })).list('/pods/')).count).toBe(100);
  });

  it('contains no deleted data after compaction', async () => {
    const { storage, file } = await openInFolder({});
    const { revision } = await storage.create('/secrets/a', text('canary-2b7e151628aed2a6'));
    await storage.delete('/secrets/a', revision);
    await storage.compact(await storage.currentRevision());
    await storage.close();
    expect(readFileSync(file).includes('canary-2b7e151628aed2a6')).toBe(false);
  });

  it('returns pages to the file system after many deletions', async () => {
    const { storage, file } = await openInFolder({});
    await threadOf(file);
    const records = await Promise.all(Array.from({ length: 100 }, (_, i) => storage.create(`/pods/${i}`, kilobytes(200))));
    await Promise.all(records.map(({ key, revision }) => storage.delete(key, revision)));
    await storage.compact(await storage.currentRevision());
    await storage.close();
    expect(readFileSync(file).length).toBeLessThan(10_000_000);
  });
});

describe('a checkpoint', () => {
  it('lets the write-ahead log restart during continuous writes', async () => {
    const { storage, file, reopen } = await openInFolder({});
    await threadOf(file);
    for (let i = 0; i < 600; i++) await storage.create(`/pods/${i}`, kilobytes(8));
    expect(statSync(`${file}-wal`).size).toBeLessThan(3_000_000);
    expect(statSync(file).size).toBeGreaterThan(3_000_000);
    expect((await (await reopen()).list('/pods/')).count).toBe(600);
  });

  it('that lags behind delays writes', async () => {
    const { storage, file } = await openInFolder({ maxBatchBytes: 65_536 });
    await threadOf(file);
    await Promise.all(Array.from({ length: 2_000 }, (_, i) => storage.create(`/pods/${i}`, kilobytes(8))));
    expect(statSync(`${file}-wal`).size).toBeLessThan(3_000_000);
  });
});

describe('a large compaction', () => {
  it('neither grows the write-ahead log nor delays writes until its end', async () => {
    const { storage, file } = await openInFolder({ checkpointBytes: 1_048_576, compactionIntervalMs: 0 });
    await threadOf(file);
    let revision = (await storage.create('/other', text('1'))).revision;
    const records = await Promise.all(Array.from({ length: 4_000 }, (_, i) => storage.create(`/pods/${i}`, kilobytes(4))));
    await Promise.all(records.map(({ key, revision: at }) => storage.delete(key, at)));
    let isOver = false;
    const compaction = storage.compact(await storage.currentRevision()).then(() => {
      isOver = true;
    });
    let writes = 0;
    for (; !isOver; writes++) ({ revision } = await storage.update('/other', revision, text('2')));
    await compaction;
    expect(writes).toBeGreaterThan(10);
    expect(statSync(`${file}-wal`).size).toBeLessThan(10_000_000);
  });
});

describe('expiry', () => {
  it('is void for an overwritten write', async () => {
    const { storage } = await openInFolder({});
    const { revision } = await storage.create('/a', text('1'), { ttlSeconds: 0.05 });
    await storage.delete('/a', revision);
    await storage.create('/a', text('2'));
    // Keys expire in the order of their times.
    await storage.create('/later', text('1'), { ttlSeconds: 0.06 });
    await until(async () => (await storage.get('/later')) === undefined);
    expect((await storage.get('/a'))?.value.toString()).toBe('2');
  });

  it('takes place at startup for keys that expired while the store was closed', async () => {
    const { storage, reopen } = await openInFolder({});
    await storage.create('/a', text('1'), { ttlSeconds: 0.05 });
    await storage.close();
    // More than the time to live.
    await sleep(100);
    const again = await reopen();
    await until(async () => (await again.get('/a')) === undefined);
  });
});

describe('automatic compaction', () => {
  it('removes versions that were overwritten before the previous run', async () => {
    const { storage } = await openInFolder({ compactionIntervalMs: 100 });
    let record = await storage.create('/a', text('0'));
    const old = record.revision;
    for (let i = 1; i < 10; i++) record = await storage.update('/a', record.revision, text(String(i)));
    const last = record.revision;
    await until(async () => (await storage.compactRevision()) === last);
    await expect(storage.get('/a', { revision: old })).rejects.toThrow(`revision ${old} has been compacted`);
    expect((await storage.get('/a', { revision: last }))?.value.toString()).toBe('9');
  });

  it('resumes after an interruption', async () => {
    const { storage, file, reopen } = await openInFolder({ compactionIntervalMs: 0 });
    await threadOf(file);
    const records = await Promise.all(Array.from({ length: 2_000 }, (_, i) => storage.create(`/pods/${i}`, text('1'))));
    await Promise.all(records.map(({ key, revision }) => storage.update(key, revision, text('2'))));
    const compaction = storage.compact(await storage.currentRevision());
    await sleep(2);
    await storage.close();
    await compaction;
    const again = await reopen();
    await again.compact((await again.create('/x', text('1'))).revision);
    await again.close();
    expect(rows(file)).toBe(2_001);
  });
});

describe('lack of space', () => {
  it('rejects writes except deletions, and recovers when there is space', async () => {
    const { storage, file } = await openInFolder({ quotaBytes: 4_194_304, compactionIntervalMs: 0 });
    await threadOf(file);
    const stored: StorageRecord[] = [];
    const full = async (): Promise<unknown> => {
      for (let i = 0; ; i++) {
        const written = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => storage.create(`/pods/${i}-${n}`, kilobytes(16))));
        for (const result of written) {
          if (result.status === 'rejected') return result.reason;
          stored.push(result.value);
        }
      }
    };
    expect(await full()).toBeInstanceOf(NoSpaceError);
    await expect(storage.create('/pods/small', text('1'))).rejects.toThrow(NoSpaceError);
    await expect(storage.update('/pods/0-0', stored[0]!.revision, text('1'))).rejects.toThrow(NoSpaceError);
    await expect(storage.healthy()).rejects.toThrow(NoSpaceError);
    expect((await storage.list('/pods/')).records.map((record) => record.key).sort()).toEqual(stored.map((record) => record.key).sort());
    const half = stored.slice(0, stored.length / 2);
    const deleted = await Promise.all(half.map(({ key, revision }) => storage.delete(key, revision)));
    await storage.compact(deleted.at(-1)!.revision);
    await until(() =>
      storage.create('/pods/again', kilobytes(16)).then(
        () => true,
        () => false,
      ),
    );
    await storage.healthy();
    expect((await storage.list('/pods/')).count).toBe(stored.length - half.length + 1);
    const revisions = stored.map((record) => record.revision);
    expect((await storage.get('/pods/again'))!.revision).toBeGreaterThan(Math.max(...revisions, deleted.at(-1)!.revision));
  });
});

describe('failure of the disk', () => {
  it('stops the store: pending writes have an unknown outcome, later ones are rejected', async () => {
    const failures: Error[] = [];
    const { storage, file } = await openInFolder({ onFailure: (error) => void failures.push(error) });
    await threadOf(file);
    await storage.create('/a', text('1'));
    sql(file, 'DROP TABLE value');
    const under = storage.create('/b', text('1')).catch((error: unknown) => error);
    const waiting = storage.create('/b', text('2')).catch((error: unknown) => error);
    expect(await under).toBeInstanceOf(UnknownOutcomeError);
    expect(await waiting).toBeInstanceOf(UnavailableError);
    await expect(storage.create('/c', text('1'))).rejects.toThrow(UnavailableError);
    await expect(storage.healthy()).rejects.toThrow(UnavailableError);
    expect(failures).toHaveLength(1);
    expect(failures[0]!.message).toContain('value');
  });
});

describe('close', () => {
  it('after a failure ends the thread', async () => {
    const { storage, file, reopen } = await openInFolder({ onFailure: () => {} });
    await threadOf(file);
    sql(file, 'ALTER TABLE value RENAME TO other');
    const write = storage.create('/a', text('1'));
    await expect(write).rejects.toThrow(UnknownOutcomeError);
    await storage.close();
    sql(file, 'ALTER TABLE other RENAME TO value');
    await (await reopen()).create('/a', text('1'));
  });

  it('is possible at any moment of the start', async () => {
    const file = newFile();
    for (let i = 0; i < 25; i++) {
      const storage = await open({ file, checkpointBytes: 262_144 });
      const write = storage.create(`/a/${i}`, text('1'));
      await sleep(i * 5);
      if (i % 5 === 0) rmSync(`${file}-reserve`, { force: true });
      await storage.close();
      await write;
    }
    expect((await (await open({ file })).list('/a/')).count).toBe(25);
  });
});

describe('start', () => {
  it('with an empty folder is quick', async () => {
    await openInFolder({});
    const started = performance.now();
    const { storage } = await openInFolder({});
    await storage.list('/');
    expect(performance.now() - started).toBeLessThan(100);
  });
});

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

function sql(file: string, statement: string): void {
  const database = new DatabaseSync(file);
  database.exec(statement);
  database.close();
}

/** Modifies a store's file from outside. */
function edit(file: string, statement: string): void {
  fill(file, () => sql(file, statement));
}

/** Creates a store with some records and damages it. */
function fill(file: string, damage: () => void): void {
  const database = new DatabaseSync(file);
  database.exec(
    'PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = DELETE; PRAGMA application_id = 1263424340; PRAGMA user_version = 1',
  );
  database.exec(`
    CREATE TABLE log (revision INTEGER PRIMARY KEY, key TEXT NOT NULL, create_revision INTEGER NOT NULL, previous INTEGER NOT NULL, deleted INTEGER NOT NULL, expires INTEGER NOT NULL) STRICT;
    CREATE TABLE value (revision INTEGER PRIMARY KEY, crc INTEGER NOT NULL, value BLOB NOT NULL) STRICT;
    CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO meta VALUES ('compact_revision', 0), ('compacted', 0)`);
  database.exec(`
    WITH RECURSIVE revisions (revision) AS (SELECT 2 UNION ALL SELECT revision + 1 FROM revisions WHERE revision < 2000)
    INSERT INTO log SELECT revision, '/pods/default/web-' || revision, revision, 0, 0, 0 FROM revisions`);
  database.close();
  damage();
}

function overwrite(file: string, at: number, length: number): void {
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, Buffer.alloc(length, 0xa5), 0, length, at);
  closeSync(descriptor);
}

function rows(file: string): number {
  const database = new DatabaseSync(file);
  try {
    return (database.prepare('SELECT count(*) AS count FROM log').get() as { count: number }).count;
  } finally {
    database.close();
  }
}
