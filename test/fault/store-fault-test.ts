/**
 * Two servers on one redis or etcd, a network proxy between them, and clients at both, under faults: servers and the store
 * are killed and paused, the network is cut, stalled and slowed down, and the past is compacted every 100 ms. No
 * acknowledged write may be lost, observations must be linearizable, versions must not decrease, and watchers that switch
 * servers must see each event once.
 *
 *     node --conditions=kubenest-source --experimental-transform-types test/fault/store-fault-test.ts redis|etcd [rounds]
 *     [seed] [fault,…|all] [pause]
 *
 * `pause` is the duration of pauses and network faults in seconds, default 5-60. bin/kubenest must be built.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Scheme } from '#apiserver/registry/scheme';
import type { Storage } from '#apiserver/storage/storage';
import { apiGroups } from '#cmd/apis/api-groups';
import { objectsIn } from '#cmd/storage/object-forms';
import { openEtcdStorage } from '#plugins/storage/etcd/open-etcd-storage';
import { RedisStorage } from '#plugins/storage/redis/redis-storage';
import { freePort } from '../../scripts/free-port.ts';
import { startEtcd } from '../servers/etcd-server.ts';
import { type Proxy, startProxy } from '../servers/proxy.ts';
import { startRedis } from '../servers/redis-server.ts';
import { checkGone, checkHistory, type HistoryEntry, type LogEvent, type WatchFigures, watchFigures } from './check-history.ts';
import { Clients, storePrefix, textOf, withDeletions } from './clients.ts';
import { exited, readLog } from './deaths.ts';
import { checkLinearizability } from './linearizability.ts';
import { random } from './random.ts';
import { type Server, startServer } from './server-process.ts';

export type Backend = 'redis' | 'etcd';

export interface StoreFaultOptions {
  readonly backend: Backend;
  readonly rounds: number;
  readonly seed: number;
  /** Faults to choose from in each round. Default: all. */
  readonly faults?: readonly string[] | undefined;
  /** Range of the duration of pauses and network faults in seconds. Default: 5 to 60. */
  readonly pauseSeconds?: readonly [least: number, most: number] | undefined;
}

export interface StoreFaultResult {
  readonly violations: readonly string[];
  readonly acknowledged: number;
  readonly unknown: number;
  readonly events: number;
  readonly linearized: number;
  readonly watches: WatchFigures;
  /** Fault of each round with its duration, and the time after its end until a write was acknowledged. */
  readonly rounds: readonly { readonly fault: string; readonly tookMs: number; readonly recoveryMs: number }[];
  /** Folder of the history, if there are violations. */
  readonly folder: string;
}

/** The targets of faults. */
interface World {
  store: Awaited<ReturnType<typeof startRedis>> | Awaited<ReturnType<typeof startEtcd>>;
  readonly servers: Server[];
  readonly proxy: Proxy;
  /** The store without the proxy. */
  readonly direct: Storage;
  /** Returns the revision up to which the log is known. */
  logged(): number;
  /** Restarts a server at the same address with the same flags. */
  restartServer(index: number): Promise<void>;
  next(below: number): number;
  pauseMs(): number;
}

const compacting = 'compact every 100 ms';
const compactions = 20;

async function paused(process: { kill(signal: NodeJS.Signals): boolean }, ms: number): Promise<void> {
  process.kill('SIGSTOP');
  await sleep(ms);
  process.kill('SIGCONT');
}

export const faults: Readonly<Record<string, (world: World) => Promise<void>>> = {
  async 'kill a server'(world) {
    await world.restartServer(world.next(2));
  },
  async 'kill both servers'(world) {
    await Promise.all([world.restartServer(0), world.restartServer(1)]);
  },
  async 'kill the store'(world) {
    world.store = await world.store.restart();
  },
  async 'pause a server'(world) {
    await paused(world.servers[world.next(2)]!.child, world.pauseMs());
  },
  async 'pause the store'(world) {
    await paused(world.store.child, world.pauseMs());
  },
  async 'cut the network'({ proxy, pauseMs }) {
    proxy.cut();
    await sleep(pauseMs());
    proxy.heal();
  },
  async 'hold the network'({ proxy, pauseMs }) {
    proxy.hold();
    await sleep(pauseMs());
    proxy.heal();
  },
  async 'a slow network'(world) {
    world.proxy.delayMs = 20 + world.next(200);
    await sleep(world.pauseMs());
    world.proxy.delayMs = 0;
  },
  async [compacting]({ direct, logged }) {
    for (let i = 0; i < compactions; i++) {
      // Compacts only what the test has read.
      await direct.compact(logged());
      await sleep(100);
    }
  },
};

const opens: Readonly<Record<Backend, (url: string) => Promise<Storage>>> = {
  redis: (url) => RedisStorage.open({ url, compactionIntervalMs: 0 }),
  async etcd(url) {
    const scheme = new Scheme();
    for (const builder of Object.values(apiGroups())) builder.addToScheme(scheme);
    const storage = await openEtcdStorage({ servers: [url], compactionIntervalMs: 0 });
    return objectsIn(storage, scheme, 'application/vnd.kubernetes.protobuf');
  },
};

export async function runStoreFaultTest(options: StoreFaultOptions): Promise<StoreFaultResult> {
  const { backend, seed } = options;
  const folder = mkdtempSync(join(tmpdir(), `${backend}-fault-test-`));
  const next = random(seed);
  const history: HistoryEntry[] = [];
  const log: LogEvent[] = [];
  const world = await startWorld(options, folder, next);
  const logging = new AbortController();
  const clients = new Clients(
    world.servers.map(({ port }) => port),
    next,
    history,
  );
  const rounds: StoreFaultResult['rounds'][number][] = [];
  try {
    const following = readLog(world.direct, storePrefix, log, textOf, logging.signal);
    world.logged = following.reached;
    const running = clients.run();
    const names = options.faults ?? Object.keys(faults);
    for (let round = 0; round < options.rounds; round++) {
      await progress(clients, 20);
      await sleep(next(500));
      const fault = names[round % names.length]!;
      const begun = performance.now();
      await faults[fault]!(world);
      const ended = performance.now();
      await progress(clients, 20);
      rounds.push({ fault, tookMs: Math.round(ended - begun), recoveryMs: Math.round(performance.now() - ended) });
    }
    clients.stop();
    await running;
    const revision = await settled(world.direct);
    await following.until(revision);
    logging.abort();
    const { records } = await world.direct.list(storePrefix, { revision });
    const later = log.findIndex((event) => event.revision > revision);
    if (later >= 0) log.splice(later);
    const final = { revision, records: records.map(({ key, revision: at, value }) => ({ key, revision: at, text: textOf(value) })) };
    const complete = withDeletions(history, log);
    const watches = watchFigures(history);
    // Each watcher may receive a 410 from each server for each fault and each compaction that overtakes the cache.
    const causes = rounds.reduce((sum, { fault }) => sum + (fault === compacting ? compactions : 1), 0);
    const explained = 2 * clients.watchers * causes;
    const violations = [...checkHistory(complete, log, final), ...checkLinearizability(complete, log), ...checkGone(watches, explained)];
    if (violations.length > 0)
      writeFileSync(join(folder, 'history.jsonl'), [...complete, ...log].map((entry) => JSON.stringify(entry)).join('\n'));
    const acknowledged = history.filter(({ type }) => type === 'ack').length;
    const refused = history.filter(({ type }) => type === 'reject').length;
    const unknown = history.filter(({ type }) => type === 'begin').length - acknowledged - refused;
    const linearized = new Set(log.map(({ key }) => key)).size;
    if (violations.length === 0) rmSync(folder, { recursive: true });
    return { violations, acknowledged, unknown, events: log.length, linearized, watches, rounds, folder };
  } finally {
    logging.abort();
    clients.stop();
    await endWorld(world);
  }
}

async function startWorld({ backend, pauseSeconds = [5, 60] }: StoreFaultOptions, folder: string, next: World['next']): Promise<World> {
  const store = await (backend === 'redis' ? startRedis() : startEtcd());
  const proxy = await startProxy(store.port);
  const url = store.url.replace(/\d+$/, String(proxy.port));
  const flags =
    backend === 'redis' ? ['--storage-backend=redis', `--redis-url=${url}`] : ['--storage-backend=etcd3', `--etcd-servers=${url}`];
  const start = (index: number, port: number): Promise<Server> =>
    startServer({ folder, port, flags: [...flags, `--data-dir=${join(folder, String(index))}`] });
  const servers: Server[] = [];
  for (const index of [0, 1]) servers.push(await start(index, await freePort()));
  return {
    store,
    servers,
    proxy,
    direct: await opens[backend](store.url),
    logged: () => 1,
    next,
    pauseMs: () => 1_000 * pauseSeconds[0] + next(1_000 * (pauseSeconds[1] - pauseSeconds[0]) + 1),
    async restartServer(index) {
      const { child, port } = servers[index]!;
      child.kill('SIGKILL');
      await exited(child);
      servers[index] = await start(index, port);
    },
  };
}

async function endWorld({ servers, direct, proxy, store }: World): Promise<void> {
  for (const { child } of servers) {
    child.kill('SIGKILL');
    await exited(child);
  }
  await direct.close();
  await proxy[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
}

/**
 * Returns a revision after which the servers have no pending client operations; abandoned operations may still take effect
 * before it.
 */
async function settled(storage: Storage): Promise<number> {
  await sleep(2_000);
  return storage.currentRevision();
}

/** Resolves after `writes` further acknowledged writes. Rejects after two minutes, because the store has not recovered. */
async function progress(clients: Clients, writes: number): Promise<void> {
  const wanted = clients.acknowledged + writes;
  for (const began = performance.now(); clients.acknowledged < wanted; await sleep(10))
    if (performance.now() - began > 120_000) throw new Error('no write was acknowledged for two minutes');
}

/** Returns for each fault the count, the maximum duration in milliseconds, and the median and maximum recovery time. */
export function faultTable({ rounds }: StoreFaultResult): string {
  return [...Map.groupBy(rounds, ({ fault }) => fault)]
    .map(([fault, all]) => {
      const times = all.map(({ recoveryMs }) => recoveryMs).sort((a, b) => a - b);
      const longest = Math.max(...all.map(({ tookMs }) => tookMs));
      return `| ${fault} | ${all.length} | ${longest} | ${times[times.length >> 1]} | ${times.at(-1)} |`;
    })
    .join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [backend, rounds = '50', seed = String(Date.now() % 2 ** 31), wanted = 'all', pause = '5-60'] = process.argv.slice(2);
  if (backend !== 'redis' && backend !== 'etcd') throw new Error('the first argument is the backend: redis or etcd');
  const [least, most = least] = pause.split('-').map(Number) as [number, number?];
  const chosen = wanted === 'all' ? Object.keys(faults) : wanted.split(',');
  const pauseSeconds: [number, number] = [least, most as number];
  const result = await runStoreFaultTest({ backend, rounds: Number(rounds), seed: Number(seed), faults: chosen, pauseSeconds });
  const { acknowledged, unknown, events, watches, violations, folder } = result;
  process.stdout.write(
    `${backend}, seed ${seed}: ${rounds} faults, ${acknowledged} acknowledged writes, ${unknown} of unknown outcome, ${events} events\n`,
  );
  process.stdout.write(`${JSON.stringify(watches)}\n${faultTable(result)}\n${violations.length} violations\n`);
  for (const violation of violations.slice(0, 50)) process.stdout.write(`${violation}\n`);
  if (violations.length > 0) process.stdout.write(`kept: ${folder}\n`);
  process.exitCode = violations.length > 0 ? 1 : 0;
}
