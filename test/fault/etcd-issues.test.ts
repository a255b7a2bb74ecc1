/**
 * Regression tests for former etcd bugs, by their number in https://github.com/etcd-io/etcd/issues: a minimal scenario on
 * each backend that could have the same bug. The other tests of this folder cover them under load.
 */
import { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { CompactedError } from '#apiserver/storage/errors';
import type { Revision, Storage, StorageEvent } from '#apiserver/storage/storage';
import { EmbeddedStorage } from '#plugins/storage/embedded/embedded-storage';
import { openEtcdStorage } from '#plugins/storage/etcd/open-etcd-storage';
import { RedisStorage } from '#plugins/storage/redis/redis-storage';
import { startTestCluster, type TestCluster, type TestStorage } from '#testing/index';
import { etcd, type EtcdServer, noEtcd, startEtcd } from '../servers/etcd-server.ts';
import { Kubenest } from '../servers/kubenest.ts';
import { startProxy } from '../servers/proxy.ts';
import { noRedis, type RedisServer, redisServer, startRedis } from '../servers/redis-server.ts';
import { exited } from './deaths.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const bytes = (text: string) => (): Buffer => Buffer.from(text);

interface Backend {
  readonly name: string;
  readonly absent: string | undefined;
  /** undefined: a file of the server. */
  readonly start: (() => Promise<RedisServer | EtcdServer>) | undefined;
  open(place: Place): Promise<Storage>;
  testStorage(place: Place): TestStorage;
  /** Flags of a server on the backend. */
  flags(url: string): readonly string[];
}

/** Location of the objects: `url` of a store with a server, `file` of others. */
interface Place {
  readonly url: string;
  readonly file: string;
}

const embedded: Backend = {
  name: 'embedded',
  absent: undefined,
  start: undefined,
  open: ({ file }) => EmbeddedStorage.open({ file, compactionIntervalMs: 0 }),
  testStorage: ({ file }) => ({ file }),
  flags: () => [],
};
const redis: Backend = {
  name: 'redis',
  absent: redisServer === undefined ? noRedis : undefined,
  start: startRedis,
  open: ({ url }) => RedisStorage.open({ url, compactionIntervalMs: 0 }),
  testStorage: ({ url }) => ({ redisUrl: url }),
  flags: (url) => ['--storage-backend=redis', `--redis-url=${url}`],
};
const etcdBackend: Backend = {
  name: 'etcd',
  absent: etcd === undefined ? noEtcd : undefined,
  start: startEtcd,
  open: ({ url }) => openEtcdStorage({ servers: [url], compactionIntervalMs: 0 }),
  testStorage: ({ url }) => ({ etcdUrl: url }),
  flags: (url) => ['--storage-backend=etcd3', `--etcd-servers=${url}`],
};
const shared = [redis, etcdBackend];
const all = [embedded, ...shared];

/** A folder and, if the backend has one, its server; disposed of with the stack. */
class World implements AsyncDisposable {
  readonly ends = new AsyncDisposableStack();
  readonly folder = mkdtempSync(join(tmpdir(), 'etcd-issues-'));
  readonly backend: Backend;
  server: RedisServer | EtcdServer | undefined;

  private constructor(backend: Backend) {
    this.backend = backend;
    this.ends.defer(() => rmSync(this.folder, { recursive: true, force: true }));
    this.ends.defer(async () => this.server?.[Symbol.asyncDispose]());
  }

  static async of(backend: Backend): Promise<World> {
    const world = new World(backend);
    world.server = await backend.start?.();
    return world;
  }

  get place(): Place {
    return { url: this.server?.url ?? '', file: join(this.folder, 'store.db') };
  }

  async open(): Promise<Storage> {
    const storage = await this.backend.open(this.place);
    this.ends.defer(() => storage.close());
    return storage;
  }

  async cluster(place = this.place): Promise<TestCluster> {
    return this.ends.use(await startTestCluster({ storage: this.backend.testStorage(place), quiet: true }));
  }

  async kubenest(folder = 'server', url = this.place.url): Promise<Kubenest> {
    const kubenest = this.ends.use(await Kubenest.start(join(this.folder, folder), this.backend.flags(url)));
    await vi.waitFor(async () => expect((await kubenest.fetch('/readyz')).status).toBe(200), { interval: 50 });
    return kubenest;
  }

  /** Kills and restarts the process that stores the objects. */
  async crash(kubenest: Kubenest): Promise<void> {
    if (this.server) this.server = await this.server.restart();
    else {
      await kubenest.kill('SIGKILL');
      await kubenest.restart();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.ends.disposeAsync();
  }
}

/** Runs a scenario on each backend. */
function issue(name: string, backends: readonly Backend[], run: (world: World) => Promise<void>): void {
  describe(name, () => {
    it.concurrent.for(backends.map((backend) => ({ on: backend.name, backend })))(
      'on $on',
      { timeout: 90_000 },
      async ({ backend }, { skip }) => {
        if (backend.absent) return skip(backend.absent);
        await using world = await World.of(backend);
        await run(world);
      },
    );
  });
}

interface Shown {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly data?: Readonly<Record<string, string>>;
}
interface Event {
  readonly type: string;
  readonly object: Shown & { readonly code?: number };
}

function linesOf(text: string): Event[] {
  return text
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Event);
}

/** Records events as `2 PUT /r/a` until the signal aborts; ends with 'compacted' after CompactedError. */
async function watched(storage: Storage, from: Revision, signal: AbortSignal, seen: string[]): Promise<void> {
  try {
    for await (const event of storage.watch('/r/', from, signal)) if (event.type !== 'PROGRESS') seen.push(shown(event));
  } catch (error) {
    expect(error).toBeInstanceOf(CompactedError);
    seen.push('compacted');
  }
}

function shown({ revision, type, key }: Pick<StorageEvent, 'revision' | 'type' | 'key'>): string {
  return `${revision} ${type} ${key}`;
}

function revisionOf(event: string): Revision {
  return Number(event.slice(0, event.indexOf(' ')));
}

issue('14370: a write acknowledged immediately before a crash is durable', all, async (world) => {
  const kubenest = await world.kubenest();
  for (let i = 0; i < 4; i++) {
    const { status, body } = await kubenest.fetch(configMaps, { body: { metadata: { name: `c${i}` } } });
    expect(status).toBe(201);
    await world.crash(kubenest);
    const kept = await vi.waitFor(
      async () => {
        const answer = await kubenest.fetch(`${configMaps}/c${i}`);
        expect([200, 404]).toContain(answer.status);
        return answer;
      },
      { interval: 50 },
    );
    expect(kept.status).toBe(200);
    expect((kept.body as Shown).metadata.resourceVersion).toBe((body as Shown).metadata.resourceVersion);
  }
});

issue('13766: a crash under load neither loses nor repeats acknowledged writes', all, async (world) => {
  const kubenest = await world.kubenest();
  const counter = `${configMaps}/counter`;
  expect((await kubenest.fetch(configMaps, { body: { metadata: { name: 'counter' }, data: { count: '0' } } })).status).toBe(201);
  let acknowledged = 0;
  let unknown = 0;
  for (let crash = 0; crash < 3; crash++) {
    let isOver = false;
    const increment = async (): Promise<void> => {
      while (!isOver) {
        const read = await kubenest.fetch(counter).catch(() => undefined);
        if (read?.status !== 200) {
          await sleep(20);
          continue;
        }
        const { metadata, data } = read.body as Shown;
        const body = { metadata, data: { count: String(Number(data!['count']) + 1) } };
        const answer = await kubenest.fetch(counter, { method: 'PUT', body }).catch(() => undefined);
        if (answer?.status === 200) acknowledged += 1;
        // A lost race or an unavailable store had no effect.
        else if (answer === undefined || answer.status === 504) unknown += 1;
      }
    };
    const before = acknowledged;
    const running = Array.from({ length: 8 }, () => increment());
    await vi.waitFor(() => expect(acknowledged).toBeGreaterThan(before + 20), { interval: 5 });
    await world.crash(kubenest);
    isOver = true;
    await Promise.all(running);
    const { body } = await vi.waitFor(
      async () => {
        const answer = await kubenest.fetch(counter);
        expect(answer.status).toBe(200);
        return answer;
      },
      { interval: 50 },
    );
    const count = Number((body as Shown).data!['count']);
    expect(count).toBeGreaterThanOrEqual(acknowledged);
    expect(count).toBeLessThanOrEqual(acknowledged + unknown);
  }
});

issue('20418: no read of a paused server is older than the writes acknowledged meanwhile', shared, async (world) => {
  const [paused, other] = await Promise.all([world.kubenest('one'), world.kubenest('other')]);
  const name = `${configMaps}/a`;
  const write = async (text: string): Promise<number> => {
    const method = text === '0' ? 'POST' : 'PUT';
    const body = { metadata: { name: 'a' }, data: { text } };
    const answer = await other.fetch(text === '0' ? configMaps : name, { method, body });
    expect(answer.status).toBeLessThan(300);
    return Number((answer.body as Shown).metadata.resourceVersion);
  };
  await write('0');
  for (let round = 1; round <= 2; round++) {
    await Promise.all([paused.fetch(configMaps), paused.fetch(name)]);
    process.kill(paused.pid, 'SIGSTOP');
    await sleep(1_500);
    const text = String(round);
    const revision = await write(text);
    const reads = (): Promise<readonly string[]> =>
      Promise.all([
        paused.fetch(name).then(({ body }) => (body as Shown).data!['text']!),
        paused.fetch(configMaps).then(({ body }) => (body as { readonly items: readonly Shown[] }).items[0]!.data!['text']!),
        paused.fetch(`${configMaps}?limit=1`).then(({ body }) => (body as { readonly items: readonly Shown[] }).items[0]!.data!['text']!),
        paused
          .fetch(`${configMaps}?resourceVersion=${revision}`)
          .then(({ body }) => (body as { readonly items: readonly Shown[] }).items[0]!.data!['text']!),
      ]);
    // Requested during the pause and again immediately after it.
    const asked = reads();
    await sleep(50);
    process.kill(paused.pid, 'SIGCONT');
    const later = reads();
    expect(await asked).toEqual([text, text, text, text]);
    expect(await later).toEqual([text, text, text, text]);
  }
});

issue('15271: a watcher that resumes on a partitioned server receives no older events', shared, async (world) => {
  // Stopping servers revoke their leases, which requires a working connection.
  const proxy = world.ends.use(await startProxy(world.server!.port));
  const behind = await world.cluster({ ...world.place, url: world.place.url.replace(/\d+$/, String(proxy.port)) });
  const ahead = await world.cluster();
  const create = async (name: string): Promise<number> => {
    const response = await ahead.fetch(configMaps, { body: { metadata: { name } } });
    expect(response.status).toBe(201);
    return Number(((await response.json()) as Shown).metadata.resourceVersion);
  };
  const first = await create('c0');
  await vi.waitFor(async () => expect((await behind.fetch(`${configMaps}/c0`)).status).toBe(200));
  proxy.cut();
  const revisions = [first];
  for (let i = 1; i <= 20; i++) revisions.push(await create(`c${i}`));
  const last = revisions.at(-1)!;
  const seen = async (cluster: TestCluster, from: number, seconds: number): Promise<readonly number[]> => {
    const response = await cluster.fetch(`${configMaps}?watch=1&timeoutSeconds=${seconds}&resourceVersion=${from}`);
    return linesOf(await response.text()).map(({ object }) => Number(object.metadata.resourceVersion));
  };
  // The server does not know whether its state is current, and reports that.
  const old = await behind.fetch(`${configMaps}?resourceVersion=${last}`);
  expect(old.status).toBe(504);
  expect((await behind.fetch(`${configMaps}/c20`)).status).toBeGreaterThanOrEqual(500);
  expect(await seen(ahead, first, 1)).toEqual(revisions.slice(1));
  const there = seen(behind, last, 6);
  const halfway = seen(behind, revisions[10]!, 6);
  proxy.heal();
  const later = await create('later');
  expect(await there).toEqual([later]);
  expect(await halfway).toEqual([...revisions.slice(11), later]);
});

issue('15220: a bookmark comes after every event up to it', all, async (world) => {
  const cluster = await world.cluster();
  let isOver = false;
  const revisions: number[] = [];
  const write = async (writer: number): Promise<void> => {
    for (let i = 0; !isOver; i++) {
      const response = await cluster.fetch(configMaps, { body: { metadata: { name: `c${writer}-${i}` } } });
      expect(response.status).toBe(201);
      revisions.push(Number(((await response.json()) as Shown).metadata.resourceVersion));
    }
  };
  const writing = Array.from({ length: 8 }, (_, writer) => write(writer));
  const initial = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
  const watches = Array.from({ length: 12 }, async (_, i) => {
    await sleep(40 * i);
    const list = (await (await cluster.fetch(`${configMaps}?limit=1`)).json()) as Shown;
    const from = Number(list.metadata.resourceVersion);
    const start = i % 2 === 0 ? `resourceVersion=${from}` : initial;
    const response = await cluster.fetch(`${configMaps}?watch=1&allowWatchBookmarks=true&timeoutSeconds=3&${start}`);
    return { from: i % 2 === 0 ? from : 0, events: linesOf(await response.text()) };
  });
  const logs = await Promise.all(watches);
  isOver = true;
  await Promise.all(writing);
  const log = revisions.sort((a, b) => a - b);
  let bookmarks = 0;
  for (const { from, events } of logs) {
    const seen = new Set<number>();
    let bookmarked = from;
    for (const { type, object } of events) {
      const revision = Number(object.metadata.resourceVersion);
      if (type === 'BOOKMARK') {
        bookmarks += 1;
        bookmarked = revision;
        expect(log.filter((at) => at > from && at <= bookmarked && !seen.has(at))).toEqual([]);
      } else {
        expect(revision, 'after a bookmark').toBeGreaterThan(bookmarked);
        seen.add(revision);
      }
    }
  }
  // Each watch receives a bookmark before its end, those with initial events another one after them.
  expect(bookmarks).toBeGreaterThanOrEqual(logs.length);
  expect(log.length).toBeGreaterThan(50);
});

issue('17529: an event is sent once, also to watches that start or resume during the write', all, async (world) => {
  const storage = await world.open();
  const log: string[] = [];
  const end = new AbortController();
  const watches: { readonly from: Revision; readonly seen: string[] }[] = [];
  const watching: Promise<void>[] = [];
  for (let round = 0; round < 20; round++) {
    const writes = Array.from({ length: 10 }, (_, i) => storage.create(`/r/${round}-${i}`, bytes('x')));
    const from = await storage.currentRevision();
    const seen: string[] = [];
    watches.push({ from, seen });
    watching.push(watched(storage, from, end.signal, seen));
    for (const { key, revision } of await Promise.all(writes)) log.push(shown({ revision, type: 'PUT', key }));
  }
  log.sort((a, b) => revisionOf(a) - revisionOf(b));
  const wanted = (from: Revision): readonly string[] => log.filter((event) => revisionOf(event) > from);
  await vi.waitFor(() => expect(watches.every(({ from, seen }) => seen.length >= wanted(from).length)).toBe(true));
  // A duplicate would arrive before the event of a later write.
  const { key, revision } = await storage.create('/r/last', bytes('x'));
  log.push(shown({ revision, type: 'PUT', key }));
  await vi.waitFor(() => expect(watches.every(({ seen }) => seen.includes(log.at(-1)!))).toBe(true));
  end.abort();
  await Promise.all(watching);
  for (const { from, seen } of watches) expect(seen).toEqual(wanted(from));
});

issue('17780: the revision does not decrease after a crash during a compaction', all, async (world) => {
  if (!world.server) {
    for (const failpoint of ['after-compact-revision:1', 'inside-compaction:1']) {
      rmSync(world.place.file, { force: true });
      for (const beside of ['-wal', '-shm', '-reserve']) rmSync(`${world.place.file}${beside}`, { force: true });
      const script = fileURLToPath(new URL('./compaction-death.ts', import.meta.url));
      const child = spawn(
        process.execPath,
        [
          '--conditions=kubenest-source',
          '--experimental-transform-types',
          '--disable-warning=ExperimentalWarning',
          script,
          world.place.file,
        ],
        { env: { PATH: process.env['PATH'], KUBENEST_FAILPOINT: failpoint }, stdio: ['ignore', 'pipe', 'inherit'] },
      );
      let said = '';
      child.stdout.on('data', (text: Buffer) => {
        said += text.toString();
      });
      await exited(child);
      expect(child.signalCode, failpoint).not.toBeNull();
      const before = Number(said);
      expect(before).toBeGreaterThan(600);
      const storage = await world.backend.open(world.place);
      expect(await storage.currentRevision()).toBeGreaterThanOrEqual(before);
      expect((await storage.create('/r/new', bytes('x'))).revision).toBeGreaterThan(before);
      await storage.close();
    }
    return;
  }
  for (let round = 0; round < 3; round++) {
    const storage = await world.backend.open(world.place);
    const made = await Promise.all(Array.from({ length: 300 }, (_, i) => storage.create(`/r/${i}`, bytes('x'))));
    for (const { key, revision } of made) await storage.delete(key, revision);
    const before = await storage.currentRevision();
    const compaction = storage.compact(before).catch(() => undefined);
    await sleep(round);
    world.server = await world.server.restart();
    await compaction;
    await storage.close();
    const again = await world.backend.open(world.place);
    expect(await again.currentRevision()).toBeGreaterThanOrEqual(before);
    const { key, revision } = await again.create('/r/new', bytes('x'));
    expect(revision).toBeGreaterThan(before);
    await again.delete(key, revision);
    await again.close();
  }
});

/** Creates, deletes and recreates a key, so that a missed deletion is detected. */
async function deletedKey(storage: Storage, key: string): Promise<{ readonly made: Revision; readonly gone: Revision }> {
  const { revision: made } = await storage.create(key, bytes('x'));
  const { revision: gone } = await storage.delete(key, made);
  return { made, gone };
}

async function expectDeletion(
  seen: readonly string[],
  { gone, next }: { readonly gone: Revision; readonly next: Revision },
): Promise<void> {
  await vi.waitFor(() => expect(seen.at(-1)).toMatch(new RegExp(`^${next} PUT|compacted`)));
  if (seen.at(-1) === 'compacted') expect(seen.every((event) => event === 'compacted' || !event.startsWith(String(next)))).toBe(true);
  else expect(seen.filter((event) => event.startsWith(`${gone} `))).toEqual([expect.stringMatching(`^${gone} DELETE`)]);
}

issue('18089: a watch from the revision of a compaction does not miss a deletion at it', all, async (world) => {
  const storage = await world.open();
  const end = new AbortController();
  const { made, gone } = await deletedKey(storage, '/r/a');
  await storage.compact(gone);
  const before: string[] = [];
  const after: string[] = [];
  const watching = [watched(storage, made, end.signal, before), watched(storage, gone, end.signal, after)];
  const { revision: next } = await storage.create('/r/a', bytes('y'));
  await expectDeletion(before, { gone, next });
  await vi.waitFor(() => expect(after).toEqual([`${next} PUT /r/a`]));
  end.abort();
  await Promise.all(watching);
});

issue('19179: a watch that starts while the revision of a deletion is compacted does not miss the deletion', all, async (world) => {
  const storage = await world.open();
  const end = new AbortController();
  const watching: Promise<void>[] = [];
  let shownAll = 0;
  for (let round = 0; round < 30; round++) {
    const early: string[] = [];
    const late: string[] = [];
    const { revision: made } = await storage.create('/r/a', bytes('x'));
    const begin = (): unknown => watching.push(watched(storage, made, end.signal, early));
    // In every other round the watch exists before the deletion but is not read.
    if (round % 2 === 0) begin();
    if (round % 2 === 0) await sleep(10);
    const { revision: gone } = await storage.delete('/r/a', made);
    if (round % 2 !== 0) begin();
    const compaction = storage.compact(gone);
    watching.push(watched(storage, made, end.signal, late));
    const { revision: next } = await storage.create('/r/a', bytes('y'));
    await compaction;
    for (const seen of [early, late]) {
      await expectDeletion(seen, { gone, next });
      if (seen.at(-1) !== 'compacted') shownAll += 1;
    }
    await storage.delete('/r/a', next);
  }
  end.abort();
  await Promise.all(watching);
  // Otherwise every watch ended with CompactedError, and no deletion was observed.
  expect(shownAll).toBeGreaterThan(0);
});

issue('20221: a watch from a future revision sends nothing before it, and a list at it waits', all, async (world) => {
  const storage = await world.open();
  const end = new AbortController();
  const { revision: now } = await storage.create('/r/a', bytes('x'));
  const seen: string[] = [];
  const watching = watched(storage, now + 10, end.signal, seen);
  const wanted: string[] = [];
  for (let i = 0; i < 20; i++) {
    const { key, revision } = await storage.create(`/r/b${i}`, bytes('x'));
    if (revision > now + 10) wanted.push(shown({ revision, type: 'PUT', key }));
  }
  expect(wanted.length).toBe(10);
  await vi.waitFor(() => expect(seen).toContain(wanted.at(-1)));
  end.abort();
  await watching;
  expect(seen).toEqual(wanted);
  await storage.close();

  const cluster = await world.cluster();
  const { metadata } = (await (await cluster.fetch(configMaps)).json()) as Shown;
  const future = Number(metadata.resourceVersion) + 100;
  const began = performance.now();
  const response = await cluster.fetch(`${configMaps}?resourceVersion=${future}`);
  expect(response.status).toBe(504);
  expect(await response.json()).toMatchObject({
    message: expect.stringContaining('Too large resource version'),
    details: { retryAfterSeconds: 1 },
  });
  expect(performance.now() - began).toBeGreaterThan(2_900);
  const early = cluster.fetch(`${configMaps}?watch=1&timeoutSeconds=1&resourceVersion=${future}`).then((watch) => watch.text());
  await cluster.fetch(configMaps, { body: { metadata: { name: 'a' } } });
  expect(linesOf(await early)).toEqual([]);
});
