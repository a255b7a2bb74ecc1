/**
 * The process with the simulated disk: writers on an embedded store and a watcher. Each operation is appended to a file
 * before and after it runs, which gives it a position among the system calls.
 *
 *     power-loss-writer.ts <store> <notes> <life> <seed> <watcher's last revision> <what: new, full or ''>
 *
 * `new`: revisions are raised first, as in a restore. `full`: writes megabyte values until there is no space and deletes
 * them, after which pages are returned to the file system. Exits by itself with the store closed.
 */
import { Buffer } from 'node:buffer';
import { openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedStorage } from '#plugins/storage/embedded/embedded-storage';
import type { HistoryEntry } from './check-history.ts';
import { type Compaction, textOf } from './power-loss.ts';
import { perform } from './perform.ts';
import { random } from './random.ts';

const [file, notes, life, seed, watchedBefore, what] = process.argv.slice(2) as [string, string, string, string, string, string];
const descriptor = openSync(notes, 'a');
const next = random(Number(seed));
const keys = Array.from({ length: 24 }, (_, i) => `/r/${i}`);
const megabyte = 1_048_576;
const quotaBytes = 8 * megabyte;
/** Above the revision of a new store, below that of a `full` one. */
const raised = 1_000;
let id = Number(life) * 1e7;
let isCompacting = false;
/** Acknowledged revision of each key. */
const revisions = new Map<string, number>();

function note(entry: HistoryEntry | Compaction): void {
  writeSync(descriptor, `${JSON.stringify(entry)}\n`);
}

const storage = await EmbeddedStorage.open({ file, compactionIntervalMs: 0, checkpointBytes: 131_072, maxBatchWrites: 8, quotaBytes });
note({ type: 'open', life: Number(life), revision: await storage.currentRevision() });
// Reads of the past are rejected from now on, so it must not return later either.
note({ type: 'compacted', revision: await storage.compactRevision() });
if (what === 'new') {
  note({ type: 'compact', revision: raised });
  await storage.raiseRevision(raised);
  note({ type: 'compacted', revision: raised });
}
for (const { key, revision } of (await storage.list('/r/')).records) revisions.set(key, revision);
let watched = Math.max(Number(watchedBefore), await storage.compactRevision());
const ended = new AbortController();
const watching = watch();
// Existing data is read before anything is written.
await caughtUp();
await Promise.all(Array.from({ length: 6 }, (_, writer) => writeMany(writer)));
await compact();
if (what === 'full') {
  await fill();
  await Promise.all(Array.from({ length: 6 }, (_, writer) => writeMany(writer)));
}
await caughtUp();
ended.abort();
await storage.close();
await watching;

async function watch(): Promise<void> {
  note({ type: 'watch', watcher: 'storage', from: watched });
  for await (const { revision, key, record } of storage.watch('/r/', watched, ended.signal)) {
    note({ type: 'event', watcher: 'storage', revision, key, text: record ? textOf(record.value) : '' });
    watched = revision;
  }
}

async function caughtUp(): Promise<void> {
  while (watched < (await storage.currentRevision())) await sleep(1);
}

/** Each writer has its own keys, whose state it knows. */
async function writeMany(writer: number): Promise<void> {
  for (let i = 0; i < 12; i++) {
    const key = keys[(next(keys.length / 6) * 6 + writer) % keys.length]!;
    const size = next(6) === 0 ? 20_000 + next(100_000) : next(3_000);
    await write(key, revisions.has(key) && next(4) === 0 ? undefined : size);
    if (next(8) === 0) await compact();
    if (next(4) === 0) await sleep(next(3));
  }
}

/** Resolves to true if there was space. `size` is undefined for a deletion. */
async function write(key: string, size: number | undefined): Promise<boolean> {
  const expected = revisions.get(key) ?? 0;
  const verb = size === undefined ? 'delete' : expected === 0 ? 'create' : 'update';
  const write = ++id;
  const text = size === undefined ? '' : String(write);
  const encode = (): Buffer => Buffer.concat([Buffer.from(`${text}\n`), Buffer.alloc(size!, text)]);
  note({ type: 'begin', id: write, verb, key, expected, text });
  try {
    const { revision } = await perform(storage, { verb, key, expected, encode });
    note({ type: 'ack', id: write, revision });
    if (size === undefined) revisions.delete(key);
    else revisions.set(key, revision);
    return true;
  } catch (error) {
    if ((error as Error).name !== 'NoSpaceError') throw error;
    note({ type: 'reject', id: write, error: (error as Error).name });
    return false;
  }
}

/**
 * Compacts only what the watcher has received, from which the test knows the past. Calls are sequential, because a call
 * during another one resolves early.
 */
async function compact(): Promise<void> {
  const revision = watched;
  if (isCompacting) return;
  isCompacting = true;
  try {
    if (revision <= (await storage.compactRevision())) return;
    note({ type: 'compact', revision });
    await storage.compact(revision);
    note({ type: 'compacted', revision });
  } finally {
    isCompacting = false;
  }
}

async function fill(): Promise<void> {
  let count = 0;
  while (await write(`/r/large-${count}`, megabyte - 100)) count += 1;
  for (let i = 0; i < count; i++) await write(`/r/large-${i}`, undefined);
  await caughtUp();
  await compact();
  while (!(await write('/r/again', 10))) await sleep(50);
}
