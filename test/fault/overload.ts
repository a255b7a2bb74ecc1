/**
 * Ten times as many clients as keep the server busy, which ask again soon, with priority and fairness: what is done for them must stay near
 * the most that can be done, memory within bounds, who is exempt must not wait, and afterwards all must be as before.
 *
 *     node --conditions=kubenest-source --experimental-transform-types test/fault/overload.ts [seconds] [embedded|redis|etcd]
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
import { percentile99, SteadyClient } from './steady-client.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const objects = 100;
/** Of reads and writes: so many requests are served at once. */
const seats = { reads: 20, writes: 10 };
/** So many clients have all of them taken, and the server does no more for a larger number. */
const capacity = 100;
const times = 10;
const peakSeconds = 4;
/** A tenth of what Retry-After says; more often is more than a client of one thread can ask. */
const retryMs = 100;
/** What is promised. */
const leastGoodput = 0.8;
const mostGrowth = 300;
const mostRecoveryMs = 10_000;
const mostReadMs = 1_000;

export interface OverloadResult {
  /** Requests that were done, a second, by as many clients as keep it busy. */
  readonly peak: number;
  /** The same by ten times as many. */
  readonly goodput: number;
  /** By how many percent less of a processor the server or the clients had then: what others of the machine took, and each other. */
  readonly starved: number;
  /** Answers 429 meanwhile. */
  readonly refused: number;
  /** Of the server, before and at most. */
  readonly megabytesBefore: number;
  readonly megabytesMost: number;
  /** The 99th percentile of a GET of an administrator meanwhile. */
  readonly readP99Ms: number;
  /** After the end, until as many clients as keep it busy have again what they had. */
  readonly recoveryMs: number;
  readonly violations: readonly string[];
}

/** A quarter are writes. */
const request = (client: number, turn: number): BusyRequest => {
  if (turn % 8 === 1) return { path: `${configMaps}?limit=20` };
  const path = `${configMaps}/c${(client * 7 + turn) % objects}`;
  return turn % 4 === 0 ? { path, patch: { data: { text: `${client}-${turn}` } } } : { path };
};

interface Rate {
  /** How much was done a second. */
  readonly done: number;
  /** The part of the time in which the thread of the server, or of the clients, ran or had nothing to do: else it waited for a processor. */
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

/** Whether it is near another: of a machine that others use, too, more than it had of its processors is not asked. */
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
  // What runs for the first time is slow.
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
  const readP99Ms = Math.round(percentile99(reads.map(({ wallMs }) => wallMs)));
  const megabytesMost = Math.round(most);
  const starved = Math.round(100 * (1 - Math.min(1, rate.share / peak.share)));
  const violations = [
    ...(isNear(rate, peak) ? [] : [`${rate.done} requests a second were done, of ${peak.done} that can be, starved by ${starved} %`]),
    ...(counts.refused === 0 ? ['nobody was refused: that was no overload'] : []),
    ...(megabytesMost > megabytesBefore + mostGrowth ? [`the server took ${megabytesMost} MB, ${megabytesBefore} before`] : []),
    ...(readP99Ms > mostReadMs ? [`an administrator waited ${readP99Ms} ms`] : []),
    ...(recoveryMs > mostRecoveryMs ? [`after ${recoveryMs} ms it was not yet as before`] : []),
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
