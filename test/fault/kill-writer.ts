/**
 * The process to be killed: 16 writers and a reader on an embedded store and its cache, and two watchers. Each operation is
 * appended to a file before and after it runs, so that the file has the real-time order.
 *
 *     kill-writer.ts <store> <history> <life> <seed> <revision that the log is known up to> <watcher's last revision>
 */
import { Buffer } from 'node:buffer';
import { openSync, writeSync } from 'node:fs';
import type { KubeObject } from '#apimachinery/meta/types';
import { Cacher } from '#apiserver/storage/cacher/cacher';
import { EmbeddedStorage } from '#plugins/storage/embedded/embedded-storage';
import type { HistoryEntry } from './check-history.ts';
import { perform } from './perform.ts';
import { random } from './random.ts';

const [file, historyFile, life, seed, known, watched] = process.argv.slice(2) as [string, string, string, string, string, string];
const descriptor = openSync(historyFile, 'a');
const next = random(Number(seed));
const keys = Array.from({ length: 40 }, (_, i) => `/r/${i}`);
let id = Number(life) * 1e7;

function record(entry: HistoryEntry): void {
  writeSync(descriptor, `${JSON.stringify(entry)}\n`);
}

const storage = await EmbeddedStorage.open({ file, compactionIntervalMs: 0, checkpointBytes: 65_536, maxBatchWrites: 8 });
record({ type: 'open', life: Number(life), revision: await storage.currentRevision() });
const cacher = new Cacher({
  storage,
  prefix: '/r/',
  fields: () => ({}),
  parse: (bytes) => JSON.parse(bytes.toString()) as KubeObject,
});
await cacher.whenReady();
process.stdout.write('ready\n');

void watchStorage();
watchCache();
for (let writer = 0; writer < 16; writer++) void write();
void read();
void compact();

/** Resumes at the last revision of the previous life. */
async function watchStorage(): Promise<void> {
  record({ type: 'watch', watcher: 'storage', from: Number(watched) });
  for await (const event of storage.watch('/r/', Number(watched), new AbortController().signal)) {
    record({
      type: 'event',
      watcher: 'storage',
      revision: event.revision,
      key: event.key,
      text: event.record ? textOf(event.record.value) : '',
    });
  }
}

/** Starts a new watcher in each life, because the cache's history does not outlive the process. */
function watchCache(): void {
  const watcher = `cache-${life}`;
  const from = cacher.currentRevision();
  record({ type: 'watch', watcher, from });
  cacher.watch(
    { scope: '/r/', resourceVersion: String(from) },
    {
      send(event) {
        if (event.type === 'BOOKMARK' || event.type === 'ERROR') throw new Error(`unexpected ${event.type}`);
        const text = event.type === 'DELETED' ? '' : textOf(event.object.bytes);
        record({ type: 'event', watcher, revision: event.revision, key: event.object.key, text });
      },
      bufferedBytes: () => 0,
      end: (reason) => {
        throw new Error(`the watch has ended: ${reason}`);
      },
    },
  );
}

async function write(): Promise<void> {
  for (;;) {
    const key = keys[next(keys.length)]!;
    const expected = (await cacher.get(key))?.revision ?? 0;
    const verb = expected === 0 ? 'create' : next(4) === 0 ? 'delete' : 'update';
    const write = ++id;
    const text = verb === 'delete' ? '' : String(write);
    const padding = 'x'.repeat(next(3_000));
    record({ type: 'begin', id: write, verb, key, expected, text });
    const encode = (revision: number): Buffer =>
      Buffer.from(JSON.stringify({ metadata: { resourceVersion: String(revision) }, text, padding }));
    try {
      const { revision } = await perform(storage, { verb, key, expected, encode });
      record({ type: 'ack', id: write, revision });
    } catch (error) {
      record({ type: 'reject', id: write, error: (error as Error).name });
    }
    if (next(8) === 0) await new Promise((resolve) => setTimeout(resolve, next(3)));
  }
}

async function read(): Promise<void> {
  for (;;) {
    const key = keys[next(keys.length)]!;
    const read = ++id;
    if (next(20) === 0) {
      record({ type: 'listBegin', id: read });
      const { revision, records } = await storage.list('/r/');
      record({ type: 'listEnd', id: read, revision, records: records.map((each) => [each.key, each.revision, textOf(each.value)]) });
      continue;
    }
    record({ type: 'readBegin', id: read, key });
    const found =
      next(2) === 0
        ? await cacher.get(key)
        : await storage.get(key).then((stored) => stored && { revision: stored.revision, bytes: stored.value });
    record({ type: 'readEnd', id: read, revision: found?.revision ?? 0, text: found ? textOf(found.bytes) : '' });
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Compacts only what the test has read. */
async function compact(): Promise<void> {
  for (let revision = (await storage.compactRevision()) + 1; ; revision += 1 + next(200)) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (revision < Math.min(Number(known), Number(watched))) await storage.compact(revision);
  }
}

function textOf(bytes: Buffer): string {
  return (JSON.parse(bytes.toString()) as { text: string }).text;
}
