/**
 * Very many watchers lose their server and reconnect simultaneously without jitter, over HTTP/2 connections of 100 streams
 * each, while another client reads. No watcher may miss an event, and the server must not fail.
 *
 *     node --conditions=kubenest-source --experimental-transform-types test/fault/watcher-storm.ts [watchers] [kills]
 *     [embedded|redis|etcd]
 *
 * bin/kubenest must be built.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import http2 from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type BackendName, backendOf, startBackend } from '../servers/backends.ts';
import { Kubenest } from '../servers/kubenest.ts';
import { memory } from '../servers/memory.ts';
import { SteadyClient } from './steady-client.ts';
import { quantileOf } from '../servers/quantiles.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const streamsOfConnection = 100;
const patienceMs = 120_000;

export interface StormResult {
  /** Violations as sentences. */
  readonly violations: readonly string[];
  /** Milliseconds from each restart until every watcher had received its first event. */
  readonly recoveryMs: readonly number[];
  /** 99th percentile of another client's GETs during the reconnects, in milliseconds. */
  readonly getP99Ms: number;
  /** Memory with all watchers, and without any. */
  readonly megabytes: number;
  readonly megabytesBefore: number;
}

/** A watcher that resumes from its last event. */
class StormWatcher {
  seen: number;
  readonly violations: string[] = [];

  constructor(from: number) {
    this.seen = from;
  }

  /** Resolves when the watch ends. */
  watch(session: http2.ClientHttp2Session): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const path = `${configMaps}?watch=1&fieldSelector=metadata.name%3Dmarker&resourceVersion=${this.seen}`;
    const stream = session.request({ ':path': path, authorization: 'Bearer admin-token' });
    let text = '';
    stream.setEncoding('utf8').on('data', (data: string) => {
      const lines = (text + data).split('\n');
      text = lines.pop()!;
      for (const line of lines) this.#see(JSON.parse(line) as Shown);
    });
    stream.on('error', () => {}).on('close', resolve);
    return promise;
  }

  /** Checks that the event follows the previous version of its object. */
  #see({ type, object }: Shown): void {
    if (type === 'ERROR') {
      // After a restart the history is empty: like an informer, the watcher lists again, and the list contains what it
      // missed.
      this.seen = 0;
      return;
    }
    const revision = Number(object.metadata.resourceVersion);
    const before = Number(object.data?.before ?? 0);
    if (revision <= this.seen) this.violations.push(`${revision} came after ${this.seen}`);
    if (this.seen > 0 && before > this.seen) this.violations.push(`${revision} came after ${this.seen}, and ${before} is missing`);
    this.seen = revision;
  }
}

interface Shown {
  readonly type: string;
  readonly object: { readonly metadata: { readonly resourceVersion: string }; readonly data?: { readonly before: string } };
}

/** Runs watchers on a shared connection, which is replaced when it breaks. */
async function keepWatching(url: string, watchers: readonly StormWatcher[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const session = http2.connect(url, { rejectUnauthorized: false });
    session.on('error', () => {});
    const end = (): void => session.destroy();
    signal.addEventListener('abort', end);
    await Promise.all(
      watchers.map(async (watcher) => {
        while (!session.closed && !session.destroyed) await watcher.watch(session);
      }),
    );
    signal.removeEventListener('abort', end);
    session.destroy();
    await sleep(20);
  }
}

export async function runWatcherStorm(count: number, kills: number, backend: BackendName = 'embedded'): Promise<StormResult> {
  const folder = mkdtempSync(join(tmpdir(), 'watcher-storm-'));
  await using store = await startBackend(backend);
  await using server = await Kubenest.start(folder, store.flags);
  while ((await server.fetch('/readyz')).status !== 200) await sleep(10);
  const end = new AbortController();
  const megabytesBefore = Math.round(memory(server).now);
  let last = 0;
  const write = async (): Promise<void> => {
    const body = { metadata: { name: 'marker' }, data: { before: String(last) } };
    const { status, body: answer } = await server.fetch(last === 0 ? configMaps : `${configMaps}/marker`, {
      method: last === 0 ? 'POST' : 'PUT',
      body,
    });
    if (status >= 300) throw new Error(`a write failed with ${status}`);
    last = Number((answer as Shown['object']).metadata.resourceVersion);
  };
  await write();
  const watchers = Array.from({ length: count }, () => new StormWatcher(last));
  const keeping: Promise<void>[] = [];
  for (let i = 0; i < count; i += streamsOfConnection)
    keeping.push(keepWatching(server.url, watchers.slice(i, i + streamsOfConnection), end.signal));
  const reached = async (): Promise<void> => {
    for (const began = performance.now(); watchers.some(({ seen }) => seen < last); await sleep(20))
      if (performance.now() - began > patienceMs)
        throw new Error(
          `${watchers.filter(({ seen }) => seen < last).length} of ${count} watchers have not reconnected within two minutes`,
        );
  };
  await write();
  await reached();
  const megabytes = Math.round(memory(server).now);
  const recoveryMs: number[] = [];
  const gets: number[] = [];
  for (let kill = 0; kill < kills; kill++) {
    await server.kill('SIGKILL');
    const began = performance.now();
    await server.restart();
    const reader = new SteadyClient({ url: `${server.url}/api/v1/namespaces/default`, token: 'admin-token' });
    await write();
    await reached();
    recoveryMs.push(Math.round(performance.now() - began));
    gets.push(...(await reader.end()).map(({ wallMs }) => wallMs));
    await write();
    await reached();
  }
  end.abort();
  await Promise.all(keeping);
  rmSync(folder, { recursive: true });
  const violations = watchers.flatMap((watcher) => watcher.violations);
  return { violations, recoveryMs, getP99Ms: Math.round(quantileOf(0.99, gets)), megabytes, megabytesBefore };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [count = '10000', kills = '3', backend = 'embedded'] = process.argv.slice(2);
  const { violations, ...figures } = await runWatcherStorm(Number(count), Number(kills), backendOf(backend));
  process.stdout.write(`${count} watchers on ${backend}: ${JSON.stringify(figures)}\n${violations.length} violations\n`);
  for (const violation of violations.slice(0, 20)) process.stdout.write(`${violation}\n`);
  process.exitCode = violations.length > 0 ? 1 : 0;
}
