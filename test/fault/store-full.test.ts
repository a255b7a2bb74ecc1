/**
 * A redis without memory and an etcd without space under a server: writes that need space are rejected, everything else
 * works, and writes recover when there is space.
 */
import { expect, it, vi } from 'vitest';
import { startTestCluster, type TestCluster, type TestStorage } from '#testing/index';
import { etcd, noEtcd, startEtcd } from '../servers/etcd-server.ts';
import { durable, noRedis, redisServer, startRedis } from '../servers/redis-server.ts';

interface FullStore extends AsyncDisposable {
  readonly storage: TestStorage;
  /** Makes small writes fail, too. */
  takeRoom(): void;
  /** Frees space like an administrator. */
  makeRoom(): Promise<void>;
}

interface EtcdAnswer {
  readonly header: { readonly revision: string };
  readonly alarms?: readonly { readonly memberID: string; readonly alarm: string }[];
}

const megabyte = 1_048_576;
const configMaps = '/api/v1/namespaces/default/configmaps';

async function smallRedis(): Promise<FullStore> {
  const server = await startRedis([...durable, '--maxmemory', String(8 * megabyte)]);
  return {
    storage: { redisUrl: server.url },
    takeRoom: () => void server.command('CONFIG', 'SET', 'maxmemory', String(2 * megabyte)),
    async makeRoom() {
      server.command('CONFIG', 'SET', 'maxmemory', '0');
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function smallEtcd(): Promise<FullStore> {
  const server = await startEtcd(['--quota-backend-bytes', String(4 * megabyte)]);
  const post = async (path: string, body: object): Promise<EtcdAnswer> => {
    const response = await fetch(`${server.url}/v3/${path}`, { method: 'POST', body: JSON.stringify(body) });
    expect(response.status, path).toBe(200);
    return (await response.json()) as EtcdAnswer;
  };
  return {
    storage: { etcdUrl: server.url },
    // The alarm rejects them.
    takeRoom() {},
    async makeRoom() {
      const { header } = await post('kv/range', { key: 'AA==' });
      await post('kv/compaction', { revision: header.revision, physical: true });
      await post('maintenance/defragment', {});
      const { alarms } = await post('maintenance/alarm', { action: 'GET' });
      for (const { memberID, alarm } of alarms ?? []) await post('maintenance/alarm', { action: 'DEACTIVATE', memberID, alarm });
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Creates ConfigMaps until one is rejected. Returns the names of the created ones and the rejection. */
async function fill(cluster: TestCluster): Promise<{ readonly names: readonly string[]; readonly refused: Response }> {
  const names: string[] = [];
  for (;;) {
    const name = `c${names.length}`;
    const body = { metadata: { name }, data: { text: 'x'.repeat(200_000) } };
    const response = await cluster.fetch(configMaps, { body });
    if (response.status !== 201) return { names, refused: response };
    names.push(name);
  }
}

/** Yields types and names of a watch's events until it ends. */
async function* events(response: Response): AsyncGenerator<string> {
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (text + chunk).split('\n');
    text = lines.pop()!;
    for (const line of lines) {
      const { type, object } = JSON.parse(line) as {
        readonly type: string;
        readonly object: { readonly metadata: { readonly name: string } };
      };
      yield `${type} ${object.metadata.name}`;
    }
  }
}

for (const { name, start, absent, says } of [
  {
    name: 'redis',
    start: smallRedis,
    absent: redisServer === undefined ? noRedis : undefined,
    says: /OOM command not allowed/,
  },
  { name: 'etcd', start: smallEtcd, absent: etcd === undefined ? noEtcd : undefined, says: /database space exceeded/ },
]) {
  it(`a full ${name} rejects writes that need space, and nothing else`, { timeout: 60_000 }, async ({ skip }) => {
    if (absent) return skip(absent);
    await using store = await start();
    await using cluster = await startTestCluster({ storage: store.storage });
    expect(await (await cluster.fetch('/metrics')).text()).toContain('\nkubenest_storage_full 0\n');
    const { names, refused } = await fill(cluster);
    expect(refused.status).toBe(500);
    expect(await refused.json()).toMatchObject({ kind: 'Status', status: 'Failure', message: expect.stringMatching(says) });
    expect(names.length).toBeGreaterThan(5);
    store.takeRoom();
    // Like kube-apiserver's check of an etcd with the NOSPACE alarm: a restart would not free space.
    const healthy = async (full: 0 | 1): Promise<void> => {
      for (const path of ['/livez', '/readyz', '/healthz']) expect((await cluster.fetch(path)).status, path).toBe(200);
      expect(await (await cluster.fetch('/metrics')).text()).toContain(`\nkubenest_storage_full ${full}\n`);
    };
    await healthy(1);

    const list = (await (await cluster.fetch(configMaps)).json()) as {
      readonly items: readonly object[];
      readonly metadata: { resourceVersion: string };
    };
    expect(list.items.map((item) => (item as { metadata: { name: string } }).metadata.name)).toEqual(expect.arrayContaining([...names]));
    const end = new AbortController();
    const watched = events(
      await cluster.fetch(`${configMaps}?watch=1&resourceVersion=${list.metadata.resourceVersion}`, { signal: end.signal }),
    );
    const [first, second, ...others] = names;
    const next = watched.next();
    // A concurrently rejected write must not affect the deletion.
    const [deleted, again] = await Promise.all([
      cluster.fetch(`${configMaps}/${first}`, { method: 'DELETE' }),
      cluster.fetch(configMaps, { body: { metadata: { name: 'again' }, data: { text: 'x'.repeat(500_000) } } }),
    ]);
    expect([deleted.status, again.status]).toEqual([200, 500]);
    expect((await next).value).toBe(`DELETED ${first}`);
    expect((await cluster.fetch(`${configMaps}/${second}`)).status).toBe(200);
    expect((await cluster.fetch(`${configMaps}/${first}`)).status).toBe(404);

    for (const name of others) {
      expect((await cluster.fetch(`${configMaps}/${name}`, { method: 'DELETE' })).status).toBe(200);
      expect((await watched.next()).value).toBe(`DELETED ${name}`);
    }
    await store.makeRoom();
    await vi.waitFor(async () => {
      const response = await cluster.fetch(configMaps, { body: { metadata: { name: 'later' } } });
      expect(response.status, await response.text()).toBe(201);
    });
    await healthy(0);
    expect((await watched.next()).value).toBe('ADDED later');
    end.abort();
  });
}
