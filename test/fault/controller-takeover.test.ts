/**
 * Two servers with controllers on one store: one holds the lease and is killed while it creates pods. The other takes over within the time
 * of the lease, completes the work, and repeats nothing that was done.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Kubenest } from '../servers/kubenest.ts';
import { noRedis, redisServer, startRedis, type RedisServer } from '../servers/redis-server.ts';
import { until } from '../servers/until.ts';

const replicas = 30;
const names = ['a', 'b', 'c', 'd', 'e'];
/** Upstream: leaderelectionconfig, the lease duration and one retry period, with time for the work. */
const takeOverMs = 15_000 + 2_000 + 8_000;

interface Lease {
  readonly spec: { readonly holderIdentity?: string; readonly leaseTransitions?: number };
}
interface Pod {
  readonly metadata: { readonly uid: string; readonly ownerReferences?: readonly { readonly uid: string }[] };
}

let folder: string;
let redis: RedisServer;
let servers: Kubenest[];

beforeAll(async () => {
  if (redisServer === undefined) return;
  folder = mkdtempSync(join(tmpdir(), 'kubenest-takeover-'));
  redis = await startRedis();
  servers = [];
  for (const name of ['one', 'two'])
    servers.push(await Kubenest.start(join(folder, name), [`--storage-backend=redis`, `--redis-url=${redis.url}`, '--controllers=*']));
}, 60_000);
afterAll(async () => {
  for (const server of servers ?? []) await server.kill('SIGKILL');
  await redis?.[Symbol.asyncDispose]();
  if (folder) rmSync(folder, { recursive: true });
});

const lease = async (server: Kubenest): Promise<Lease['spec'] | undefined> =>
  ((await server.fetch('/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager')).body as Lease | undefined)
    ?.spec;
const podsOf = async (server: Kubenest): Promise<readonly Pod[]> =>
  ((await server.fetch('/api/v1/namespaces/default/pods')).body as { readonly items: readonly Pod[] }).items;

it.skipIf(redisServer === undefined)(
  redisServer ? 'the death of the server that runs the controllers' : noRedis,
  { timeout: 120_000 },
  async () => {
    const [first, second] = servers as [Kubenest, Kubenest];
    const holder = await until('a holder', 20_000, async () => (await lease(first))?.holderIdentity);
    for (const name of names) {
      const labels = { app: name };
      const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
      const spec = { replicas, selector: { matchLabels: labels }, template };
      const { status } = await second.fetch('/apis/apps/v1/namespaces/default/deployments', { body: { metadata: { name }, spec } });
      expect(status).toBe(201);
    }
    await until('the first pods', 20_000, async () => (await podsOf(second)).length > 10);
    await first.kill('SIGKILL');
    const before = (await podsOf(second)).length;
    const next = await until('another holder', takeOverMs, async () => {
      const spec = await lease(second);
      return spec && spec.holderIdentity !== holder ? spec : undefined;
    });
    expect(next.leaseTransitions).toBe(1);
    await until('an event of each holder', 20_000, async () => {
      const { items } = (await second.fetch('/api/v1/namespaces/kube-system/events')).body as {
        items: { reason: string; message: string }[];
      };
      const messages = items.filter(({ reason }) => reason === 'LeaderElection').map(({ message }) => message);
      return [holder, next.holderIdentity].every((identity) => messages.includes(`${identity} became leader`));
    });
    await until('all pods', takeOverMs, async () => (await podsOf(second)).length >= names.length * replicas);
    await sleep(2_000);
    const pods = await podsOf(second);
    expect(before).toBeLessThan(names.length * replicas);
    expect(pods.length).toBe(names.length * replicas);
    const perOwner = Map.groupBy(pods, ({ metadata }) => metadata.ownerReferences?.[0]?.uid);
    expect([...perOwner.values()].map((owned) => owned.length)).toEqual(names.map(() => replicas));
  },
);
