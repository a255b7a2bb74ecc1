import { newDefinition } from '#apiextensions-apiserver/testing/new-definition';
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startTestCluster, type TestCluster, type TestStorage } from '#testing/index';
import { etcd, noEtcd, startEtcd } from '../servers/etcd-server.ts';
import { noRedis, redisServer, startRedis } from '../servers/redis-server.ts';
import { backUp, migrate, restore } from '#cmd/backup/backup';

const folder = mkdtempSync(join(tmpdir(), 'backup-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Place {
  readonly storage: TestStorage;
  readonly flags: readonly string[];
}
const places: Record<'embedded' | 'redis' | 'etcd', (() => Place) | undefined> = {
  embedded: () => {
    const data = mkdtempSync(join(folder, 'data-'));
    return { storage: { file: join(data, 'kubenest.db') }, flags: [`--data-dir=${data}`] };
  },
  redis: undefined,
  etcd: undefined,
};
const servers: AsyncDisposable[] = [];
let stores = 0;
beforeAll(async () => {
  if (redisServer !== undefined) {
    const redis = await startRedis();
    servers.push(redis);
    places.redis = () => {
      const prefix = `store${++stores}`;
      const flags = ['--storage-backend=redis', `--redis-url=${redis.url}`, `--redis-key-prefix=${prefix}`];
      return { storage: { redisUrl: redis.url, prefix }, flags };
    };
  }
  if (etcd !== undefined) {
    const server = await startEtcd();
    servers.push(server);
    places.etcd = () => {
      const prefix = `/store${++stores}`;
      const flags = ['--storage-backend=etcd3', `--etcd-servers=${server.url}`, `--etcd-prefix=${prefix}`];
      return { storage: { etcdUrl: server.url, prefix }, flags };
    };
  }
});
afterAll(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]();
});

const definition = newDefinition({ kind: 'Widget' });
const widgets = '/apis/example.com/v1/namespaces/default/widgets';
const samples: readonly (readonly [path: string, object: { readonly metadata: { readonly name: string } } & Record<string, unknown>])[] = [
  ['/api/v1/namespaces/default/configmaps', { metadata: { name: 'c' }, data: JSON.parse('{"a":"ä","__proto__":"1"}') as object }],
  ['/api/v1/namespaces/default/secrets', { metadata: { name: 's' }, data: { a: 'c2VjcmV0' } }],
  ['/api/v1/namespaces/default/services', { metadata: { name: 'svc' }, spec: { ports: [{ port: 80, targetPort: 'web' }] } }],
  ['/api/v1/namespaces/default/events', { metadata: { name: 'e' }, involvedObject: { namespace: 'default', name: 'x' } }],
  ['/apis/coordination.k8s.io/v1/namespaces/default/leases', { metadata: { name: 'l' }, spec: { holderIdentity: 'me' } }],
  [widgets, { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec: { big: 9007199254740991 } } as never],
];

async function fill(cluster: TestCluster): Promise<void> {
  expect((await cluster.fetch('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body: definition })).status).toBe(201);
  await until(cluster, widgets, 200);
  for (const [path, body] of samples) expect((await cluster.fetch(path, { body })).status).toBe(201);
}

async function until(cluster: TestCluster, path: string, status: number): Promise<void> {
  await vi.waitUntil(async () => (await cluster.fetch(path)).status === status, { interval: 20 });
}

/** Returns the served samples and the list's revision, without values that differ between stores. */
async function contents(cluster: TestCluster): Promise<{ readonly revision: number; readonly objects: unknown[] }> {
  await until(cluster, widgets, 200);
  const objects: unknown[] = [];
  for (const [path, { metadata }] of samples) {
    const object = (await (await cluster.fetch(`${path}/${metadata.name}`)).json()) as { metadata: Record<string, unknown> };
    const { resourceVersion, ...rest } = object.metadata;
    expect(Number(resourceVersion)).toBeGreaterThan(0);
    objects.push({ ...object, metadata: rest });
  }
  const list = (await (await cluster.fetch('/api/v1/configmaps')).json()) as { readonly metadata: { readonly resourceVersion: string } };
  return { revision: Number(list.metadata.resourceVersion), objects };
}

/** Runs a cluster on the store during the work. */
async function on<T>({ storage }: Place, work: (cluster: TestCluster) => Promise<T>): Promise<T> {
  const cluster = await startTestCluster({ storage });
  try {
    return await work(cluster);
  } finally {
    await cluster[Symbol.asyncDispose]();
  }
}

/** Each backend is a source and a destination. An etcd is the destination of one only, because it raises its revision by transactions. */
const pairs = [
  ['embedded', 'embedded'],
  ['embedded', 'redis'],
  ['redis', 'embedded'],
  ['redis', 'redis'],
  ['etcd', 'embedded'],
  ['etcd', 'redis'],
  ['etcd', 'etcd'],
] as const;
const absent = { embedded: '', redis: noRedis, etcd: noEtcd };

/** Registers a test for each pair. */
function eachPair(title: string, work: (here: Place, there: Place, from: string, to: string) => Promise<void>): void {
  for (const [from, to] of pairs) {
    it(`${title}, from ${from} to ${to}`, { timeout: 150_000 }, async ({ skip }) => {
      const [source, destination] = [places[from], places[to]];
      if (!source || !destination) return skip(source ? absent[to] : absent[from]);
      await work(source(), destination(), from, to);
    });
  }
}

describe('a store', () => {
  eachPair('is backed up while its server runs, and restored with higher revisions', async (here, there, _, to) => {
    const file = join(mkdtempSync(join(folder, 'file-')), 'backup');
    const before = await on(here, async (cluster) => {
      await fill(cluster);
      expect((await backUp(file, here.flags)).records).toBeGreaterThan(samples.length);
      return contents(cluster);
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    // In etcd, each revision is a transaction, of which the default takes a minute.
    const rule = to === 'etcd' ? { bump: 10_000 } : {};
    await restore(file, there.flags, rule);
    const after = await on(there, contents);
    expect(after.objects).toEqual(before.objects);
    expect(after.revision).toBeGreaterThan(before.revision + (rule.bump ?? 100_000));
  });

  eachPair('is migrated with higher revisions', async (here, there) => {
    const before = await on(here, async (cluster) => {
      await fill(cluster);
      return contents(cluster);
    });
    const { revision } = await migrate(here.flags, there.flags);
    expect(revision).toBeGreaterThan(before.revision + 10_000);
    const after = await on(there, contents);
    expect(after.objects).toEqual(before.objects);
    expect(after.revision).toBeGreaterThan(before.revision + 10_000);
  });

  it('migrates from one backend to the next and back', { timeout: 60_000 }, async ({ skip }) => {
    const { embedded, redis, etcd: inEtcd } = places;
    if (!redis || !inEtcd) return skip(redis ? noEtcd : noRedis);
    const way = [embedded!(), redis(), inEtcd(), redis(), embedded!()];
    const before = await on(way[0]!, async (cluster) => {
      await fill(cluster);
      return contents(cluster);
    });
    for (const [index, here] of way.slice(0, -1).entries()) await migrate(here.flags, way[index + 1]!.flags);
    expect((await on(way.at(-1)!, contents)).objects).toEqual(before.objects);
  });

  it('is raised by more for an older backup', async () => {
    const place = places.embedded!();
    const file = join(mkdtempSync(join(folder, 'file-')), 'backup');
    await on(place, (cluster) => cluster.fetch(samples[0]![0], { body: samples[0]![1] }));
    const { revision } = await backUp(file, place.flags);
    expect((await restore(file, places.embedded!().flags)).revision).toBeGreaterThan(revision + 1_000_000);
    const [header, ...lines] = gunzipSync(readFileSync(file)).toString().split('\n');
    const yesterday = { ...(JSON.parse(header!) as object), time: new Date(Date.now() - 86_400_000).toISOString() };
    const all = `${[JSON.stringify(yesterday), ...lines.slice(0, -2)].join('\n')}\n`;
    const sha256 = createHash('sha256').update(all).digest('hex');
    writeFileSync(file, gzipSync(`${all}${JSON.stringify({ records: lines.length - 2, sha256 })}\n`));
    expect((await restore(file, places.embedded!().flags)).revision).toBeGreaterThan(revision + 87_400_000);
  });

  it('is copied with restarted revisions on request', { timeout: 60_000 }, async ({ skip }) => {
    if (!places.etcd) return skip(noEtcd);
    await using server = await startEtcd();
    const destination = ['--storage-backend=etcd3', `--etcd-servers=${server.url}`];
    const place = places.embedded!();
    await on(place, fill);
    const far = places.embedded!();
    await migrate(place.flags, far.flags, { bump: 1_000_000_000 });
    await expect(migrate(far.flags, destination)).rejects.toThrow(/etcd is 10\d+ revisions behind.* --revisions=restart/);
    expect((await migrate(far.flags, destination, { bump: 'restart' })).revision).toBeLessThan(1_000);
    expect((await on({ storage: { etcdUrl: server.url }, flags: [] }, contents)).objects).toHaveLength(samples.length);
  });
});

describe('rejected operations', () => {
  async function backedUp(): Promise<{ readonly place: Place; readonly file: string }> {
    const place = places.embedded!();
    const file = join(mkdtempSync(join(folder, 'file-')), 'backup');
    await on(place, (cluster) => cluster.fetch(samples[0]![0], { body: samples[0]![1] }));
    await backUp(file, place.flags);
    return { place, file };
  }

  it('a damaged backup', async () => {
    const { file } = await backedUp();
    const whole = readFileSync(file);
    const destination = places.embedded!().flags;
    truncateSync(file, whole.length - 20);
    await expect(restore(file, destination)).rejects.toThrow(/is not a backup or is damaged: unexpected end of file/);
    const lines = gunzipSync(whole).toString().split('\n');
    const changed = [...lines.slice(0, 1), ...lines.slice(2)].join('\n');
    writeFileSync(file, gzipSync(changed));
    await expect(restore(file, destination)).rejects.toThrow(/is damaged: its checksum is wrong/);
    writeFileSync(file, gzipSync(`${lines.slice(0, 3).join('\n')}\n`));
    await expect(restore(file, destination)).rejects.toThrow(/is damaged: its end is missing/);
    writeFileSync(file, 'text');
    await expect(restore(file, destination)).rejects.toThrow(/is not a backup or is damaged: incorrect header check/);
    writeFileSync(file, gzipSync('{"format":"other"}\n'));
    await expect(restore(file, destination)).rejects.toThrow(/is not a backup$/);
  });

  it('a non-empty destination', async () => {
    const { place, file } = await backedUp();
    await expect(restore(file, place.flags)).rejects.toThrow(/the destination is not empty: it has \d+ records/);
  });

  it('a migration of a store that a server has opened', async () => {
    const place = places.embedded!();
    await on(place, async () => {
      await expect(migrate(place.flags, places.embedded!().flags)).rejects.toThrow(/another process has .* open/);
    });
  });

  it('a missing or in-memory store', async () => {
    const file = join(folder, 'none');
    await expect(backUp(file, [`--data-dir=${join(folder, 'nowhere')}`])).rejects.toThrow(/kubenest\.db does not exist/);
    await expect(backUp(file, ['--ephemeral'])).rejects.toThrow(/a store in memory exists only while its server runs/);
  });
});

it('encrypted data stays encrypted in a backup and is readable with the keys of the destination', async () => {
  const key = Buffer.alloc(32, 7).toString('base64');
  const config = join(folder, 'encryption.yaml');
  const keys = [{ name: 'one', secret: key }];
  const resources = [{ resources: ['secrets'], providers: [{ aescbc: { keys } }, { identity: {} }] }];
  writeFileSync(config, JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources }));
  const encrypted = `--encryption-provider-config=${config}`;
  const plain = places.embedded!();
  const here = places.embedded!();
  const file = join(folder, 'encrypted');
  const before = await on(plain, async (cluster) => {
    await fill(cluster);
    return contents(cluster);
  });
  await migrate(plain.flags, [...here.flags, encrypted]);
  await backUp(file, [...here.flags, encrypted]);
  const values = gunzipSync(readFileSync(file)).toString().split('\n').slice(1, -2);
  const secret = values.map((line) => JSON.parse(line) as string[]).find(([name]) => name === '/secrets/default/s')!;
  expect(Buffer.from(secret[3]!, 'base64').toString()).toMatch(/^k8s:enc:aescbc:v1:one:/);
  const there = places.embedded!();
  await expect(restore(file, there.flags)).rejects.toThrow();
  const again = places.embedded!();
  await restore(file, [...again.flags, encrypted]);
  const back = places.embedded!();
  await migrate([...again.flags, encrypted], back.flags);
  expect((await on(back, contents)).objects).toEqual(before.objects);
});
