import { Buffer } from 'node:buffer';
import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hasWaitAof } from '../../../scripts/find-redis-server.mjs';
import { freePort } from '../../../scripts/free-port.ts';
import { startProxy } from '../../../test/servers/proxy.ts';
import {
  durable,
  noRedis,
  noSyncingServer,
  redisServers,
  type RedisServer,
  redisServer,
  redisVersions,
  startRedis,
  syncingServer,
} from '../../../test/servers/redis-server.ts';
import { Authority } from '#cmd/certificates/issue';
import { reopenableStore, storageConformance } from '#sdk/testing/storage';
import { CompactedError, UnavailableError, UnknownOutcomeError } from '#apiserver/storage/errors';
import type { Storage } from '#apiserver/storage/storage';
import { RedisStorage } from './redis-storage.ts';

const encode = (): Buffer => Buffer.from('1');
/** Permissions of a redis user in addition to the keys. */
const rights = ['-@all', '+@read', '+@write', '+@scripting', '+@connection', '+info', '+config|get', '+time', '+waitaof'].filter(
  (right) => right !== '+waitaof' || (redisServer !== undefined && hasWaitAof(redisServer)),
);

function disposable<T extends Storage>(storage: T): T & AsyncDisposable {
  return Object.assign(storage, { [Symbol.asyncDispose]: () => storage.close() });
}

async function cutConnections(server: RedisServer): Promise<void> {
  server.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
}

/** Returns the log file being appended to. */
function newestLog(folder: string): string {
  const files = readdirSync(join(folder, 'appendonlydir')).filter((name) => name.endsWith('.incr.aof'));
  return join(folder, 'appendonlydir', files.sort().at(-1)!);
}

if (redisServer === undefined) it('requires redis-server', ({ skip }) => skip(noRedis));
else {
  describe.each([...redisVersions])('%s', (version, binary) => {
    let server: RedisServer;
    let stores = 0;
    beforeAll(async () => {
      server = await startRedis(durable, undefined, binary);
    });
    afterAll(() => server[Symbol.asyncDispose]());

    storageConformance(version, async () => {
      const prefix = `store${++stores}`;
      return reopenableStore(() => RedisStorage.open({ url: server.url, prefix, compactionIntervalMs: 0 }));
    });
  });

  it.each([
    { name: 'no log', settings: ['--appendonly', 'no'], says: /appendonly no, and acknowledged writes last only with appendonly yes/ },
    { name: 'a log synced each second', settings: ['--appendonly', 'yes'], says: /appendfsync everysec/ },
    {
      name: 'an eviction policy',
      settings: ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'allkeys-lru'],
      says: /maxmemory-policy allkeys-lru/,
    },
    { name: 'a cluster', settings: ['--cluster-enabled', 'yes'], says: /Redis Cluster is not supported/ },
  ])('rejects a server with $name', async ({ settings, says }) => {
    await using server = await startRedis(settings);
    await expect(RedisStorage.open({ url: server.url })).rejects.toThrow(says);
  });

  it('rejects an unreachable server', async () => {
    await expect(RedisStorage.open({ url: 'redis://127.0.0.1:1' })).rejects.toThrow(/redis cannot be reached/);
  });

  describe('two stores on one redis', () => {
    const both = async () => {
      const server = await startRedis();
      const open = async (): Promise<RedisStorage & AsyncDisposable> => disposable(await RedisStorage.open({ url: server.url }));
      return { server, one: await open(), other: await open() };
    };
    const commands = (server: RedisServer): number => Number(/total_commands_processed:(\d+)/.exec(server.command('INFO', 'stats'))?.[1]);

    it('encode values with their actual revision, whichever server was faster', async () => {
      const { server, one, other } = await both();
      await using stack = new AsyncDisposableStack();
      for (const part of [server, one, other]) stack.use(part);
      const made = Array.from({ length: 60 }, (_, i) =>
        (i % 2 === 0 ? one : other).create(`/pods/${i}`, (revision) => Buffer.from(String(revision))),
      );
      const records = await Promise.all(made);
      expect(new Set(records.map(({ revision }) => revision)).size).toBe(60);
      for (const { key, revision } of records) expect(String((await one.get(key))?.value)).toBe(String(revision));
    });

    it('keep the revisions of concurrent writes beside a rejected one', async () => {
      const { server, one, other } = await both();
      await using stack = new AsyncDisposableStack();
      for (const part of [server, one, other]) stack.use(part);
      await one.create('/pods/a', encode);
      const own = (revision: number): Buffer => Buffer.from(String(revision));
      const [first, refused, last] = await Promise.allSettled([
        other.create('/pods/b', own),
        other.create('/pods/a', own),
        other.create('/pods/c', own),
      ]);
      expect(refused.status).toBe('rejected');
      for (const settled of [first, last]) {
        expect(settled.status).toBe('fulfilled');
        if (settled.status !== 'fulfilled') continue;
        expect(String((await one.get(settled.value.key))?.value)).toBe(String(settled.value.revision));
        expect(settled.value.revision).toBeLessThanOrEqual(await one.currentRevision());
      }
    });

    it('delete an expired key once, with one event each', async () => {
      const { server, one, other } = await both();
      await using stack = new AsyncDisposableStack();
      for (const part of [server, one, other]) stack.use(part);
      const third = stack.use(disposable(await RedisStorage.open({ url: server.url })));
      const stores = [one, other, third];
      const from = await one.currentRevision();
      const end = new AbortController();
      const deletions = stores.map(async (storage) => {
        const keys: string[] = [];
        // The last key lives longest, so duplicate events would have arrived before its own.
        for await (const { type, key } of storage.watch('/events/', from, end.signal)) {
          if (type === 'DELETE') keys.push(key);
          if (type === 'DELETE' && key === '/events/last') break;
        }
        return keys.sort();
      });
      const keys = Array.from({ length: 600 }, (_, i) => `/events/${i}`);
      await Promise.all(keys.map((key, i) => stores[i % 3]!.create(key, encode, { ttlSeconds: 1 })));
      await one.create('/events/last', encode, { ttlSeconds: 3 });
      const wanted = [...keys, '/events/last'].sort();
      for (const seen of await Promise.all(deletions)) expect(seen).toEqual(wanted);
      end.abort();
      expect((await other.list('/events/')).count).toBe(0);
    });

    it('share one read of the revision in each turn, which includes all earlier writes', async () => {
      const { server, one, other } = await both();
      await using stack = new AsyncDisposableStack();
      for (const part of [server, one, other]) stack.use(part);
      for (let i = 0; i < 20; i++) {
        const { revision } = await one.create(`/pods/${i}`, encode);
        expect(await other.currentRevision()).toBeGreaterThanOrEqual(revision);
      }
      const before = commands(server);
      await Promise.all(Array.from({ length: 200 }, () => other.currentRevision()));
      expect(commands(server) - before).toBeLessThan(50);
    });
  });

  it('rejects a replica', async () => {
    await using master = await startRedis();
    await using replica = await startRedis([...durable, '--replicaof', '127.0.0.1', String(master.port)]);
    await expect(RedisStorage.open({ url: replica.url })).rejects.toThrow(/this redis is a replica/);
  });

  it('writes nothing to a server that loses its settings until they are restored', async () => {
    await using server = await startRedis();
    await using storage = disposable(await RedisStorage.open({ url: server.url }));
    expect(storage.durability()).toEqual({
      isDurable: true,
      detail: expect.stringMatching(/^redis \d.* syncs its log with each write/),
      losses: 0,
    });
    await storage.create('/pods/a', encode);
    server.command('CONFIG', 'SET', 'appendfsync', 'no');
    await cutConnections(server);
    await vi.waitFor(() => expect(storage.create('/pods/b', encode)).rejects.toThrow(/redis has appendfsync no/));
    await expect(storage.healthy()).rejects.toThrow(/redis has appendfsync no/);
    server.command('CONFIG', 'SET', 'appendfsync', 'always');
    await vi.waitFor(() => storage.create('/pods/b', encode));
  });

  it('accepts possible data loss if configured, and reports it', async () => {
    await using server = await startRedis(['--appendonly', 'no']);
    await using storage = disposable(await RedisStorage.open({ url: server.url, acceptDataLoss: true }));
    await storage.create('/pods/a', encode);
    expect(storage.durability()).toEqual({ isDurable: false, detail: expect.stringContaining('appendonly no'), losses: 0 });
  });

  it('works for a user with the permissions listed in docs/guide/redis.md', async () => {
    await using server = await startRedis();
    server.command('ACL', 'SETUSER', 'store', 'on', '>secret', '~kubenest:*', ...rights);
    await using storage = disposable(await RedisStorage.open({ url: server.url.replace('//', '//store:secret@') }));
    const { revision } = await storage.create('/pods/a', encode, { ttlSeconds: 1 });
    await storage.update('/pods/a', revision, encode);
    await storage.compact(await storage.currentRevision());
    expect((await storage.list('/pods/')).count).toBe(1);
    await storage.healthy();
    await expect(RedisStorage.open({ url: server.url.replace('//', '//store:secret@'), prefix: 'other' })).rejects.toThrow(/key/);
  });

  it('supports TLS with certificates on both sides', async () => {
    const authority = await Authority.create('redis-test');
    const own = await authority.issue({ commonName: 'redis', names: ['127.0.0.1'], usages: ['server'] });
    const client = await authority.issue({ commonName: 'kubenest', usages: ['client'] });
    const folder = mkdtempSync(join(tmpdir(), 'redis-tls-'));
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const port = await freePort();
    const flags = ['--tls-port', String(port), '--tls-cert-file', file('cert', own.cert), '--tls-key-file', file('key', own.key)];
    await using _server = await startRedis([...durable, ...flags, '--tls-ca-cert-file', file('ca', authority.pair.cert)]);
    const url = `rediss://127.0.0.1:${port}`;
    const ca = Buffer.from(authority.pair.cert);
    const shown = { certificate: Buffer.from(client.cert), key: Buffer.from(client.key) };
    await using storage = disposable(await RedisStorage.open({ url, ca, ...shown }));
    await storage.create('/pods/a', encode);
    await expect(RedisStorage.open({ url, ca })).rejects.toThrow(UnavailableError);
    await expect(RedisStorage.open({ url, ...shown })).rejects.toThrow(UnavailableError);
    rmSync(folder, { recursive: true });
  });

  describe('lost history', () => {
    /** Opens a storage, lets it see `writes` writes, and makes the server return with another history. */
    async function loses(writes: number, lose: (server: RedisServer) => Promise<RedisServer>): Promise<{ before: number; after: number }> {
      let server = await startRedis();
      const storage = await RedisStorage.open({ url: server.url });
      try {
        for (let i = 0; i < writes; i++) await storage.create(`/pods/${i}`, encode);
        const before = await storage.currentRevision();
        server = await lose(server);
        const after = await vi.waitFor(() => storage.currentRevision());
        await storage.create('/pods/after', encode);
        const next = storage.watch('/', before, new AbortController().signal).next();
        if (after > before) await expect(next).rejects.toThrow(CompactedError);
        else expect(await next).toMatchObject({ value: { key: '/pods/after' } });
        return { before, after };
      } finally {
        await storage.close();
        await server[Symbol.asyncDispose]();
      }
    }

    it('is not detected if all data is restored', async () => {
      const { before, after } = await loses(5, (server) => server.restart());
      expect(after).toBe(before);
    });

    it('raises the revision if the end of the log is lost', async () => {
      const { before, after } = await loses(5, async (server) => {
        await server.kill();
        const log = newestLog(server.folder);
        truncateSync(log, statSync(log).size - 300);
        return server.restart();
      });
      expect(after).toBeGreaterThan(before + 1_000);
    });

    it('raises the revision if other servers reused revisions meanwhile', async () => {
      const { before, after } = await loses(5, async (server) => {
        await server.kill();
        rmSync(join(server.folder, 'appendonlydir'), { recursive: true });
        const back = await server.restart();
        // Simulates another server that had not seen the lost writes; the tested storage cannot connect meanwhile.
        const other = await RedisStorage.open({ url: back.url });
        for (let i = 0; i < 50; i++) await other.create(`/pods/other-${i}`, encode);
        await other.close();
        return back;
      });
      expect(after).toBeGreaterThan(before + 1_000);
    });
  });

  it('makes a promoted replica continue at higher revisions, whatever each server has seen', async () => {
    await using master = await startRedis();
    await using replica = await startRedis([...durable, '--replicaof', '127.0.0.1', String(master.port)]);
    await using proxy = await startProxy(master.port);
    await using one = disposable(await RedisStorage.open({ url: `redis://127.0.0.1:${proxy.port}` }));
    await one.create('/pods/a', encode);
    await vi.waitFor(() => expect(replica.command('GET', 'kubenest:rev')).toBe('2'));
    // The replica lags behind from here on.
    replica.child.kill('SIGSTOP');
    await using other = disposable(await RedisStorage.open({ url: `redis://127.0.0.1:${proxy.port}` }));
    const lost = [];
    for (let i = 0; i < 5; i++) lost.push((await other.create(`/pods/lost-${i}`, encode)).revision);
    await master.kill();
    replica.child.kill('SIGCONT');
    replica.command('REPLICAOF', 'NO', 'ONE');
    proxy.target = replica.port;
    const { revision } = await vi.waitFor(() => one.create('/pods/b', encode));
    expect(revision).toBeGreaterThan(Math.max(...lost) + 1_000);
    await vi.waitFor(async () => expect((await other.get('/pods/b'))?.revision).toBe(revision));
    await expect(other.get('/pods/a', { revision: lost[0]! })).rejects.toThrow(CompactedError);
    // Only the first of them detects the loss by itself.
    expect([one.durability().losses, other.durability().losses]).toEqual([1, 1]);
  });

  describe('a master demoted to a replica with open connections', () => {
    /** Opens a storage on a master that another server has since replaced; that server has rewritten `/pods/a`. */
    const demoted = async () => {
      const stack = new AsyncDisposableStack();
      const master = stack.use(await startRedis());
      const replica = stack.use(await startRedis([...durable, '--replicaof', '127.0.0.1', String(master.port)]));
      const proxy = stack.use(await startProxy(master.port));
      const storage = stack.use(disposable(await RedisStorage.open({ url: `redis://127.0.0.1:${proxy.port}` })));
      const { revision } = await storage.create('/pods/a', () => Buffer.from('old'));
      await vi.waitFor(() => expect(replica.command('GET', 'kubenest:rev')).toBe(String(revision)));
      replica.command('REPLICAOF', 'NO', 'ONE');
      master.command('REPLICAOF', '127.0.0.1', '1');
      const other = stack.use(disposable(await RedisStorage.open({ url: replica.url })));
      const written = await other.update('/pods/a', revision, () => Buffer.from('new'));
      return { stack, proxy, replica, storage, other, before: revision, written: written.revision };
    };
    const reads: Record<string, (storage: RedisStorage, before: number) => Promise<unknown>> = {
      currentRevision: (storage) => storage.currentRevision(),
      get: (storage) => storage.get('/pods/a'),
      'get at a revision': (storage, before) => storage.get('/pods/a', { revision: before }),
      list: (storage) => storage.list('/pods/'),
      compactRevision: (storage) => storage.compactRevision(),
      'a watch': (storage, before) => storage.watch('/pods/', before - 1, new AbortController().signal).next(),
    };

    it.each(Object.keys(reads))('%s is rejected', async (name) => {
      const { stack, storage, before } = await demoted();
      await using _stack = stack;
      await expect(reads[name]!(storage, before)).rejects.toThrow(UnavailableError);
    });

    it('reads, writes and watches continue when the address leads to the new master', async () => {
      const { stack, proxy, replica, storage, other, written } = await demoted();
      await using _stack = stack;
      await expect(storage.get('/pods/a')).rejects.toThrow(UnavailableError);
      proxy.target = replica.port;
      const healed = performance.now();
      const record = await vi.waitFor(() => storage.get('/pods/a'), { interval: 20 });
      expect(record).toMatchObject({ revision: written, value: Buffer.from('new') });
      expect(performance.now() - healed).toBeLessThan(5_000);
      const next = storage.watch('/pods/', await storage.currentRevision(), new AbortController().signal).next();
      const { revision } = await other.create('/pods/b', encode);
      expect((await next).value).toMatchObject({ key: '/pods/b', revision });
      await storage.create('/pods/c', encode);
    });
  });

  it('does not read from a master without its required replicas', async () => {
    await using master = await startRedis([...durable, '--min-replicas-to-write', '1', '--min-replicas-max-lag', '1']);
    await using replica = await startRedis([...durable, '--replicaof', '127.0.0.1', String(master.port)]);
    const open = (): Promise<RedisStorage> => RedisStorage.open({ url: master.url });
    await using storage = disposable(await vi.waitFor(open, { interval: 100 }));
    await vi.waitFor(() => storage.create('/pods/a', encode));
    replica.child.kill('SIGSTOP');
    const reads: (() => Promise<unknown>)[] = [() => storage.currentRevision(), () => storage.get('/pods/a'), () => storage.list('/pods/')];
    for (const read of reads) await vi.waitFor(() => expect(read()).rejects.toThrow(UnavailableError), { interval: 100 });
    replica.child.kill('SIGCONT');
    for (const read of reads) await vi.waitFor(read, { interval: 100 });
  });

  describe('an unresponsive connection', () => {
    it('is dropped: pending commands fail within 5 s, and later ones use a new connection', async () => {
      await using server = await startRedis();
      await using proxy = await startProxy(server.port);
      await using storage = disposable(await RedisStorage.open({ url: `redis://127.0.0.1:${proxy.port}` }));
      const { revision } = await storage.create('/pods/a', encode);
      const event = storage.watch('/pods/', revision, new AbortController().signal).next();
      // A connection answers in order: the watch has read earlier events before this.
      await storage.get('/pods/a');
      // The other connection waits for events.
      await vi.waitFor(() => expect(server.command('CLIENT', 'LIST')).toMatch(/flags=b.*cmd=xread/i));
      const from = performance.now();
      proxy.strand();
      const write = storage.update('/pods/a', revision, encode);
      const next = vi.waitFor(() => storage.create('/pods/b', encode), { interval: 20 });
      await Promise.all([
        expect(write).rejects.toThrow(UnknownOutcomeError),
        expect(storage.get('/pods/a')).rejects.toThrow(UnavailableError),
        expect(storage.currentRevision()).rejects.toThrow(UnavailableError),
        expect(event).resolves.toMatchObject({ value: { key: '/pods/b' } }),
        next,
      ]);
      expect(performance.now() - from).toBeLessThan(5_000);
      // Nothing was sent twice.
      expect((await storage.get('/pods/a'))?.revision).toBe(revision);
    });

    it('is not assumed if redis pauses for two seconds or nothing is written during two blocking reads', async () => {
      await using server = await startRedis();
      await using storage = disposable(await RedisStorage.open({ url: server.url }));
      const { revision } = await storage.create('/pods/a', encode);
      /** Ids of all connections except the one that queries. */
      const connections = (): string[] =>
        server
          .command('CLIENT', 'LIST')
          .split('\n')
          .flatMap((line) => (line.includes('cmd=client') ? [] : (/^id=\d+/.exec(line) ?? [])));
      const before = connections();
      const blockingReads = (): number => Number(/cmdstat_xread:calls=(\d+)/.exec(server.command('INFO', 'commandstats'))?.[1]);
      server.child.kill('SIGSTOP');
      const write = storage.update('/pods/a', revision, encode);
      // Shorter than the silence after which a connection is dropped.
      await sleep(2_000);
      server.child.kill('SIGCONT');
      expect((await write).revision).toBe(revision + 1);
      const first = blockingReads();
      await vi.waitFor(() => expect(blockingReads()).toBeGreaterThanOrEqual(first + 3), { interval: 200 });
      expect(connections()).toEqual(before);
    });

    it('is assumed if redis does not respond; the outcome of writes then matches the data', async () => {
      await using server = await startRedis();
      await using storage = disposable(await RedisStorage.open({ url: server.url }));
      await storage.create('/pods/a', encode);
      server.child.kill('SIGSTOP');
      const reads = storage.get('/pods/a');
      const write = storage.create('/pods/b', encode);
      await Promise.all([expect(reads).rejects.toThrow(UnavailableError), expect(write).rejects.toThrow(UnknownOutcomeError)]);
      server.child.kill('SIGCONT');
      const { revision } = await vi.waitFor(() => storage.create('/pods/c', encode), { interval: 20 });
      const { records } = await storage.list('/pods/');
      expect(new Set(records.map((record) => record.revision)).size).toBe(records.length);
      expect(Math.max(...records.map((record) => record.revision))).toBe(revision);
    });
  });

  it('makes a write that requires replica logs have an unknown outcome if they do not respond', async ({ skip }) => {
    const binary = syncingServer;
    if (!binary) return skip(noSyncingServer);
    await using master = await startRedis(durable, undefined, binary);
    const replica = await startRedis([...durable, '--replicaof', '127.0.0.1', String(master.port)], undefined, binary);
    await using storage = disposable(await RedisStorage.open({ url: master.url, syncedReplicas: 1 }));
    expect(storage.durability().detail).toMatch(/WAITAOF 1 1/);
    await vi.waitFor(() => storage.create('/pods/a', encode));
    replica.child.kill('SIGSTOP');
    await expect(storage.create('/pods/b', encode)).rejects.toThrow(UnknownOutcomeError);
    expect((await storage.get('/pods/b'))?.value.toString()).toBe('1');
    replica.child.kill('SIGCONT');
    await vi.waitFor(() => storage.create('/pods/c', encode));
    await replica[Symbol.asyncDispose]();
  });

  it('loses no acknowledged write when the master is killed under load and its replica is promoted', async ({ skip }) => {
    const binary = syncingServer;
    if (!binary) return skip(noSyncingServer);
    await using master = await startRedis(durable, undefined, binary);
    await using link = await startProxy(master.port);
    await using replica = await startRedis([...durable, '--replicaof', '127.0.0.1', String(link.port)], undefined, binary);
    await using proxy = await startProxy(master.port);
    await using storage = disposable(await RedisStorage.open({ url: `redis://127.0.0.1:${proxy.port}`, syncedReplicas: 1 }));
    await vi.waitFor(() => storage.create('/pods/first', encode), { interval: 100 });
    const acknowledged = new Map<string, number>();
    const failures: unknown[] = [];
    let isOver = false;
    const writers = Array.from({ length: 64 }, async (_, writer) => {
      for (let i = 0; !isOver; i++) {
        const key = `/pods/${writer}-${i}`;
        await storage.create(key, encode).then(
          ({ revision }) => acknowledged.set(key, revision),
          async (error: unknown) => {
            failures.push(error);
            await sleep(20);
          },
        );
      }
    });
    // Replicas report the position of their logs once a second.
    await vi.waitFor(() => expect(acknowledged.size).toBeGreaterThan(150), { interval: 20 });
    // The replica lags behind before the master dies.
    const offset = (server: RedisServer): number => Number(/master_repl_offset:(\d+)/.exec(server.command('INFO', 'replication'))?.[1]);
    link.hold();
    await vi.waitFor(() => expect(offset(master)).toBeGreaterThan(offset(replica)), { interval: 20 });
    await master.kill();
    replica.command('REPLICAOF', 'NO', 'ONE');
    proxy.target = replica.port;
    // Each writer has learned of the failover.
    await vi.waitFor(() => expect(failures.length).toBeGreaterThanOrEqual(writers.length), { interval: 20 });
    isOver = true;
    await Promise.all(writers);
    const { records } = await vi.waitFor(() => storage.list('/pods/'), { interval: 50 });
    const present = new Map(records.map(({ key, revision }) => [key, revision]));
    expect([...acknowledged].filter(([key, revision]) => present.get(key) !== revision)).toEqual([]);
    expect(failures.length).toBeGreaterThan(0);
    for (const error of failures) expect([UnavailableError, UnknownOutcomeError]).toContain((error as Error).constructor);
  }, 60_000);

  it('rejects a server without replica log support if it is required', async ({ skip }) => {
    const binary = redisServers.find((one) => !hasWaitAof(one));
    if (!binary) return skip('no redis-server here is older than 7.2');
    await using server = await startRedis(durable, undefined, binary);
    await expect(RedisStorage.open({ url: server.url, syncedReplicas: 1 })).rejects.toThrow(/cannot wait for the logs of replicas/);
  });
}
