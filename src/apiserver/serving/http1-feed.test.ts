import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import tls from 'node:tls';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { Exchange } from '#apiserver/request/exchange';
import { issueServingCertificate } from '#testing/serving-certificate';
import { SecureServer } from './secure-server.ts';

let server: SecureServer;
let port = 0;
let certificateAuthority = '';
const seen: string[] = [];
const waiting: Exchange[] = [];

function answer(exchange: Exchange, body: string): void {
  exchange.send(200, [], Buffer.from(body));
}

function serve(exchange: Exchange): void {
  const { method, url } = exchange;
  seen.push(`${method} ${url}`);
  if (url.startsWith('/wait')) return void waiting.push(exchange);
  if (url === '/unread') return answer(exchange, 'unread');
  if (url.startsWith('/status/')) return exchange.send(Number(url.slice(8)), [], undefined);
  if (url === '/incomplete') {
    void exchange.readBody(1 << 20).catch((error: Error) => seen.push(error.constructor.name));
    return;
  }
  const body = url === '/stream' ? text(exchange.openBody()) : exchange.readBody(1 << 20).then(String);
  body.then(
    (whole) => answer(exchange, `${url} ${whole.length > 20 ? whole.length : whole}.`),
    (error: Error) => answer(exchange, error.message),
  );
}

beforeAll(async () => {
  const { certificateAuthority: authority, ...certificate } = await issueServingCertificate();
  certificateAuthority = authority;
  const options = { certificate, sniCertificates: [], clientCa: undefined, minVersion: 'TLSv1.2', cipherSuites: [] } as const;
  server = new SecureServer({ ...options, disableHttp2: false, maxConcurrentStreams: 10, stalledMs: 60_000 }, serve);
  ({ port } = await server.listen(0, '127.0.0.1'));
});
afterAll(() => server.close());
beforeEach(() => {
  seen.length = 0;
  waiting.length = 0;
});

interface Client {
  readonly socket: tls.TLSSocket;
  received: string;
}

async function connect(): Promise<Client> {
  const socket = tls.connect({ host: '127.0.0.1', port, ca: certificateAuthority, ALPNProtocols: ['http/1.1'] });
  const client = { socket, received: '' };
  socket.on('data', (chunk: Buffer) => {
    client.received += chunk.toString('latin1');
  });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  return client;
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const chunked = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n${body}0\r\n\r\n`;
const counted = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const oneByOne = (length: number): string => '1\r\nx\r\n'.repeat(length);
const statuses = ({ received }: Client): string[] => [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1] as string);

/** Serves a request on another connection: the server has then read what had arrived before. */
async function othersAreServed(): Promise<void> {
  const other = await connect();
  other.socket.write(get('/other'));
  await expect.poll(() => other.received).toContain('/other .');
  other.socket.destroy();
}

/** Waits until the server reads no more of what the socket has still to send. */
async function isBlocked(socket: { readonly writableLength: number }): Promise<void> {
  for (let before = -1; before !== socket.writableLength; ) {
    before = socket.writableLength;
    await othersAreServed();
  }
}

it('parses a request after the response to the previous one', async () => {
  const client = await connect();
  client.socket.write(get('/wait') + get('/a') + get('/b'));
  await expect.poll(() => waiting.length).toBe(1);
  await othersAreServed();
  expect(seen).toEqual(['GET /wait', 'GET /other']);
  answer(waiting[0] as Exchange, 'done');
  await expect.poll(() => client.received).toContain('/b .');
  expect(seen).toEqual(['GET /wait', 'GET /other', 'GET /a', 'GET /b']);
  client.socket.destroy();
});

it('responds to a valid request and then to the malformed one after it', async () => {
  const client = await connect();
  client.socket.write(`${counted('/write', 'new')}NO SUCH THING\r\n\r\n`);
  await once(client.socket, 'close');
  expect(statuses(client)).toEqual(['200', '400']);
  expect(client.received).toContain('/write new.');
});

it('serves other connections while one sends thousands of requests', async () => {
  const [greedy, quiet] = [await connect(), await connect()];
  greedy.socket.write(get('/many').repeat(2_000));
  await expect.poll(() => seen.length).toBeGreaterThan(0);
  quiet.socket.write(get('/quiet'));
  await expect.poll(() => quiet.received).toContain('/quiet .');
  expect(seen.indexOf('GET /quiet')).toBeLessThan(1_500);
  await expect.poll(() => seen.length, { timeout: 10_000 }).toBe(2_001);
  for (const { socket } of [greedy, quiet]) socket.destroy();
});

it.each([
  { name: 'a known length', request: counted('/body', 'abc'), body: '/body abc.' },
  { name: 'a known length and CRLFCRLF in it', request: counted('/body', '\r\n\r\nGET /x\r\n\r\n'), body: '/body \r\n\r\nGET /x\r\n\r\n.' },
  { name: 'chunks', request: chunked('/body', '3\r\nabc\r\n'), body: '/body abc.' },
  { name: 'chunks that contain CRLFCRLF', request: chunked('/body', '8\r\n\r\n\r\n\r\n\r\n\r\n'), body: '/body \r\n\r\n\r\n\r\n.' },
  { name: 'chunks of one byte', request: chunked('/body', oneByOne(20_000)), body: '/body 20000.' },
  { name: 'chunks of one byte, read as a stream', request: chunked('/stream', oneByOne(20_000)), body: '/stream 20000.' },
  { name: 'a large length, read as a stream', request: counted('/stream', 'x'.repeat(900_000)), body: '/stream 900000.' },
])('reads a body with $name, for any split into segments', async ({ request, body }) => {
  for (const size of [1, 3, 1_000, Number.POSITIVE_INFINITY]) {
    if (request.length / size > 1_000) continue;
    const client = await connect();
    const all = `${request}${get('/next')}`;
    for (let at = 0; at < all.length; at += size) {
      client.socket.write(all.slice(at, at + size));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expect.poll(() => client.received, { timeout: 10_000 }).toContain('/next .');
    expect(client.received).toContain(body);
    expect(statuses(client)).toEqual(['200', '200']);
    client.socket.destroy();
  }
});

it('buffers an unread body with backpressure and delivers all of it later', async () => {
  const client = await connect();
  client.socket.write(chunked('/wait', oneByOne(200_000)));
  await expect.poll(() => waiting.length).toBe(1);
  await isBlocked(client.socket);
  const body = await text((waiting[0] as Exchange).openBody());
  expect(body.length).toBe(200_000);
  client.socket.destroy();
});

it('closes a connection whose body continues after the response', async () => {
  const client = await connect();
  client.socket.write('POST /unread HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n');
  await expect.poll(() => client.received).toContain('unread');
  const more = setInterval(() => client.socket.writable && client.socket.write(oneByOne(10_000)), 1);
  await new Promise((resolve) => client.socket.once('close', resolve));
  clearInterval(more);
  expect(statuses(client)).toEqual(['200']);
});

it.each([
  ['in chunks', (body: string): string => chunked('/large', `${body.length.toString(16)}\r\n${body}\r\n`)],
  ['of a known length', (body: string): string => counted('/large', body)],
])('responds to a body that is too large, %s, and announces the close of the connection', async (_, request) => {
  const client = await connect();
  client.socket.write(request('x'.repeat(2 << 20)));
  await once(client.socket, 'end');
  expect(statuses(client)).toEqual(['200']);
  expect(client.received).toMatch(/\r\nConnection: close\r\n/);
  expect(client.received).toMatch(/the body has (?:2097152|more than 1048576) bytes/);
});

it('drops the unread rest of a small body and continues', async () => {
  const client = await connect();
  client.socket.write(counted('/unread', 'x'.repeat(100_000)) + get('/next'));
  await expect.poll(() => client.received).toContain('/next .');
  client.socket.destroy();
});

it.each([
  { name: 'a method unknown to node:http', head: 'FOO /wait HTTP/1.1', seen: 'FOO /wait' },
  { name: 'CONNECT', head: 'CONNECT /wait HTTP/1.1', seen: 'CONNECT /wait' },
  { name: 'a target in absolute form', head: 'GET https://other/wait?a HTTP/1.1', seen: 'GET /wait?a' },
])('serves $name', async ({ head, seen: line }) => {
  const client = await connect();
  client.socket.write(`${head}\r\nHost: localhost\r\n\r\n`);
  await expect.poll(() => seen).toEqual([line]);
  client.socket.destroy();
});

it('responds to OPTIONS *', async () => {
  const client = await connect();
  client.socket.write('OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await expect.poll(() => statuses(client)).toEqual(['200']);
  expect(seen).toEqual([]);
  client.socket.destroy();
});

it('limits a head by bytes, not by the number of fields', async () => {
  const [many, large] = [await connect(), await connect()];
  const fields = Array.from({ length: 5_000 }, (_, i) => `X-${i}: a\r\n`).join('');
  many.socket.write(`GET /many HTTP/1.1\r\nHost: localhost\r\n${fields}\r\n`);
  large.socket.write(`GET /large HTTP/1.1\r\nHost: localhost\r\nX-A: ${'a'.repeat(1_100_000)}\r\n\r\n`);
  await expect.poll(() => statuses(many)).toEqual(['200']);
  await expect.poll(() => statuses(large)).toEqual(['431']);
  many.socket.destroy();
});

it.each([
  { name: 'another version', head: 'GET /a HTTP/2.0\r\nHost: localhost', status: '505' },
  ...[0, 1, 8, 13, 31, 127].map((octet) => ({
    name: `the byte ${octet} in a value`,
    head: `GET /a HTTP/1.1\r\nHost: localhost\r\nX-A: a${String.fromCharCode(octet)}b`,
    status: '400',
  })),
])('rejects $name and closes the connection', async ({ head, status }) => {
  const client = await connect();
  client.socket.write(`${head}\r\n\r\n${get('/b')}`);
  await new Promise((resolve) => client.socket.once('close', resolve));
  expect([statuses(client), seen]).toEqual([[status], []]);
});

it('rejects bare line feeds immediately', async () => {
  const client = await connect();
  client.socket.write('GET /a HTTP/1.1\nHost: localhost\n\n');
  await expect.poll(() => statuses(client)).toEqual(['400']);
  expect(seen).toEqual([]);
});

it('does not allow renegotiation', async () => {
  const socket = tls.connect({ host: '127.0.0.1', port, ca: certificateAuthority, ALPNProtocols: ['http/1.1'], maxVersion: 'TLSv1.2' });
  await once(socket, 'secureConnect');
  const error = await new Promise<Error | null>((resolve) => {
    socket.on('error', resolve);
    socket.renegotiate({}, resolve);
  });
  expect(error?.message).toMatch(/renegotiat/i);
  socket.destroy();
});

it.each([
  { name: 'ends', head: 'Content-Length: 100', body: 'abc', ends: true },
  { name: 'ends within a chunk', head: 'Transfer-Encoding: chunked', body: '64\r\nabc', ends: true },
  { name: 'sends an invalid chunk size', head: 'Transfer-Encoding: chunked', body: '0x1b\r\nabc', ends: false },
  { name: 'sends an invalid end of a chunk', head: 'Transfer-Encoding: chunked', body: '3\r\nabcXX0\r\n\r\n', ends: false },
])('the reader of a body ends if its client $name', async ({ head, body, ends }) => {
  const { socket } = await connect();
  socket.write(`POST /incomplete HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n${body}`);
  await vi.waitFor(() => expect(seen).toContain('POST /incomplete'));
  if (ends) socket.destroy();
  await vi.waitFor(() => expect(seen).toEqual(['POST /incomplete', 'ClientGoneError']));
  socket.destroy();
});

it('status lines have the reason phrases of Go', async () => {
  const client = await connect();
  client.socket.write([200, 409, 413, 416].map((status) => get(`/status/${status}`)).join(''));
  await vi.waitFor(() => expect(statuses(client)).toHaveLength(4));
  expect(Array.from(client.received.matchAll(/HTTP\/1\.1 (.+)\r\n/g), ([, line]) => line)).toEqual([
    '200 OK',
    '409 Conflict',
    '413 Request Entity Too Large',
    '416 Requested Range Not Satisfiable',
  ]);
  client.socket.destroy();
});
