/** Clients that request much and read nothing: they are disconnected, use little memory until then, and block no other client. */
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

/** By default runs all tests on the embedded store and only the lists on others; `KUBENEST_FAULT_LONG=1` runs everything. */
const isLong = process.env['KUBENEST_FAULT_LONG'] === '1';

let ends = new AsyncDisposableStack();
let server: Kubenest;

async function startOn(backend: BackendName): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'slow-clients-'));
  ends.defer(() => rmSync(folder, { recursive: true }));
  const store = ends.use(await startBackend(backend));
  const flags = [`--request-timeout=${stalledMs / 1_000}s`, '--min-request-timeout=300'];
  server = ends.use(await Kubenest.start(folder, [...flags, ...store.flags]));
  await vi.waitFor(async () => expect((await server.fetch('/readyz')).status).toBe(200));
  for (let i = 0; i < objects; i++) await write(i, 'POST');
}
afterEach(async () => {
  await ends.disposeAsync();
  ends = new AsyncDisposableStack();
});

async function write(i: number, method: 'POST' | 'PUT'): Promise<void> {
  const name = `c${i % objects}`;
  // Changing the objects makes each response different, so that none shares its bytes with an earlier one.
  const body = { metadata: { name }, data: { text: String(i).padEnd(objectBytes, 'x') } };
  const { status } = await server.fetch(method === 'POST' ? configMaps : `${configMaps}/${name}`, { method, body });
  expect(status).toBeLessThan(300);
}

function residentMegabytes(): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))![1]) / 1_024;
}

/** A client that has sent a request and does not read the response. */
interface Stalled {
  /** Reads the rest of the response. Returns its size. */
  rest(): Promise<number>;
}

function stallHttp1(path: string): Stalled {
  const socket = tls.connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
  socket.write(`GET ${path} HTTP/1.1\r\nHost: kubenest\r\nAuthorization: Bearer admin-token\r\nConnection: close\r\n\r\n`);
  return stalled(socket);
}

/** Stalls a stream, while the connection itself is read. */
function stallHttp2(session: http2.ClientHttp2Session, path: string): Stalled {
  return stalled(session.request({ ':path': path, authorization: 'Bearer admin-token' }));
}

function stalled(stream: Duplex): Stalled {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  stream.pause();
  // A reset is reported as an error.
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
  it('unread lists are aborted after the request timeout and use little memory', { timeout: 120_000 }, async ({ skip }) => {
    if (absent[backend]) return skip(absent[backend]);
    await startOn(backend);
    await Promise.all(Array.from({ length: 5 }, () => server.fetch(configMaps)));
    const usual = await medianGetMs();
    const before = residentMegabytes();
    const session = http2.connect(server.url, { rejectUnauthorized: false, settings: { initialWindowSize: 65_535 } });
    session.on('error', () => {});
    const lists: Stalled[] = [];
    for (let i = 0; i < clients; i++) {
      // Makes each list different.
      await write(objects + i, 'PUT');
      lists.push(i % 2 === 0 ? stallHttp1(configMaps) : stallHttp2(session, configMaps));
    }
    // 100 separate responses of 12 MB would take 1,200 MB. Serving workers hold additional chunks.
    expect(residentMegabytes() - before).toBeLessThan(300);
    expect(await medianGetMs()).toBeLessThan(10 * usual + 50);
    await sleep(3 * stalledMs);
    // Only what the connections had already buffered arrives.
    const rests = await Promise.all(lists.map((list) => list.rest()));
    expect(Math.max(...rests)).toBeLessThan((objects * objectBytes) / 2);
    session.destroy();
  });

  it('unread watches end after 30 seconds, use little memory and block no other client', { timeout: 120_000 }, async ({ skip }) => {
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
    // Long enough to fill the connections and to reach the slow-client timeout.
    for (; performance.now() - began < 40_000; await sleep(200)) {
      const at = performance.now();
      await write(objects + written++, 'PUT');
      await vi.waitFor(() => expect(seen).toBe(written), { interval: 5 });
      slowest = Math.max(slowest, performance.now() - at);
    }
    expect(slowest).toBeLessThan(2_000);
    // Buffering an event of 200 kB for each watcher would take 2 GB.
    expect(residentMegabytes() - before).toBeLessThan(200);
    // A watch that did not end would receive all events.
    await Promise.all(watches.map((each) => each.rest()));
    reading.destroy();
    session.destroy();
    stalling.destroy();
  });
});
