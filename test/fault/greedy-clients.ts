/**
 * 500 workers of one user overload the server; with priority and fairness, the leases of a node and a leader must not wait
 * for them.
 *
 *     node --conditions=kubenest-source --experimental-transform-types test/fault/greedy-clients.ts [seconds]
 *     [embedded|redis|etcd]
 *
 * bin/kubenest must be built.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type BackendName, backendOf, startBackend } from '../servers/backends.ts';
import { Kubenest } from '../servers/kubenest.ts';
import { keepBusy, newCounts } from './busy-clients.ts';
import { SteadyClient, type Wait } from './steady-client.ts';
import { quantileOf } from '../servers/quantiles.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const workers = 500;
/** Shorter than the Retry-After of a second. */
const retryMs = 250;
const pauseMs = 10;
const warmUpMs = 1_000;
/** Limit of a renewal under load at the 99th percentile, or on a slower machine a multiple of its time without load. */
const mostMs = 100;
const mostTimes = 20;
/** Time after which a leader gives up (client-go's renewDeadline). */
const deadlineMs = 10_000;

/** Owners of leases, with the lease's path. */
const holders = [
  { name: 'scheduler', user: 'system:kube-scheduler,1', namespace: 'kube-system', lease: 'kube-scheduler' },
  { name: 'node', user: 'system:node:node-1,2,"system:nodes"', namespace: 'kube-node-lease', lease: 'node-1' },
] as const;

export interface LeaseWaits {
  /** 99th percentile and maximum in wall-clock time. */
  readonly p99Ms: number;
  readonly longestMs: number;
  /** 99th percentile of the server's CPU time during a renewal. */
  readonly workP99Ms: number;
}

export interface GreedyResult {
  /** Requests of the greedy user per second. */
  readonly done: number;
  /** 429 responses per second. */
  readonly refused: number;
  /** True if fewer processes than cores were running before; otherwise wall-clock times depend on the other processes. */
  readonly isQuiet: boolean;
  readonly alone: Readonly<Record<string, LeaseWaits>>;
  readonly beside: Readonly<Record<string, LeaseWaits>>;
  readonly violations: readonly string[];
}

function waitsOf(waits: readonly Wait[]): LeaseWaits {
  const wall = waits.map(({ wallMs }) => wallMs);
  const work = waits.map(({ workMs }) => workMs);
  return {
    p99Ms: Math.round(quantileOf(0.99, wall)),
    longestMs: Math.round(Math.max(...wall)),
    workP99Ms: Math.round(quantileOf(0.99, work)),
  };
}

/** Measures the lease renewals of each owner, after opening its connection. */
async function renew(server: Kubenest, seconds: number): Promise<Readonly<Record<string, LeaseWaits>>> {
  const clients = holders.map(({ name, namespace, lease }) => ({
    name,
    client: new SteadyClient({
      url: `${server.url}/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${lease}`,
      ...{ token: name, method: 'PATCH', contentType: 'application/merge-patch+json', pauseMs, pid: server.pid, warmUpMs },
      body: JSON.stringify({ spec: { leaseDurationSeconds: 15, holderIdentity: name } }),
    }),
  }));
  await sleep(warmUpMs + 1_000 * seconds);
  return Object.fromEntries(await Promise.all(clients.map(async ({ name, client }) => [name, waitsOf(await client.end())] as const)));
}

const barOf = (aloneMs: number): number => Math.max(mostMs, mostTimes * aloneMs);

export async function runGreedyClients(seconds: number, backend: BackendName = 'embedded'): Promise<GreedyResult> {
  const isQuiet = loadavg()[0]! < availableParallelism();
  const folder = mkdtempSync(join(tmpdir(), 'greedy-'));
  await using ends = new AsyncDisposableStack();
  ends.defer(() => rmSync(folder, { recursive: true }));
  const store = ends.use(await startBackend(backend));
  const users = { greedy: 'greedy,3', ...Object.fromEntries(holders.map(({ name, user }) => [name, user])) };
  const server = ends.use(await Kubenest.start(folder, ['--authorization-mode=AlwaysAllow', ...store.flags], users));
  while ((await server.fetch('/readyz')).status !== 200) await sleep(10);
  for (let worker = 0; worker < workers; worker += 1) await server.fetch(configMaps, { body: { metadata: { name: `c${worker}` } } });
  for (const { namespace, lease } of holders)
    await server.fetch(`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`, { body: { metadata: { name: lease } } });
  const alone = await renew(server, seconds);
  const counts = newCounts();
  const end = new AbortController();
  const request = (client: number, turn: number) => ({ path: `${configMaps}/c${client}`, patch: { data: { turn: String(turn) } } });
  const keeping = keepBusy({ url: server.url, token: 'greedy', clients: workers, retryMs, request }, counts, end.signal);
  const beside = await renew(server, seconds);
  end.abort();
  await keeping;
  const metrics = String((await server.fetch('/metrics')).body);
  const violations = [
    ...Object.entries(beside).flatMap(([name, waits]) => [
      ...(waits.workP99Ms < barOf(alone[name]!.workP99Ms)
        ? []
        : [`the server used ${waits.workP99Ms} ms of CPU time before it renewed the lease of the ${name}`]),
      ...(!isQuiet || waits.p99Ms < barOf(alone[name]!.p99Ms) ? [] : [`the ${name} waited ${waits.p99Ms} ms for its lease`]),
      ...(waits.longestMs < deadlineMs ? [] : [`the ${name} lost its lease: it waited ${waits.longestMs} ms`]),
    ]),
    ...(counts.refused === 0 ? ['no request was rejected'] : []),
    ...[...counts.others].map(([answer, count]) => `${count} requests were answered with ${answer}`),
    ...['executing', 'inqueue']
      .map((state) => `apiserver_flowcontrol_current_${state}_requests{flow_schema="global-default",priority_level="global-default"} 0`)
      .filter((line) => !metrics.includes(line))
      .map((line) => `after the end there is no ${line}`),
  ];
  const during = seconds + warmUpMs / 1_000;
  return {
    ...{ done: Math.round(counts.done / during), refused: Math.round(counts.refused / during) },
    ...{ isQuiet, alone, beside, violations },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [seconds = '60', backend = 'embedded'] = process.argv.slice(2);
  const { violations, ...figures } = await runGreedyClients(Number(seconds), backendOf(backend));
  process.stdout.write(`${seconds} seconds on ${backend}: ${JSON.stringify(figures)}\n${violations.length} violations\n`);
  for (const violation of violations) process.stdout.write(`${violation}\n`);
  process.exitCode = violations.length > 0 ? 1 : 0;
}
