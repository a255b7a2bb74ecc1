/** The contract of both HTTP/2 implementations, tested without the rest of the server. */
import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectionDeadlines } from '#apiserver/serving/deadlines';
import { Http2Exchange } from '#apiserver/serving/http2-exchange';
import type { Http2Server } from '#apiserver/serving/http2-server';
import { NodeHttp2Server } from '#apiserver/serving/node-http2/node-http2-server';
import { OwnHttp2Server } from '#apiserver/serving/own-http2-server';
import type { Exchange } from '#apiserver/request/exchange';
import { issueServingCertificate } from '#testing/serving-certificate';
import { connectTls, flag, frame, get, post, RawConnection, setting, settings, types, uint32 } from './frames.ts';

const idleMs = 400;
const stalledMs = 300;
const options = {
  maxConcurrentStreams: 10,
  streamWindow: 256 * 1024,
  maxHeaderBytes: 1 << 20,
  deadlines: { ...connectionDeadlines, idleMs, prefaceMs: 400 },
};
const large = Buffer.alloc(3_000_000, 'x');
const peer = { remoteAddress: '127.0.0.1', certificates: [], memo: new Map() };

let http2Server: Http2Server;
let server: tls.Server;
let checks: NodeJS.Timeout;
let port = 0;
/** Exchanges of requests for /hang by their header x-name. */
const open = new Map<string, Exchange>();

function serve(exchange: Exchange): void {
  if (exchange.url === '/hang') return void open.set(String(exchange.headers['x-name']), exchange);
  if (exchange.url === '/large') return exchange.send(200, [], large);
  if (exchange.url === '/goodbye') {
    exchange.closeConnectionAfter();
    return exchange.send(200, [], undefined);
  }
  if (exchange.url === '/fields') return exchange.send(200, ['X-A', '1', 'x-a', '2', 'Connection', 'close', 'Keep-Alive', 'x'], undefined);
  exchange.readBody(1 << 20).then(
    (body) => exchange.send(200, ['Content-Type', 'text/plain'], Buffer.concat([Buffer.from(`${exchange.method} `), body])),
    (error: Error) => exchange.send(413, [], Buffer.from(error.message)),
  );
}

async function answerOf(client: RawConnection, stream: number): Promise<string> {
  expect(await client.until(() => client.hasEnded(stream), 5_000)).toBe(true);
  return client.bodyOf(stream).toString();
}

async function hung(name: string): Promise<Exchange> {
  await expect.poll(() => open.has(name)).toBe(true);
  return open.get(name)!;
}

/** Waits for the answer to a PING: the server has then processed the frames before it, and sent its own. */
async function isAnswered(client: RawConnection): Promise<void> {
  client.send(frame(types.ping, 0, 0, Buffer.alloc(8)));
  await client.until(() => client.find(types.ping) !== undefined, 10_000);
}

const isClosedIn = (client: RawConnection, ms: number): Promise<boolean> =>
  client.until(() => client.isClosed, ms).then(() => client.isClosed);

describe.each([
  { name: 'own', Server: OwnHttp2Server },
  { name: 'node', Server: NodeHttp2Server },
])('--http2-server=$name', ({ Server }) => {
  beforeAll(async () => {
    open.clear();
    http2Server = new Server(options, (stream) => serve(new Http2Exchange(stream, peer, stalledMs)));
    const { cert, key } = await issueServingCertificate();
    server = tls.createServer({ cert, key, ALPNProtocols: ['h2'] }, (socket) => {
      socket.on('error', () => socket.destroy());
      http2Server.serve(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
    checks = setInterval(() => http2Server.checkDeadlines(performance.now()), 50);
  });
  afterAll(() => {
    clearInterval(checks);
    http2Server.destroy();
    server.close();
  });

  it('answers requests with and without bodies', async () => {
    const client = await RawConnection.open({ port });
    client.send(get(1, '/'), post(3, '/'), frame(types.data, flag.endStream, 3, Buffer.from('hello')));
    expect([await answerOf(client, 1), await answerOf(client, 3)]).toEqual(['GET ', 'POST hello']);
    client.destroy();
  });

  it('omits connection-specific fields from responses', async () => {
    const session = http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    const [fields] = (await once(session.request({ ':path': '/fields' }), 'response')) as [http2.IncomingHttpHeaders];
    expect(fields).toMatchObject({ ':status': 200, 'x-a': '1, 2', date: expect.any(String) });
    expect(Object.keys(fields)).not.toContain('keep-alive');
    session.destroy();
  });

  it('sends large responses completely through small windows', async () => {
    const client = await RawConnection.open({ port });
    client.send(get(1, '/large'));
    let credited = 0;
    const credit = setInterval(() => {
      const received = client.bodyOf(1).length;
      if (received > credited) client.send(frame(types.windowUpdate, 0, 0, uint32(received - credited)));
      if (received > credited) client.send(frame(types.windowUpdate, 0, 1, uint32(received - credited)));
      credited = received;
    }, 1);
    expect((await answerOf(client, 1)).length).toBe(large.length);
    clearInterval(credit);
    client.destroy();
  });

  it('resets an aborted response, so that it does not appear complete', async () => {
    const client = await RawConnection.open({ port });
    client.send(get(1, '/hang', ['x-name', 'broken']));
    const answer = (await hung('broken')).open(200, []);
    answer.write(Buffer.from('the first half'));
    await client.until(() => client.bodyOf(1).length > 0, 5_000);
    answer.write(Buffer.from('and a little'));
    answer.abort();
    expect(await client.until(() => client.find(types.resetStream, 1) !== undefined, 5_000)).toBe(true);
    expect(client.hasEnded(1)).toBe(false);
    client.destroy();
  });

  it('aborts a response that its client does not read, and closes the exchange', async () => {
    const client = await RawConnection.open({ port }, settings([setting.initialWindowSize, 1_000]));
    client.send(get(1, '/hang', ['x-name', 'stalled']));
    const exchange = await hung('stalled');
    exchange.send(200, [], large);
    await expect.poll(() => exchange.closed, { timeout: 5 * stalledMs }).toBe(true);
    expect(client.bodyOf(1).length).toBe(1_000);
    client.destroy();
  });

  it('reports written and flushed bytes, and drops them when the client disconnects', async () => {
    const client = await RawConnection.open({ port });
    client.send(get(1, '/hang', ['x-name', 'pending']));
    const exchange = await hung('pending');
    const answer = exchange.open(200, []);
    let drained = 0;
    answer.onDrain(() => {
      drained += 1;
    });
    expect(answer.write(Buffer.alloc(1_000))).toBe(true);
    expect(answer.write(Buffer.alloc(500_000))).toBe(false);
    await client.until(() => client.bodyOf(1).length === 65_535, 5_000);
    await isAnswered(client);
    expect(answer.pendingBytes).toBeGreaterThanOrEqual(300_000);
    client.send(frame(types.windowUpdate, 0, 0, uint32(1_000_000)), frame(types.windowUpdate, 0, 1, uint32(1_000_000)));
    await expect.poll(() => [answer.pendingBytes, drained]).toEqual([0, 1]);
    answer.write(Buffer.alloc(5_000_000));
    const closed = new Promise<void>((resolve) => exchange.onClose(resolve));
    client.send(frame(types.resetStream, 0, 1, uint32(8)));
    await closed;
    expect(answer.pendingBytes).toBe(0);
    client.destroy();
  });

  it('limits a body to its window until it is read, counting bytes instead of frames', async () => {
    const client = await RawConnection.open({ port });
    const streams = Array.from({ length: 8 }, (_, i) => 2 * i + 1);
    for (const stream of streams) client.send(post(stream, '/hang', ['x-name', `octets-${stream}`]));
    const exchanges = await Promise.all(streams.map((stream) => hung(`octets-${stream}`)));
    const before = process.memoryUsage();
    const octet = Buffer.from('o');
    for (const stream of streams) {
      for (let sent = 0; sent < 200_000; sent += 20_000) {
        client.send(...Array.from({ length: 20_000 }, () => frame(types.data, 0, stream, octet)));
        await sleep(10);
      }
    }
    await isAnswered(client);
    const after = process.memoryUsage();
    // 1.6 million bytes in frames of one byte each: separate Buffers would take 150 MB. The process includes the client.
    expect((after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers) / 1e6).toBeLessThan(60);
    client.send(...streams.map((stream) => frame(types.data, flag.endStream, stream)));
    const bodies = await Promise.all(exchanges.map((exchange) => exchange.readBody(1 << 20)));
    expect(bodies.map((body) => body.equals(Buffer.alloc(200_000, 'o')))).toEqual(streams.map(() => true));
    client.destroy();
  }, 60_000);

  it('continues a body as it is read', async () => {
    const session = http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    const stream = session.request({ ':method': 'POST', ':path': '/hang', 'x-name': 'upload' });
    stream.on('error', () => undefined);
    const sent = Buffer.alloc(5_000_000, 'u');
    stream.end(sent);
    const body = (await hung('upload')).openBody();
    const chunks: Buffer[] = [];
    for await (const chunk of body) {
      if (chunks.length < 3) await sleep(20);
      chunks.push(chunk as Buffer);
    }
    expect(Buffer.concat(chunks).equals(sent)).toBe(true);
    session.destroy();
  });

  it('accepts no more of an unread body than its window', async () => {
    const client = await RawConnection.open({ port });
    client.send(post(1, '/hang', ['x-name', 'unread']));
    await hung('unread');
    for (let sent = 0; sent < 256 * 1024; sent += 16 * 1024) client.send(frame(types.data, 0, 1, Buffer.alloc(16 * 1024)));
    await isAnswered(client);
    const credit = client.frames.filter(({ type, stream }) => type === types.windowUpdate && stream === 1);
    expect(credit.reduce((sum, { payload }) => sum + payload.readUInt32BE(), 0)).toBeLessThanOrEqual(64 * 1024);
    client.destroy();
  });

  it('rejects a body whose client disconnects', async () => {
    const client = await RawConnection.open({ port });
    client.send(post(1, '/hang', ['x-name', 'half']), frame(types.data, 0, 1, Buffer.from('a')));
    const body = (await hung('half')).readBody(100);
    client.destroy();
    await expect(body).rejects.toThrow('the client closed the connection');
  });

  it('rejects a body whose length differs from content-length', async () => {
    const client = await RawConnection.open({ port });
    client.send(
      post(1, '/', ['content-length', '5']),
      frame(types.data, flag.endStream, 1, Buffer.from('ab')),
      frame(types.headers, flag.endHeaders | flag.endStream, 3, post(3, '/', ['content-length', '5']).subarray(9)),
    );
    for (const stream of [1, 3]) {
      await client.until(() => client.find(types.resetStream, stream) !== undefined, 2_000);
      expect(client.find(types.resetStream, stream)?.payload.readUInt32BE()).toBe(1);
    }
    client.destroy();
  });

  it('resets the rest of an answered request', async () => {
    const client = await RawConnection.open({ port });
    client.send(post(1, '/large'));
    client.send(frame(types.windowUpdate, 0, 0, uint32(4_000_000)), frame(types.windowUpdate, 0, 1, uint32(4_000_000)));
    expect((await answerOf(client, 1)).length).toBe(large.length);
    await client.until(() => client.find(types.resetStream, 1) !== undefined, 5_000);
    expect(client.find(types.resetStream, 1)?.payload.readUInt32BE()).toBe(0);
    client.send(get(3, '/'));
    expect(await answerOf(client, 3)).toBe('GET ');
    client.destroy();
  });

  it('closes the connection after a response with connection: close, and completes pending requests', async () => {
    const client = await RawConnection.open({ port });
    client.send(get(1, '/hang', ['x-name', 'under-way']), get(3, '/goodbye'));
    const exchange = await hung('under-way');
    await client.until(() => client.find(types.goAway) !== undefined, 5_000);
    expect(client.find(types.goAway)?.payload.readUInt32BE(4)).toBe(0);
    exchange.send(200, [], Buffer.from('done'));
    expect(await answerOf(client, 1)).toBe('done');
    expect(await isClosedIn(client, 5_000)).toBe(true);
  });

  it('closes a connection without requests, whatever frames arrive', async () => {
    const client = await RawConnection.open({ port });
    client.send(get(1, '/'));
    await answerOf(client, 1);
    const keepBusy = setInterval(
      () => client.send(frame(types.ping, 0, 0, Buffer.alloc(8)), frame(types.windowUpdate, 0, 0, uint32(1))),
      idleMs / 8,
    );
    expect(await isClosedIn(client, 5 * idleMs + 1_500)).toBe(true);
    clearInterval(keepBusy);
    expect(client.find(types.goAway)?.payload.readUInt32BE(4)).toBe(0);
  });

  it('closes a connection without a preface', async () => {
    const socket = await connectTls({ port });
    const closed = once(socket.resume(), 'close');
    socket.write('PRI * HTTP/2.0\r\n');
    await closed;
  });

  it('serves all of many concurrent requests', async () => {
    const client = await RawConnection.open({ port });
    client.send(...Array.from({ length: 10 }, (_, i) => get(1 + 2 * i, '/')), ...Array.from({ length: 2 }, (_, i) => get(21 + 2 * i, '/')));
    await client.until(() => [1, 3, 5, 7, 9, 11, 13, 15, 17, 19].every((stream) => client.hasEnded(stream)), 5_000);
    expect(client.bodyOf(19).toString()).toBe('GET ');
    client.destroy();
  });

  it('keeps a connection with a pending request', async () => {
    const client = await RawConnection.open({ port });
    client.send(get(1, '/hang', ['x-name', 'long']));
    const exchange = await hung('long');
    await sleep(3 * idleMs);
    exchange.send(200, [], Buffer.from('late'));
    expect(await answerOf(client, 1)).toBe('late');
    client.destroy();
  });
});
