import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it, vi } from 'vitest';
import { backUp, restore } from '#cmd/backup/backup';
import { startTestCluster, type TestCluster, type TestStorage } from '#testing/index';
import { etcd, noEtcd, startEtcd } from '../servers/etcd-server.ts';
import { noRedis, redisServer, startRedis } from '../servers/redis-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'backup-informers-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Place extends AsyncDisposable {
  readonly storage: TestStorage;
  readonly flags: readonly string[];
}
const open: Readonly<Record<'embedded' | 'redis' | 'etcd', () => Promise<Place>>> = {
  async embedded() {
    const data = mkdtempSync(join(folder, 'data-'));
    return { storage: { file: join(data, 'kubenest.db') }, flags: [`--data-dir=${data}`], async [Symbol.asyncDispose]() {} };
  },
  async redis() {
    const server = await startRedis();
    return {
      storage: { redisUrl: server.url },
      flags: ['--storage-backend=redis', `--redis-url=${server.url}`],
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
  async etcd() {
    const server = await startEtcd();
    return {
      storage: { etcdUrl: server.url },
      flags: ['--storage-backend=etcd3', `--etcd-servers=${server.url}`],
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
};
const reasons = { embedded: undefined, redis: redisServer ? undefined : noRedis, etcd: etcd ? undefined : noEtcd };

const configMaps = '/api/v1/namespaces/default/configmaps';

interface ConfigMap {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly data?: Readonly<Record<string, string>>;
}
interface Event {
  readonly type: string;
  readonly object: ConfigMap & { readonly code?: number };
}

/** Lists and watches like client-go's reflector: resumes from its position on any server, and lists again only after a 410. */
class Informer {
  readonly objects = new Map<string, ConfigMap>();
  /** Highest revision received. */
  highest = 0;
  lists = 0;
  #revision: string | undefined;

  constructor(private readonly server: () => TestCluster) {}

  async run(signal: AbortSignal): Promise<void> {
    for (; !signal.aborted; await sleep(20)) {
      try {
        if (this.#revision === undefined) await this.#list();
        await this.#watch(signal);
      } catch {
        // The server is down or ended the watch: retries.
      }
    }
  }

  async #list(): Promise<void> {
    const list = (await (await this.server().fetch(configMaps)).json()) as ConfigMap & { readonly items: readonly ConfigMap[] };
    this.objects.clear();
    for (const item of list.items) this.objects.set(item.metadata.name, item);
    this.lists += 1;
    this.#reached(list.metadata.resourceVersion);
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const path = `${configMaps}?watch=1&allowWatchBookmarks=true&resourceVersion=${this.#revision}`;
    const response = await this.server().fetch(path, { signal });
    if (response.status === 410) this.#revision = undefined;
    if (response.status !== 200) return;
    let rest = '';
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      const lines = (rest + new TextDecoder().decode(chunk)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (!this.#take(JSON.parse(line) as Event)) return;
    }
  }

  #take({ type, object }: Event): boolean {
    if (type === 'ERROR') {
      expect(object.code).toBe(410);
      this.#revision = undefined;
      return false;
    }
    if (type === 'DELETED') this.objects.delete(object.metadata.name);
    else if (type !== 'BOOKMARK') this.objects.set(object.metadata.name, object);
    this.#reached(object.metadata.resourceVersion);
    return true;
  }

  #reached(revision: string): void {
    this.#revision = revision;
    this.highest = Math.max(this.highest, Number(revision));
  }
}

/** More than the writes between the backup and the end of the store; the default takes an etcd a minute of writes. */
const bump = 10_000;

const pairs = [
  ['embedded', 'embedded'],
  ['redis', 'redis'],
  ['redis', 'etcd'],
  ['etcd', 'embedded'],
] as const;

it.for(pairs)('informers reach the state of the backup, from %s to %s', { timeout: 150_000 }, async ([from, to], { skip }) => {
  const reason = reasons[from] ?? reasons[to];
  if (reason !== undefined) return skip(reason);
  await using here = await open[from]();
  await using there = await open[to]();
  const file = join(mkdtempSync(join(folder, 'file-')), 'backup');
  let server = await startTestCluster({ storage: here.storage });
  const create = async (name: string, data: string): Promise<void> => {
    expect((await server.fetch(configMaps, { body: { metadata: { name }, data: { data } } })).status).toBe(201);
  };
  const leave = new AbortController();
  const informers = Array.from({ length: 3 }, () => new Informer(() => server));
  const running = informers.map((informer) => informer.run(leave.signal));
  const all = async (wanted: Readonly<Record<string, string>>): Promise<void> =>
    vi.waitFor(() => {
      for (const { objects } of informers) {
        const seen = [...objects.values()].map(({ metadata, data }) => [metadata.name, data?.['data']]);
        expect(Object.fromEntries(seen.filter(([name]) => name !== 'kube-root-ca.crt'))).toEqual(wanted);
      }
    });

  await create('stays', '1');
  await create('goes', '1');
  await all({ stays: '1', goes: '1' });
  await backUp(file, here.flags);
  // Objects that the informers have and the backup lacks.
  expect((await server.fetch(`${configMaps}/goes`, { method: 'DELETE' })).status).toBe(200);
  for (let i = 0; i < 50; i++) await create(`late-${i}`, '1');
  const late = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`late-${i}`, '1']));
  await all({ stays: '1', ...late });

  await server[Symbol.asyncDispose]();
  const highest = Math.max(...informers.map((informer) => informer.highest));
  const { revision } = await restore(file, there.flags, { bump });
  expect(revision).toBeGreaterThan(highest);
  server = await startTestCluster({ storage: there.storage });
  await all({ stays: '1', goes: '1' });
  for (const { objects, lists } of informers) {
    expect(lists).toBe(2);
    for (const { metadata } of objects.values()) expect(Number(metadata.resourceVersion)).toBeGreaterThan(highest);
  }
  await create('new', '1');
  expect((await server.fetch(`${configMaps}/stays`, { method: 'DELETE' })).status).toBe(200);
  await all({ goes: '1', new: '1' });
  leave.abort();
  await Promise.all(running);
  await server[Symbol.asyncDispose]();
});
