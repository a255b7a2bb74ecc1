import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Exchange } from '#apiserver/request/exchange';
import { issueServingCertificate } from '#testing/serving-certificate';
import { connectionDeadlines, Persistence } from './deadlines.ts';
import { SecureServer } from './secure-server.ts';

const deadlines = { handshakeMs: 200, prefaceMs: 200, headerMs: 300, idleMs: 400 };
let server: SecureServer;
let port = 0;
let certificateAuthority = '';
let failedHandshakes = 0;
const waiting: Exchange[] = [];

beforeAll(async () => {
  const { certificateAuthority: authority, ...certificate } = await issueServingCertificate();
  certificateAuthority = authority;
  const options = { certificate, sniCertificates: [], clientCa: undefined, minVersion: 'TLSv1.2', cipherSuites: [], deadlines } as const;
  const serve = (exchange: Exchange): void => {
    if (exchange.url === '/wait') waiting.push(exchange);
    else exchange.send(200, [], Buffer.from('done'));
  };
  server = new SecureServer({ ...options, disableHttp2: false, maxConcurrentStreams: 10, stalledMs: 60_000 }, serve, {
    onHandshakeError: () => {
      failedHandshakes += 1;
    },
  });
  ({ port } = await server.listen(0, '127.0.0.1'));
});
afterAll(() => server.close());

const bare = (): Promise<net.Socket> => Promise.resolve(net.connect(port, '127.0.0.1'));
async function secure(protocol: string): Promise<tls.TLSSocket> {
  const socket = tls.connect({ host: '127.0.0.1', port, ca: certificateAuthority, ALPNProtocols: [protocol] });
  await once(socket, 'secureConnect');
  return socket;
}

/** Sends `part` every 20 ms until the server closes the connection. */
async function endsOnItsOwn(socket: net.Socket, part: string | undefined): Promise<void> {
  socket.on('error', () => undefined).resume();
  const timer = setInterval(() => {
    if (part !== undefined && socket.writable) socket.write(part);
  }, 20);
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(timer);
}

it("has upstream's deadlines", () => {
  expect(connectionDeadlines).toEqual({ handshakeMs: 32_000, prefaceMs: 10_000, headerMs: 32_000, idleMs: 90_000 });
});

it.each([
  { name: 'a silent connection', connect: bare },
  { name: 'a ClientHello byte by byte', connect: bare, first: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', part: 'x' },
  { name: 'an HTTP/1.1 connection without a request', connect: () => secure('http/1.1') },
  { name: 'an HTTP/1.1 head byte by byte', connect: () => secure('http/1.1'), first: 'GET / HTTP/1.1\r\nX-A: ', part: 'x' },
  { name: 'empty lines before a request', connect: () => secure('http/1.1'), part: '\r\n' },
  {
    name: 'empty lines after a request',
    connect: () => secure('http/1.1'),
    first: 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n',
    part: '\r\n',
  },
  { name: 'an HTTP/2 connection without a preface', connect: () => secure('h2') },
  { name: 'half an HTTP/2 preface', connect: () => secure('h2'), first: 'PRI * HTTP/2.0' },
])('closes the connection: $name', async ({ connect, first, part }) => {
  const socket = await connect();
  if (first !== undefined) socket.write(Buffer.from(first, 'latin1'));
  await endsOnItsOwn(socket, part);
});

it('counts a handshake timeout as a failed handshake', () => {
  expect(failedHandshakes).toBe(2);
});

it('does not close a connection with a pending request', async () => {
  const socket = await secure('http/1.1');
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString();
  });
  socket.write('GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await expect.poll(() => waiting.length).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  waiting[0]?.send(200, [], Buffer.from('late'));
  await expect.poll(() => received).toContain('late');
  socket.destroy();
});

it('measures the duration of a state', () => {
  const state = new Persistence();
  expect([
    state.age(1, 10),
    state.age(1, 30),
    state.age(2, 40),
    state.age(2, 45),
    state.age(undefined, 50),
    state.age(undefined, 60),
  ]).toEqual([0, 20, 0, 5, 0, 0]);
});
