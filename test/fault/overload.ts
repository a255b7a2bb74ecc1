/**
 * Ten times as many clients as keep the server busy, which ask again at once, with priority and fairness: what is done for them must stay near
 * the most that can be done, memory within bounds, who is exempt must not wait, and afterwards all must be as before.
 *
 *     node --conditions=kubenest-source --experimental-transform-types test/fault/overload.ts [seconds] [embedded|redis|etcd]
 *
 * bin/kubenest must be built.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http2 from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type BackendName, backendOf, startBackend } from '../servers/backends.ts';
import { Kubenest } from '../servers/kubenest.ts';
import { measured, memory } from '../servers/memory.ts';
import { SteadyReader } from './steady-reader.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const objects = 100;
/** Of reads and writes: so many requests are served at once. */
const seats = { reads: 20, writes: 10 };
/** So many clients have all of them taken, and the server does no more for a larger number. */
const capacity = 100;
const times = 10;
const streamsOfConnection = 100;
const peakSeconds = 4;
const retryMs = 20;
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
  /** By how many percent less of a processor the server had then: what others of the machine took, and the clients themselves. */
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

interface Counts {
  done: number;
  refused: number;
  /** Any other answer, and how often. */
  readonly others: Map<string, number>;
}

/** Clients over HTTP/2 that ask for one thing after another until the signal aborts. */
async function load(url: string, clients: number, counts: Counts, signal: AbortSignal): Promise<void> {
  const sessions = Array.from({ length: Math.ceil(clients / streamsOfConnection) }, () =>
    http2.connect(url, { rejectUnauthorized: false }),
  );
  for (const session of sessions) session.on('error', () => {});
  const ask = (session: http2.ClientHttp2Session, client: number, turn: number): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const name = `c${(client * 7 + turn) % objects}`;
    const isWrite = turn % 4 === 0;
    const path = turn % 8 === 1 ? `${configMaps}?limit=20` : `${configMaps}/${name}`;
    const common = { ':path': path, authorization: 'Bearer load-token' };
    const stream = session.request(
      isWrite ? { ...common, ':method': 'PATCH', 'content-type': 'application/merge-patch+json' } : { ...common, ':method': 'GET' },
    );
    stream.on('response', (headers) => stream.resume().on('end', () => resolve(String(headers[':status']))));
    stream.on('error', ({ message }) => resolve(message)).on('close', () => resolve('no answer'));
    stream.end(isWrite ? JSON.stringify({ data: { text: `${client}-${turn}` } }) : undefined);
    return promise;
  };
  const run = async (client: number): Promise<void> => {
    const session = sessions[client % sessions.length]!;
    for (let turn = client; !signal.aborted; turn++) {
      const answer = await ask(session, client, turn);
      if (answer === '200') counts.done += 1;
      else if (answer === '429') {
        counts.refused += 1;
        await sleep(retryMs);
      } else counts.others.set(answer, (counts.others.get(answer) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, client) => run(client)));
  for (const session of sessions) session.destroy();
}

const newCounts = (): Counts => ({ done: 0, refused: 0, others: new Map() });

interface Rate {
  /** How much was done a second. */
  readonly done: number;
  /** The part of the time in which the server's thread ran, or had nothing to do: else it waited for a processor. */
  readonly share: number;
}

/** How long the first thread has been ready to run, and had no processor, in milliseconds. */
function waitedMs({ pid }: Kubenest): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
}

async function rateOf(server: Kubenest, clients: number, seconds: number, counts = newCounts()): Promise<Rate> {
  const end = new AbortController();
  const waited = waitedMs(server);
  const began = performance.now();
  const loading = load(server.url, clients, counts, end.signal);
  await sleep(1_000 * seconds);
  end.abort();
  const took = performance.now() - began;
  const rate = { done: Math.round(counts.done / (took / 1_000)), share: 1 - (waitedMs(server) - waited) / took };
  await loading;
  return rate;
}

/** Whether it is near another: of a machine that others use, too, more than a server had of its processors is not asked of it. */
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
  const reader = new SteadyReader({ url: `${server.url}/api/v1/namespaces/default`, token: 'admin-token' });
  const counts = newCounts();
  let rate: Rate = { done: 0, share: 1 };
  const { most } = await measured(server, async () => {
    rate = await rateOf(server, times * capacity, seconds, counts);
  });
  const began = performance.now();
  const reads = (await reader.end()).toSorted((a, b) => a - b);
  while (performance.now() - began < 2 * mostRecoveryMs && !isNear(await rateOf(server, capacity, 1), peak));
  const recoveryMs = Math.round(performance.now() - began);
  const readP99Ms = Math.round(reads[Math.floor(reads.length * 0.99)]!);
  const megabytesMost = Math.round(most);
  const violations = [
    ...(isNear(rate, peak) ? [] : [`${rate.done} requests a second were done, of ${peak.done} that can be`]),
    ...(counts.refused === 0 ? ['nobody was refused: that was no overload'] : []),
    ...(megabytesMost > megabytesBefore + mostGrowth ? [`the server took ${megabytesMost} MB, ${megabytesBefore} before`] : []),
    ...(readP99Ms > mostReadMs ? [`an administrator waited ${readP99Ms} ms`] : []),
    ...(recoveryMs > mostRecoveryMs ? [`after ${recoveryMs} ms it was not yet as before`] : []),
    ...[...counts.others].map(([answer, count]) => `${count} requests were answered with ${answer}`),
  ];
  const starved = Math.round(100 * (1 - Math.min(1, rate.share / peak.share)));
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
