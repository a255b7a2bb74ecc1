/**
 * A redis that returns with less data than it acknowledged: the end of its log is truncated, or a lagging replica replaces
 * it. Two servers on it and their watchers must detect the loss: no revision has two states, and watchers must list again.
 */
import { readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';
import { type Proxy, startProxy } from '../servers/proxy.ts';
import { durable, noRedis, type RedisServer, redisServer, startRedis } from '../servers/redis-server.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const lostWrites = 5;

interface Shown {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
}

async function create(cluster: TestCluster, name: string): Promise<number> {
  const response = await cluster.fetch(configMaps, { body: { metadata: { name } } });
  expect(response.status, await response.clone().text()).toBe(201);
  return Number(((await response.json()) as Shown).metadata.resourceVersion);
}

async function list(cluster: TestCluster): Promise<{ readonly names: readonly string[]; readonly revision: number }> {
  const response = await cluster.fetch(configMaps);
  expect(response.status).toBe(200);
  const { items, metadata } = (await response.json()) as { readonly items: readonly Shown[]; readonly metadata: Shown['metadata'] };
  return { names: items.map((item) => item.metadata.name), revision: Number(metadata.resourceVersion) };
}

/** Resolves to the last event of a watch when it has ended. */
async function lastEvent(
  cluster: TestCluster,
  from: number,
): Promise<{ readonly type: string; readonly object: { readonly code?: number } }> {
  const response = await cluster.fetch(`${configMaps}?watch=1&timeoutSeconds=20&resourceVersion=${from}`);
  return JSON.parse((await response.text()).trim().split('\n').at(-1)!) as Awaited<ReturnType<typeof lastEvent>>;
}

/** Removes the last writes from the redis behind the proxy; `behind` is called before the writes. */
interface Loss {
  readonly name: string;
  /** `link` is the connection between master and replica. */
  behind(master: RedisServer, replica: RedisServer, link: Proxy): Promise<void>;
  lose(master: RedisServer, replica: RedisServer): Promise<RedisServer>;
}

const losses: readonly Loss[] = [
  {
    name: 'the end of the log is truncated',
    async behind() {},
    async lose(master) {
      await master.kill();
      const folder = join(master.folder, 'appendonlydir');
      const log = join(folder, readdirSync(folder).find((file) => file.endsWith('.incr.aof'))!);
      truncateSync(log, statSync(log).size - 1_000);
      return master.restart();
    },
  },
  {
    name: 'a lagging replica is promoted',
    async behind(master, replica, link) {
      await vi.waitFor(() => expect(replica.command('GET', 'kubenest:rev')).toBe(master.command('GET', 'kubenest:rev')));
      link.hold();
    },
    async lose(master, replica) {
      await master.kill();
      replica.command('REPLICAOF', 'NO', 'ONE');
      return replica;
    },
  },
];

for (const { name, behind, lose } of losses) {
  it(`${name}: no revision has two states, and watches restart`, { timeout: 90_000 }, async ({ skip }) => {
    if (redisServer === undefined) return skip(noRedis);
    await using master = await startRedis();
    await using link = await startProxy(master.port);
    await using replica = await startRedis([...durable, '--replicaof', '127.0.0.1', String(link.port)]);
    await using proxy = await startProxy(master.port);
    await using ends = new AsyncDisposableStack();
    const storage = { redisUrl: `redis://127.0.0.1:${proxy.port}`, prefix: 'kubenest' };
    await using one = await startTestCluster({ storage });
    await using other = await startTestCluster({ storage });
    await create(one, 'kept');
    await behind(master, replica, link);
    const lost: number[] = [];
    for (let i = 0; i < lostWrites; i++) lost.push(await create(i % 2 === 0 ? one : other, `lost-${i}`));
    const highest = Math.max(...lost);
    for (const cluster of [one, other]) expect((await list(cluster)).revision).toBeGreaterThanOrEqual(highest);
    const watched = [one, other].map((cluster) => lastEvent(cluster, highest));
    const back = await lose(master, replica);
    ends.defer(() => back.kill());
    proxy.target = back.port;
    const revision = await vi.waitFor(() => create(one, 'after'), { interval: 200 });
    expect(revision).toBeGreaterThan(highest);
    for (const event of await Promise.all(watched)) expect(event).toMatchObject({ type: 'ERROR', object: { code: 410 } });
    // Both servers show the same current state at a revision that was not used before.
    const [here, there] = await vi.waitFor(
      async () => {
        const lists = await Promise.all([list(one), list(other)]);
        expect(lists[1].names).toEqual(lists[0].names);
        return lists;
      },
      { interval: 200 },
    );
    for (const { names, revision: at } of [here, there]) {
      expect(names).toEqual(expect.arrayContaining(['after', 'kept']));
      expect(names).not.toContain(`lost-${lostWrites - 1}`);
      expect(at).toBeGreaterThanOrEqual(revision);
    }
    for (const cluster of [one, other]) expect(await lastEvent(cluster, lost[0]!)).toMatchObject({ type: 'ERROR', object: { code: 410 } });
  });
}
