/**
 * A minimal watch server as a lower bound for the whole server: it serves HTTP/2 like kubenest and sends each posted body to
 * all watches. It has no authentication, validation or storage, except with `--durable`, which writes and syncs each body to
 * a file before sending it. Run it under the watch load of ../shared/bench:
 *
 *     node --conditions=kubenest-source --experimental-transform-types test/bench/bare-watches.ts [--port 8443] [--durable]
 *     &
 *     kload -server https://127.0.0.1:8443 -op watch -ns watch1000 -c 1000 -conns 20 -n 300 -rate 50
 */
import { Buffer } from 'node:buffer';
import { mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Exchange, ResponseStream } from '#apiserver/request/exchange';
import { SecureServer } from '#apiserver/serving/secure-server';
import { issueServingCertificate } from '#testing/serving-certificate';

const { values } = parseArgs({ options: { port: { type: 'string', default: '8443' }, durable: { type: 'boolean', default: false } } });
const json = ['Content-Type', 'application/json'];
const emptyList = Buffer.from('{"metadata":{"resourceVersion":"1"}}');
const maxBodyBytes = 3 * 1024 * 1024;
const watches = new Set<ResponseStream>();
/** Size of the fields that a server adds to a ConfigMap: uid, creation time, resourceVersion and managedFields. */
const addedBytes = 350;
const eventEnd = Buffer.from(`,"added":"${'x'.repeat(addedBytes)}"}}\n`);
const eventStart = Buffer.from('{"type":"ADDED","object":');
const folder = values.durable ? mkdtempSync(join(tmpdir(), 'bare-watches-')) : undefined;
const file = folder && (await open(join(folder, 'log'), 'a'));

async function serve(exchange: Exchange): Promise<void> {
  if (exchange.method === 'GET') {
    if (!exchange.url.includes('watch=1')) return exchange.send(200, [...json], emptyList);
    const stream = exchange.open(200, [...json]);
    watches.add(stream);
    return exchange.onClose(() => watches.delete(stream));
  }
  const body = await exchange.readBody(maxBodyBytes);
  if (file) {
    await file.write(body);
    await file.datasync();
  }
  if (exchange.url.endsWith('/configmaps')) {
    const event = Buffer.concat([eventStart, body.subarray(0, -1), eventEnd]);
    for (const watch of watches) watch.write(event);
  }
  exchange.send(201, [...json], body);
}

const server = new SecureServer(
  {
    certificate: await issueServingCertificate(),
    sniCertificates: [],
    clientCa: undefined,
    minVersion: 'TLSv1.2',
    cipherSuites: [],
    disableHttp2: false,
    maxConcurrentStreams: 250,
    stalledMs: 60_000,
  },
  // The client disconnected during its body.
  (exchange) => void serve(exchange).catch(() => {}),
);
await server.listen(Number(values.port), '127.0.0.1');
process.stdout.write(`bare watches on https://127.0.0.1:${values.port}\n`);
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    if (folder) rmSync(folder, { recursive: true });
    process.exit();
  });
