/**
 * Measures how memory and durations grow with the stored data: fills an embedded store with pods of 3 kB, starts
 * bin/kubenest (built) on it, lists them in pages, whole and by concurrent informers, and opens many watches. Prints a row
 * for each number of pods. With --check, exits with 1 if the final memory exceeds 1.3 times the size of the pods plus 250
 * MB.
 *
 *     node --conditions=kubenest-source --experimental-transform-types test/bench/scale.ts [--pods 10000,100000] [--watchers
 *     10000] [--check]
 */
import type { Buffer } from 'node:buffer';
import { mkdtempSync, rmSync } from 'node:fs';
import http2 from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Kubenest } from '../servers/kubenest.ts';
import { fillWithPods, namespaces, storedPod } from '../servers/many-pods.ts';
import { measured, megabyte, memory } from '../servers/memory.ts';

const { values } = parseArgs({
  options: {
    pods: { type: 'string', default: '10000,100000' },
    watchers: { type: 'string', default: '10000' },
    check: { type: 'boolean', default: false },
  },
});
const pageSize = 500;
const informers = 20;
const streamsOfConnection = 100;
/** Time after which unused list encodings are dropped and collected. */
const settleMs = 90_000;
/** Larger than the event of a pod. */
const tailBytes = 8_000;

/** Reads a response to its end, or until it contains `until`. Returns its last part. */
function read(session: http2.ClientHttp2Session, path: string, until?: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const stream = session.request({ ':path': path, authorization: 'Bearer admin-token' });
  let tail = '';
  stream.on('data', (data: Buffer) => {
    tail = (tail + data.subarray(-tailBytes).toString('latin1')).slice(-tailBytes);
    if (until === undefined || !tail.includes(until)) return;
    resolve(tail);
    stream.destroy();
  });
  stream.on('end', () => resolve(tail)).on('error', reject);
  stream.on('close', () => reject(new Error(`${path} has ended`)));
  return promise;
}

function connect(server: Kubenest): http2.ClientHttp2Session {
  const session = http2.connect(server.url, { rejectUnauthorized: false, settings: { initialWindowSize: 4_194_304 } });
  session.on('error', () => {});
  session.on('connect', () => session.setLocalWindowSize(16_777_216));
  return session;
}

async function inPages(server: Kubenest): Promise<void> {
  let next = '';
  do {
    const { status, body } = await server.fetch(`/api/v1/pods?limit=${pageSize}${next && `&continue=${next}`}`);
    if (status !== 200) throw new Error(`a page was answered with ${status}`);
    next = (body as { readonly metadata: { readonly continue?: string } }).metadata.continue ?? '';
  } while (next);
}

async function byInformers(server: Kubenest): Promise<void> {
  const path = '/api/v1/pods?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&resourceVersion=0';
  const sessions = Array.from({ length: informers }, () => connect(server));
  await Promise.all(sessions.map((session) => read(session, path, 'k8s.io/initial-events-end')));
  for (const session of sessions) session.destroy();
}

/** Opens watches, makes a change, and resolves when all watches have received it; the sessions stay open. */
async function watchManyTimes(server: Kubenest, count: number, template: string): Promise<http2.ClientHttp2Session[]> {
  const { body } = await server.fetch('/api/v1/pods?limit=1');
  const { resourceVersion } = (body as { readonly metadata: { readonly resourceVersion: string } }).metadata;
  const sessions: http2.ClientHttp2Session[] = [];
  const seen: Promise<string>[] = [];
  for (let i = 0; i < count; i++) {
    if (i % streamsOfConnection === 0) sessions.push(connect(server));
    const path = `/api/v1/namespaces/ns-${i % namespaces}/pods?watch=1&resourceVersion=${resourceVersion}`;
    seen.push(read(sessions.at(-1)!, path, '"news"'));
  }
  for (let i = 0; i < namespaces; i++) {
    const { metadata: _, ...pod } = JSON.parse(template) as Record<string, unknown>;
    const namespace = `ns-${i}`;
    await server.fetch('/api/v1/namespaces', { body: { metadata: { name: namespace } } });
    await server.fetch(`/api/v1/namespaces/${namespace}/serviceaccounts`, { body: { metadata: { name: 'default' } } });
    const { status } = await server.fetch(`/api/v1/namespaces/${namespace}/pods`, {
      body: { ...pod, metadata: { name: 'news', labels: { purpose: 'news' } } },
    });
    if (status !== 201) throw new Error(`a pod was answered with ${status}`);
  }
  await Promise.all(seen);
  return sessions;
}

const columns = [
  'pods',
  'bytes',
  'start',
  'at rest',
  'pages of 500',
  'whole list',
  '20 WatchLists',
  `${values.watchers} watches`,
  'settled',
];
process.stdout.write(`| ${columns.join(' | ')} |\n|${columns.map(() => ' ---: |').join('')}\n`);
for (const count of values.pods.split(',').map(Number)) {
  const folder = mkdtempSync(join(tmpdir(), 'scale-'));
  try {
    const template = await storedPod(folder);
    const bytes = await fillWithPods(join(folder, 'data/kubenest.db'), template, count);
    const began = performance.now();
    await using server = await Kubenest.start(folder);
    while ((await server.fetch('/readyz')).status !== 200) await sleep(10);
    const start = (performance.now() - began) / 1_000;
    await sleep(5_000);
    const rest = memory(server).now;
    const pages = await measured(server, () => inPages(server));
    const whole = await measured(server, async () => {
      const session = connect(server);
      await read(session, '/api/v1/pods');
      session.destroy();
    });
    const lists = await measured(server, () => byInformers(server));
    let sessions: http2.ClientHttp2Session[] = [];
    const watches = await measured(server, async () => {
      sessions = await watchManyTimes(server, Number(values.watchers), template);
    });
    for (const session of sessions) session.destroy();
    await sleep(settleMs);
    const settled = memory(server).now;
    const cell = ({ seconds, most }: { readonly seconds: number; readonly most: number }): string =>
      `${seconds.toFixed(1)} s, ${Math.round(most)} MB`;
    const [size, limit] = [bytes / megabyte, (1.3 * bytes) / megabyte + 250];
    const cells = [count, `${Math.round(size)} MB`, `${start.toFixed(1)} s`, `${Math.round(rest)} MB`, cell(pages), cell(whole)];
    process.stdout.write(
      `| ${[...cells, cell(lists), cell(watches), `${Math.round(settled)} MB of ${Math.round(limit)}`].join(' | ')} |\n`,
    );
    if (values.check && settled > limit) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
