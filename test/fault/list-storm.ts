/**
 * Many clients list all pods concurrently, like informers after a restart, while another client reads. The responses share
 * the encoded pods, so their total memory is little more than that of one.
 *
 *     node --conditions=kubenest-source --experimental-transform-types test/fault/list-storm.ts [pods] [clients]
 *     [json|protobuf|gzip|table]
 *
 * bin/kubenest must be built.
 */
import { Buffer } from 'node:buffer';
import { mkdtempSync, rmSync } from 'node:fs';
import http2 from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import { fileURLToPath } from 'node:url';
import { Kubenest } from '../servers/kubenest.ts';
import { fillWithPods, storedPod } from '../servers/many-pods.ts';
import { measured, megabyte, memory } from '../servers/memory.ts';
import { SteadyClient } from './steady-client.ts';
import { quantileOf } from '../servers/quantiles.ts';

export interface ListStormResult {
  /** Size of the stored pods in megabytes, like the other sizes. */
  readonly dataset: number;
  readonly before: number;
  readonly most: number;
  readonly seconds: number;
  /** Latency of another client's GETs meanwhile, in milliseconds. */
  readonly getP99Ms: number;
  readonly gets: number;
  /** Responses that differ from the first one. */
  readonly violations: readonly string[];
}

interface Form {
  readonly headers: Readonly<Record<string, string>>;
  /** Minimum size of a complete list in relation to the stored bytes. */
  readonly least: number;
  readonly end: string;
}

/** Items of a list omit their kind. */
const json: Form = { headers: { accept: 'application/json' }, least: 0.95, end: ']}\n' };

/** Forms of the list. */
export const forms = {
  json,
  protobuf: { headers: { accept: 'application/vnd.kubernetes.protobuf' }, least: 0.75, end: '\u001a\0"\0' },
  gzip: { headers: { ...json.headers, 'accept-encoding': 'gzip' }, least: 0.01, end: '' },
  table: { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }, least: 0.3, end: ']}\n' },
} as const satisfies Record<string, Form>;

/**
 * Returns the size of the whole response without storing it; over HTTP/1.1 including headers and chunk lengths. Rejects if
 * it is truncated.
 */
type ListAll = (server: Kubenest, form: Form) => Promise<number>;

const path = '/api/v1/pods';

function listOverHttp1(server: Kubenest, { headers, end }: Form): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let bytes = 0;
  let tail = '';
  const socket = tls.connect({
    ...{ host: '127.0.0.1', port: server.port, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] },
    onread: {
      buffer: Buffer.alloc(65_536),
      callback: (length: number, chunk: Buffer) => {
        bytes += length;
        tail = chunk.toString('latin1', Math.max(0, length - 5), length);
        return true;
      },
    },
  } as tls.ConnectionOptions);
  const lines = Object.entries({ ...headers, host: 'kubenest', authorization: 'Bearer admin-token', connection: 'close' });
  socket.write(`GET ${path} HTTP/1.1\r\n${lines.map((line) => `${line.join(': ')}\r\n`).join('')}\r\n`);
  socket.on('error', reject).on('close', () => {
    // The last chunk, or for a response with a length the end of the list.
    if (tail === '0\r\n\r\n' || tail.endsWith(end)) resolve(bytes);
    else reject(new Error(`a response was truncated after ${bytes} bytes, at ${JSON.stringify(tail)}`));
  });
  return promise;
}

function listOverHttp2(server: Kubenest, { headers }: Form): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const session = http2.connect(server.url, { rejectUnauthorized: false, settings: { initialWindowSize: 4_194_304 } });
  session.on('connect', () => session.setLocalWindowSize(16_777_216)).on('error', reject);
  const stream = session.request({ ...headers, ':path': path, authorization: 'Bearer admin-token' });
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  stream.on('error', reject).on('end', () => {
    session.destroy();
    resolve(bytes);
  });
  return promise;
}

const protocols: readonly ListAll[] = [listOverHttp1, listOverHttp2];

/** Runs half of the clients over each protocol. */
export async function runListStorm(pods: number, clients: number, form: keyof typeof forms): Promise<ListStormResult> {
  const folder = mkdtempSync(join(tmpdir(), 'list-storm-'));
  try {
    const dataset = (await fillWithPods(join(folder, 'data/kubenest.db'), await storedPod(folder), pods)) / megabyte;
    await using server = await Kubenest.start(folder);
    while ((await server.fetch('/readyz')).status !== 200) await sleep(10);
    const before = memory(server).now;
    const reader = new SteadyClient({ url: `${server.url}/api/v1/namespaces/default`, token: 'admin-token' });
    let sizes: readonly (readonly number[])[] = [];
    const { seconds, most } = await measured(server, async () => {
      const ofEach = Array.from({ length: clients / protocols.length });
      sizes = await Promise.all(protocols.map((list) => Promise.all(ofEach.map(() => list(server, forms[form])))));
    });
    const gets = await reader.end();
    const violations = sizes.flatMap(([first, ...others]) => [
      ...others.filter((size) => size !== first).map((size) => `a response has ${size} bytes, the first ${first}`),
      ...(first! < forms[form].least * dataset * megabyte ? [`a response has ${first} bytes, less than all pods`] : []),
    ]);
    const latencies = gets.map(({ wallMs }) => wallMs);
    const getP99Ms = Math.round(quantileOf(0.99, latencies));
    return { dataset, before, most, seconds, getP99Ms, gets: gets.length, violations };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [pods = '133000', clients = '64', form = 'json'] = process.argv.slice(2);
  const { violations, ...figures } = await runListStorm(Number(pods), Number(clients), form as keyof typeof forms);
  process.stdout.write(`${clients} lists of ${pods} pods as ${form}: ${JSON.stringify(figures)}\n${violations.length} violations\n`);
  for (const violation of violations.slice(0, 20)) process.stdout.write(`${violation}\n`);
  process.exitCode = violations.length > 0 ? 1 : 0;
}
