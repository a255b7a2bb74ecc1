import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import tls from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { issueServingCertificate } from '#testing/serving-certificate';
import { readShared } from './shared-read-buffer.ts';

/** Bytes that the server read of a connection. */
interface Read {
  readonly socket: tls.TLSSocket;
  readonly chunks: Buffer[];
  /** Memory of the chunks before they were copied. */
  readonly places: Set<ArrayBufferLike>;
  readonly ended: Promise<unknown>;
}

let server: tls.Server;
let certificateAuthority: string;
const reads: Read[] = [];

beforeAll(async () => {
  const { cert, key, certificateAuthority: authority } = await issueServingCertificate();
  certificateAuthority = authority;
  server = tls.createServer({ cert, key }, (socket) => {
    const read: Read = { socket, chunks: [], places: new Set(), ended: once(socket, 'end') };
    reads.push(read);
    readShared(socket, (chunk) => {
      read.places.add(chunk.buffer);
      read.chunks.push(Buffer.from(chunk));
    });
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close());

async function connect(): Promise<tls.TLSSocket> {
  const { port } = server.address() as AddressInfo;
  const socket = tls.connect({ host: '127.0.0.1', port, ca: certificateAuthority });
  await once(socket, 'secureConnect');
  return socket;
}

it('reads all connections into one buffer, in order and to the end', async () => {
  reads.length = 0;
  const sent = ['a', 'b'].map((text) => Buffer.alloc(300_000, text));
  const clients = [await connect(), await connect()];
  // The client completes the handshake before the server.
  await expect.poll(() => reads.length).toBe(2);
  for (let at = 0; at < 300_000; at += 7_000) for (const [i, client] of clients.entries()) client.write(sent[i]!.subarray(at, at + 7_000));
  for (const client of clients) client.end();
  await Promise.all(reads.map(({ ended }) => ended));
  expect(reads.map(({ chunks }) => Buffer.concat(chunks).equals(chunks[0]![0] === 0x61 ? sent[0]! : sent[1]!))).toEqual([true, true]);
  expect(new Set(reads.flatMap(({ places }) => [...places])).size).toBe(1);
});

it('reads bytes that arrived with the end of the handshake', async () => {
  reads.length = 0;
  const { port } = server.address() as AddressInfo;
  const socket = tls.connect({ host: '127.0.0.1', port, ca: certificateAuthority });
  socket.end('early');
  await expect.poll(() => Buffer.concat(reads[0]?.chunks ?? []).toString()).toBe('early');
  socket.destroy();
});

it('reads a stream other than a socket', async () => {
  const stream = new PassThrough();
  const chunks: Buffer[] = [];
  readShared(stream as never, (chunk) => chunks.push(chunk));
  stream.end('text');
  await once(stream, 'end');
  expect(Buffer.concat(chunks).toString()).toBe('text');
});
