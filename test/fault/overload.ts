/**
 * Ten times as many clients as saturate the server, with short retries, under priority and fairness: throughput must stay
 * near the maximum, memory must be bounded, exempt clients must not wait, and the server must recover afterwards.
 *
 *     node --conditions=kubenest-source --experimental-transform-types test/fault/overload.ts [seconds]
 *     [embedded|redis|etcd]
 *
 * bin/kubenest must be built.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type BackendName, backendOf, startBackend } from '../servers/backends.ts';
import { Kubenest } from '../servers/kubenest.ts';
import { measured, memory } from '../servers/memory.ts';
import { threadTimes } from '../servers/thread-times.ts';
import { type BusyRequest, keepBusy, newCounts } from './busy-clients.ts';
import { SteadyClient } from './steady-client.ts';
import { quantileOf } from '../servers/quantiles.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const objects = 100;
/** Concurrency limits of reads and writes. */
const seats = { reads: 20, writes: 10 };
/** Number of clients that saturates the server. */
const capacity = 100;
const times = 10;
const peakSeconds = 4;
/** A tenth of Retry-After; a single-threaded client cannot retry faster. */
const retryMs = 100;
/** Minimum throughput under overload, relative to the peak; the following constants are the other limits. */
const leastGoodput = 0.8;
const mostGrowth = 300;
const mostRecoveryMs = 10_000;
const mostReadMs = 1_000;

export interface OverloadResult {
  /** Requests per second of as many clients as saturate the server. */
  readonly peak: number;
  /** Requests per second under tenfold load. */
  readonly goodput: number;
  /** CPU time in percent that the server or the clients lacked meanwhile, because of other processes or each other. */
  readonly starved: number;
  /** 429 responses meanwhile. */
  readonly refused: number;
  /** Memory of the server before and at its peak. */
  readonly megabytesBefore: number;
  readonly megabytesMost: number;
  /** 99th percentile of an administrator's GETs meanwhile. */
  readonly readP99Ms: number;
  /** Time after the overload until the original throughput is reached again. */
  readonly recoveryMs: number;
  readonly violations: readonly string[];
}

/** A quarter of the requests are writes. */
const request = (client: number, turn: number): BusyRequest => {
  if (turn % 8 === 1) return { path: `${configMaps}?limit=20` };
  const path = `${configMaps}/c${(client * 7 + turn) % objects}`;
  return turn % 4 === 0 ? { path, patch: { data: { text: `${client}-${turn}` } } } : { path };
};

interface Rate {
  /** Requests per second. */
  readonly done: number;
  /** Fraction of the time in which the server's or the clients' thread ran or was idle; otherwise it waited for a processor. */
  readonly share: number;
}

async function rateOf(server: Kubenest, clients: number, seconds: number, counts = newCounts()): Promise<Rate> {
  const end = new AbortController();
  const threads = [server.pid, process.pid];
  const waited = threads.map((pid) => threadTimes(pid).waitedMs);
  const began = performance.now();
  const loading = keepBusy({ url: server.url, token: 'load-token', clients, retryMs, request }, counts, end.signal);
  await sleep(1_000 * seconds);
  end.abort();
  const took = performance.now() - began;
  const share = 1 - Math.max(...threads.map((pid, i) => threadTimes(pid).waitedMs - waited[i]!)) / took;
  const rate = { done: Math.round(counts.done / (took / 1_000)), share };
  await loading;
  return rate;
}

/** True if a rate is near the peak, in proportion to the CPU time available on a shared machine. */
function isNear(rate: Rate, peak: Rate): boolean {
  return rate.done >= leastGoodput * peak.done * Math.min(1, rate.share / peak.share);
}

export async function runOverload(seconds: number, backend: BackendName = 'embedded'): Promise<OverloadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'overload-'));
  await using ends = new AsyncDisposableStack();
  ends.defer(() => rmSync(folder, { recursive: true }));
  const store = ends.use(await startBackend(backend));
  const flags = [`--max-requests-inflight=${seats.reads}`, `--max-mutating-requests-inflight=${seats.writes}`, ...store.flags];
  // Administrators are exempt.
  const server = ends.use(
    await Kubenest.start(folder, ['--authorization-mode=AlwaysAllow', ...flags], { 'load-token': 'load,load,"load"' }),
  );
  while ((await server.fetch('/readyz')).status !== 200) await sleep(10);
  for (let i = 0; i < objects; i++)
    await server.fetch(configMaps, { body: { metadata: { name: `c${i}` }, data: { padding: 'x'.repeat(1_000) } } });
  // Code that runs for the first time is slow.
  await rateOf(server, capacity, peakSeconds / 2);
  const peak = await rateOf(server, capacity, peakSeconds);
  const megabytesBefore = Math.round(memory(server).now);
  const reader = new SteadyClient({ url: `${server.url}/api/v1/namespaces/default`, token: 'admin-token' });
  const counts = newCounts();
  let rate: Rate = { done: 0, share: 1 };
  const { most } = await measured(server, async () => {
    rate = await rateOf(server, times * capacity, seconds, counts);
  });
  const began = performance.now();
  const reads = await reader.end();
  while (performance.now() - began < 2 * mostRecoveryMs && !isNear(await rateOf(server, capacity, 1), peak));
  const recoveryMs = Math.round(performance.now() - began);
  const latencies = reads.map(({ wallMs }) => wallMs);
  const readP99Ms = Math.round(quantileOf(0.99, latencies));
  const megabytesMost = Math.round(most);
  const starved = Math.round(100 * (1 - Math.min(1, rate.share / peak.share)));
  const violations = [
    ...(isNear(rate, peak) ? [] : [`${rate.done} requests per second, of a maximum of ${peak.done}, starved by ${starved} %`]),
    ...(counts.refused === 0 ? ['no request was rejected, so there was no overload'] : []),
    ...(megabytesMost > megabytesBefore + mostGrowth ? [`the server took ${megabytesMost} MB, ${megabytesBefore} before`] : []),
    ...(readP99Ms > mostReadMs ? [`an administrator waited ${readP99Ms} ms`] : []),
    ...(recoveryMs > mostRecoveryMs ? [`not recovered after ${recoveryMs} ms`] : []),
    ...[...counts.others].map(([answer, count]) => `${count} requests were answered with ${answer}`),
  ];
  return {
    peak: peak.done,
    goodput: rate.done,
    starved,
    refused: counts.refused,
    megabytesBefore,
    megabytesMost,
    readP99Ms,
    recoveryMs,
    violations,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [seconds = '600', backend = 'embedded'] = process.argv.slice(2);
  const { violations, ...figures } = await runOverload(Number(seconds), backendOf(backend));
  process.stdout.write(`${seconds} seconds on ${backend}: ${JSON.stringify(figures)}\n${violations.length} violations\n`);
  for (const violation of violations) process.stdout.write(`${violation}\n`);
  process.exitCode = violations.length > 0 ? 1 : 0;
}
