/**
 * Compacts every 50 writes while keys are created, changed and deleted, and watches start at revisions around the current one:
 * a watch that does not fail with CompactedError must miss no event, in particular no deletion, and see none early. etcd has
 * violated each of these at some time (see docs/internals/reliability.md).
 */
import { Buffer } from 'node:buffer';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { CompactedError } from '#apiserver/storage/errors';
import type { Revision, Storage } from '#apiserver/storage/storage';
import { EmbeddedStorage } from '#plugins/storage/embedded/embedded-storage';
import { openEtcdStorage } from '#plugins/storage/etcd/open-etcd-storage';
import { RedisStorage } from '#plugins/storage/redis/redis-storage';
import { etcd, noEtcd, startEtcd } from '../servers/etcd-server.ts';
import { noRedis, redisServer, startRedis } from '../servers/redis-server.ts';
import { random } from './random.ts';

const writes = 600;
const widest = 100;
/** Writes between compactions; the watches of the last hundred writes see none, however slow the store is. */
const compactedEach = 50;

interface Opened extends AsyncDisposable {
  readonly storage: Storage;
}

async function openEmbedded(): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), 'compaction-races-'));
  const storage = await EmbeddedStorage.open({ file: join(folder, 'store.db'), compactionIntervalMs: 0 });
  return {
    storage,
    async [Symbol.asyncDispose]() {
      await storage.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Opens a store on a server of the test. */
async function openOn<Server extends AsyncDisposable>(server: Server, open: (server: Server) => Promise<Storage>): Promise<Opened> {
  const storage = await open(server);
  return {
    storage,
    async [Symbol.asyncDispose]() {
      await storage.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Events received by a watch, in order; it ends after the last write or with CompactedError. */
interface Seen {
  readonly from: Revision;
  readonly events: string[];
  isCompacted: boolean;
}

async function watch(storage: Storage, seen: Seen, signal: AbortSignal): Promise<void> {
  try {
    for await (const { type, key, revision } of storage.watch('/r/', seen.from, signal))
      if (type !== 'PROGRESS') seen.events.push(`${revision} ${type} ${key}`);
  } catch (error) {
    expect(error).toBeInstanceOf(CompactedError);
    seen.isCompacted = true;
  }
}

for (const { name, absent, open } of [
  { name: 'the embedded store', absent: undefined, open: openEmbedded },
  {
    name: 'redis',
    absent: redisServer === undefined ? noRedis : undefined,
    open: async () => openOn(await startRedis(), ({ url }) => RedisStorage.open({ url, compactionIntervalMs: 0 })),
  },
  {
    name: 'etcd',
    absent: etcd === undefined ? noEtcd : undefined,
    open: async () => openOn(await startEtcd(), ({ url }) => openEtcdStorage({ servers: [url], compactionIntervalMs: 0 })),
  },
]) {
  it(`compaction of ${name} every 50 writes hides no event from watches that start around it`, { timeout: 120_000 }, async ({ skip }) => {
    if (absent) return skip(absent);
    await using opened = await open();
    const { storage } = opened;
    const seed = Date.now() % 2 ** 31;
    const next = random(seed);
    const log: string[] = [];
    const revisions: Revision[] = [];
    const present = new Map<string, Revision>();
    const watches: Seen[] = [];
    const watching: Promise<void>[] = [];
    const end = new AbortController();
    const compact = async (): Promise<void> => {
      const revision = await storage.currentRevision();
      revisions.push(revision);
      await storage.compact(Math.max(1, revision - next(5)));
    };
    let compacting = Promise.resolve();
    for (let i = 0; i < writes; i++) {
      const key = `/r/${next(20)}`;
      const at = present.get(key);
      const bytes = (): Buffer => Buffer.from(String(i));
      if (at !== undefined && next(2) === 0) {
        const { revision } = await storage.delete(key, at);
        log.push(`${revision} DELETE ${key}`);
        present.delete(key);
      } else {
        const { revision } = at === undefined ? await storage.create(key, bytes) : await storage.update(key, at, bytes);
        log.push(`${revision} PUT ${key}`);
        present.set(key, revision);
      }
      if (i % compactedEach === compactedEach - 1) {
        await compacting;
        if (i < writes - widest) compacting = compact();
      }
      if (next(4) !== 0) continue;
      const seen: Seen = { from: Math.max(1, revisionOf(log.at(-1)!) + next(2 * widest) - widest), events: [], isCompacted: false };
      watches.push(seen);
      watching.push(watch(storage, seen, end.signal));
      await sleep(next(10));
    }
    const complete = (seen: Seen): readonly string[] => log.filter((event) => revisionOf(event) > seen.from);
    // The comparison below reports missing events.
    await vi
      .waitUntil(() => watches.every((seen) => seen.isCompacted || seen.events.length >= complete(seen).length), {
        timeout: 20_000,
        interval: 20,
      })
      .catch(() => {});
    end.abort();
    await Promise.all(watching);
    for (const seen of watches) {
      const wanted = complete(seen);
      expect(seen.events, `seed ${seed}, from ${seen.from}`).toEqual(seen.isCompacted ? wanted.slice(0, seen.events.length) : wanted);
    }
    expect(watches.filter(({ isCompacted }) => !isCompacted).length).toBeGreaterThan(10);
    expect(watches.some(({ isCompacted }) => isCompacted)).toBe(true);
    expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
    const { records } = await storage.list('/r/');
    expect(records.map(({ key, revision }) => [key, revision])).toEqual([...present].sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function revisionOf(event: string): Revision {
  return Number(event.slice(0, event.indexOf(' ')));
}
