/** Clients that ask for much and read nothing: they are cut off, cost little memory until then, and nobody waits for them. */
import type { Buffer } from 'node:buffer';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http2 from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { absent, type BackendName, backendNames, startBackend } from '../servers/backends.ts';
import { Kubenest } from '../servers/kubenest.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const objects = 60;
const objectBytes = 200_000;
const stalledMs = 3_000;
const clients = 100;

/** All that is tested of the embedded store, and the lists of the others; `KUBENEST_FAULT_LONG=1`: all of all. */
const isLong = process.env['KUBENEST_FAULT_LONG'] === '1';

let ends = new AsyncDisposableStack();
let server: Kubenest;

async function startOn(backend: BackendName): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'slow-clients-'));
  ends.defer(() => rmSync(folder, { recursive: true }));
  const store = ends.use(await startBackend(backend));
  const flags = [`--request-timeout=${stalledMs / 1_000}s`, '--min-request-timeout=300'];
  server = ends.use(await Kubenest.start(folder, [...flags, ...store.flags]));
  await vi.waitFor(async () => expect((await server.fetch('/readyz')).status).toBe(200), 20_000);
  for (let i = 0; i < objects; i++) await write(i, 'POST');
}
afterEach(async () => {
  await ends.disposeAsync();
  ends = new AsyncDisposableStack();
});

async function write(i: number, method: 'POST' | 'PUT'): Promise<void> {
  const name = `c${i % objects}`;
  // What changes makes every answer another, so that none shares its bytes with an older one.
  const body = { metadata: { name }, data: { text: String(i).padEnd(objectBytes, 'x') } };
  const { status } = await server.fetch(method === 'POST' ? configMaps : `${configMaps}/${name}`, { method, body });
  expect(status).toBeLessThan(300);
}

function residentMegabytes(): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))![1]) / 1_024;
}

/** A client that has sent a request and reads nothing of the answer. */
interface Stalled {
  /** Reads at last: how many bytes there are until the end. */
  rest(): Promise<number>;
}

function stallHttp1(path: string): Stalled {
  const socket = tls.connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
  socket.write(`GET ${path} HTTP/1.1\r\nHost: kubenest\r\nAuthorization: Bearer admin-token\r\nConnection: close\r\n\r\n`);
  return stalled(socket);
}

/** Of a stream: the connection itself is read. */
function stallHttp2(session: http2.ClientHttp2Session, path: string): Stalled {
  return stalled(session.request({ ':path': path, authorization: 'Bearer admin-token' }));
}

function stalled(stream: Duplex): Stalled {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  stream.pause();
  // A reset is an error.
  stream.on('error', () => stream.destroy()).on('close', resolve);
  let bytes = 0;
  return {
    async rest() {
      stream.on('data', (data: Buffer) => {
        bytes += data.length;
      });
      stream.resume();
      await closed;
      return bytes;
    },
  };
}

async function medianGetMs(): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 20; i++) {
    const began = performance.now();
    expect((await server.fetch('/api/v1/namespaces/default')).status).toBe(200);
    times.push(performance.now() - began);
  }
  return times.sort((a, b) => a - b)[times.length >> 1]!;
}

describe.each(backendNames)('on %s', (backend) => {
  it('lists that nobody reads are broken off after the request timeout, and hold little memory', { timeout: 120_000 }, async ({ skip }) => {
    if (absent[backend]) return skip(absent[backend]);
    await startOn(backend);
    await Promise.all(Array.from({ length: 5 }, () => server.fetch(configMaps)));
    const usual = await medianGetMs();
    const before = residentMegabytes();
    const session = http2.connect(server.url, { rejectUnauthorized: false, settings: { initialWindowSize: 65_535 } });
    session.on('error', () => {});
    const lists: Stalled[] = [];
    for (let i = 0; i < clients; i++) {
      // Each list is another.
      await write(objects + i, 'PUT');
      lists.push(i % 2 === 0 ? stallHttp1(configMaps) : stallHttp2(session, configMaps));
    }
    // 100 answers of 12 MB that share nothing would be 1,200 MB. Serving workers hold pieces of their own.
    expect(residentMegabytes() - before).toBeLessThan(300);
    expect(await medianGetMs()).toBeLessThan(10 * usual + 50);
    await sleep(3 * stalledMs);
    // What the connections had taken already is all that comes.
    const rests = await Promise.all(lists.map((list) => list.rest()));
    expect(Math.max(...rests)).toBeLessThan((objects * objectBytes) / 2);
    session.destroy();
  });

  it('watchers that read nothing are ended after 30 seconds, cost little, and hold up nobody', { timeout: 120_000 }, async ({ skip }) => {
    if (absent[backend]) return skip(absent[backend]);
    if (backend !== 'embedded' && !isLong) return skip('40 seconds more: KUBENEST_FAULT_LONG=1');
    await startOn(backend);
    const { body } = await server.fetch(`${configMaps}?limit=1`);
    const { resourceVersion } = (body as { readonly metadata: { readonly resourceVersion: string } }).metadata;
    const watch = `${configMaps}?watch=1&resourceVersion=${resourceVersion}`;
    const session = http2.connect(server.url, { rejectUnauthorized: false });
    session.on('error', () => {});
    const reading = session.request({ ':path': watch, authorization: 'Bearer admin-token' });
    let seen = 0;
    reading.setEncoding('utf8').on('data', (text: string) => {
      seen += text.split('\n').length - 1;
    });
    const stalling = http2.connect(server.url, { rejectUnauthorized: false });
    stalling.on('error', () => {});
    const before = residentMegabytes();
    const began = performance.now();
    const watches = Array.from({ length: 90 }, (_, i) => (i % 2 === 0 ? stallHttp1(watch) : stallHttp2(stalling, watch)));
    let written = 0;
    let slowest = 0;
    // Long enough that the connections take no more, and that who takes nothing is ended.
    for (; performance.now() - began < 40_000; await sleep(200)) {
      const at = performance.now();
      await write(objects + written++, 'PUT');
      await vi.waitFor(() => expect(seen).toBe(written), { timeout: 10_000, interval: 5 });
      slowest = Math.max(slowest, performance.now() - at);
    }
    expect(slowest).toBeLessThan(2_000);
    // An event of 200 kB each and watcher, kept until it is read, would be 2 GB.
    expect(residentMegabytes() - before).toBeLessThan(200);
    // Who were not ended would have all that comes, and no end.
    await Promise.all(watches.map((each) => each.rest()));
    reading.destroy();
    session.destroy();
    stalling.destroy();
  });
});
