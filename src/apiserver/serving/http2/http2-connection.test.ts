import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import http2 from 'node:http2';
import { Duplex } from 'node:stream';
import tls from 'node:tls';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Exchange } from '#apiserver/request/exchange';
import { issueServingCertificate } from '#testing/serving-certificate';
import { SecureServer } from '../secure-server.ts';
import { FrameReader } from './frame-reader.ts';
import { HeaderDecoder } from './header-decoder.ts';
import { Http2Connection } from './http2-connection.ts';
import type { Http2Stream } from './http2-stream.ts';
import { errorCodes, flags, frameTypes, initial, preface, settings, writeFrameHead } from './protocol.ts';

const { data, headers, priority, resetStream, settings: settingsType, pushPromise, ping, goAway, windowUpdate, continuation } = frameTypes;
const { endStream, endHeaders, padded } = flags;
const none = Buffer.alloc(0);

function frame(type: number, flag: number, stream: number, payload: Uint8Array = none): Buffer {
  const head = Buffer.alloc(9);
  writeFrameHead(head, 0, payload.length, type, flag, stream);
  return Buffer.concat([head, payload]);
}

function uint32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, i * 4);
  return bytes;
}

function setting(name: number, value: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUInt16BE(name, 0);
  bytes.writeUInt32BE(value, 2);
  return bytes;
}

/** Encodes a header block of literals, which does not change the tables. */
function block(fields: readonly (readonly [string, string])[]): Buffer {
  const text = (value: string): Buffer => Buffer.concat([Buffer.from([value.length]), Buffer.from(value, 'latin1')]);
  return Buffer.concat(fields.map(([name, value]) => Buffer.concat([Buffer.from([0]), text(name), text(value)])));
}

const pseudo = (method: string, path: string) =>
  [
    [':method', method],
    [':scheme', 'https'],
    [':path', path],
    [':authority', 'localhost'],
  ] as const;
const get = (stream: number, path = '/echo', ...more: (readonly [string, string])[]): Buffer =>
  frame(headers, endHeaders | endStream, stream, block([...pseudo('GET', path), ...more]));
const post = (stream: number, path = '/echo', ...more: (readonly [string, string])[]): Buffer =>
  frame(headers, endHeaders, stream, block([...pseudo('POST', path), ...more]));

interface Seen {
  readonly type: number;
  readonly flag: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** A client that sends raw frames and records received ones. */
class RawClient {
  readonly seen: Seen[] = [];
  readonly socket: tls.TLSSocket;
  readonly #decoder = new HeaderDecoder(4096);
  readonly closed: Promise<unknown>;
  #data: { readonly stream: number; readonly flag: number; readonly parts: Buffer[] } | undefined;

  constructor(socket: tls.TLSSocket) {
    this.socket = socket;
    const reader = new FrameReader(
      {
        numberFrame: (type, stream, value) => this.seen.push({ type, flag: 0, stream, payload: uint32(value) }),
        frame: (type, flag, stream, payload) => this.seen.push({ type, flag, stream, payload: Buffer.from(payload) }),
        dataBegins: (stream, flag) => {
          this.#data = { stream, flag, parts: [] };
        },
        data: (chunk) => this.#data?.parts.push(Buffer.from(chunk)),
        dataEnds: () => {
          const { stream, flag, parts } = this.#data ?? { stream: 0, flag: 0, parts: [] };
          this.seen.push({ type: data, flag, stream, payload: Buffer.concat(parts) });
        },
      },
      1 << 24,
    );
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => reader.push(chunk));
    this.closed = once(socket, 'close');
  }

  send(...frames: readonly Buffer[]): void {
    this.socket.write(Buffer.concat(frames));
  }

  /** Waits for the first matching frame. */
  async find(type: number, stream = 0, flag = 0): Promise<Seen> {
    const matches = (seen: Seen): boolean => seen.type === type && seen.stream === stream && (seen.flag & flag) === flag;
    await expect.poll(() => this.seen.some(matches), { timeout: 5_000, interval: 5 }).toBe(true);
    return this.seen.find(matches) as Seen;
  }

  /** Waits for the end of a response; returns its status and body. */
  async answer(stream: number): Promise<{ readonly status: string; readonly body: string }> {
    const ends = (seen: Seen): boolean =>
      seen.stream === stream && [data, headers].includes(seen.type as never) && (seen.flag & endStream) !== 0;
    await expect.poll(() => this.seen.some(ends), { timeout: 5_000, interval: 5 }).toBe(true);
    const fields: Record<string, string> = {};
    const head = this.seen.find((seen) => seen.stream === stream && seen.type === headers) as Seen;
    this.#decoder.decode(head.payload, (name, value) => {
      fields[name] = value;
    });
    const parts = this.seen.filter((seen) => seen.stream === stream && seen.type === data).map(({ payload }) => payload);
    return { status: fields[':status'] ?? '', body: Buffer.concat(parts).toString() };
  }

  /** Waits for GOAWAY; returns its error code. */
  async goneAway(): Promise<number> {
    const { payload } = await this.find(goAway);
    return payload.readUInt32BE(4);
  }

  async wasReset(stream: number): Promise<number> {
    return (await this.find(resetStream, stream)).payload.readUInt32BE(0);
  }
}

let server: SecureServer;
let port = 0;
let certificateAuthority = '';
const open = new Map<string, Exchange>();
const large = Buffer.alloc(1_000_000, 'x');

/** Values of x-name of the requests to /order, in order of arrival. */
const served: string[] = [];

function serve(exchange: Exchange): void {
  if (exchange.url === '/order') {
    served.push(String(exchange.headers['x-name']));
    return exchange.send(200, [], none);
  }
  if (exchange.url === '/hang') return void open.set(String(exchange.headers['x-name'] ?? ''), exchange);
  if (exchange.url === '/watch') return void exchange.open(200, []);
  if (exchange.url === '/large') return exchange.send(200, [], large);
  if (exchange.url === '/headers') return exchange.send(200, [], Buffer.from(JSON.stringify(exchange.headers)));
  if (exchange.url === '/status') {
    try {
      return exchange.send(1_000, [], Buffer.from('not sent'));
    } catch (error) {
      return exchange.send(500, [], Buffer.from((error as Error).message));
    }
  }
  if (exchange.url === '/early') return exchange.send(413, [], Buffer.from('too much'));
  exchange.readBody(1 << 20).then(
    (body) => exchange.send(200, ['Content-Type', 'text/plain'], Buffer.concat([Buffer.from(`${exchange.method} `), body])),
    (error: Error) => exchange.send(400, [], Buffer.from(error.message)),
  );
}

async function connectSocket(): Promise<tls.TLSSocket> {
  const socket = tls.connect({ host: '127.0.0.1', port, ca: certificateAuthority, ALPNProtocols: ['h2'] });
  await once(socket, 'secureConnect');
  return socket;
}

/** Connects and exchanges settings. */
async function connect(first: Buffer = none): Promise<RawClient> {
  const client = new RawClient(await connectSocket());
  client.send(Buffer.from(preface), frame(settingsType, 0, 0, first));
  await client.find(settingsType, 0, flags.ack);
  return client;
}

beforeAll(async () => {
  const { certificateAuthority: authority, ...certificate } = await issueServingCertificate();
  certificateAuthority = authority;
  const options = { certificate, sniCertificates: [], clientCa: undefined, minVersion: 'TLSv1.2', cipherSuites: [] } as const;
  server = new SecureServer({ ...options, disableHttp2: false, maxConcurrentStreams: 10, stalledMs: 60_000 }, serve);
  ({ port } = await server.listen(0, '127.0.0.1'));
});
afterAll(() => server.close());

it('sends its settings and responds to requests', async () => {
  const client = await connect();
  const { payload } = await client.find(settingsType);
  const settingsSeen = Object.fromEntries([0, 6, 12, 18].map((at) => [payload.readUInt16BE(at), payload.readUInt32BE(at + 2)]));
  expect(settingsSeen).toEqual({
    [settings.maxConcurrentStreams]: 10,
    [settings.initialWindowSize]: 256 * 1024,
    [settings.maxFrameSize]: 256 * 1024,
    [settings.maxHeaderListSize]: 1 << 20,
  });
  expect((await client.find(windowUpdate)).payload.readUInt32BE(0)).toBe(10 * 256 * 1024 - initial.window);
  client.send(get(1), post(3), frame(data, endStream, 3, Buffer.from('hello')));
  expect(await client.answer(1)).toEqual({ status: '200', body: 'GET ' });
  expect(await client.answer(3)).toEqual({ status: '200', body: 'POST hello' });
  client.socket.destroy();
});

it('sends no status that is not one, like node:http', async () => {
  const client = await connect();
  client.send(get(1, '/status'));
  expect(await client.answer(1)).toEqual({ status: '500', body: 'Invalid status code: 1000' });
  client.socket.destroy();
});

it('returns request fields like node:http', async () => {
  const client = await connect();
  client.send(
    get(1, '/headers', ['cookie', 'a=1'], ['cookie', 'b=2'], ['x-a', '1'], ['x-a', '2'], ['host', 'LOCALHOST'], ['constructor', 'c']),
  );
  expect(JSON.parse((await client.answer(1)).body)).toEqual({
    ':method': 'GET',
    ':scheme': 'https',
    ':path': '/headers',
    ':authority': 'localhost',
    cookie: 'a=1; b=2',
    'x-a': '1, 2',
    host: 'LOCALHOST',
    constructor: 'c',
  });
  client.socket.destroy();
});

it('reads bodies of several frames, with padding and trailers', async () => {
  const client = await connect();
  client.send(
    post(1),
    frame(data, padded, 1, Buffer.from('\x03abc\0\0\0', 'latin1')),
    frame(data, 0, 1, Buffer.from('def')),
    frame(headers, endHeaders | endStream, 1, block([['x-trailer', 't']])),
  );
  expect(await client.answer(1)).toEqual({ status: '200', body: 'POST abcdef' });
  client.socket.destroy();
});

it('reads a header block of several frames', async () => {
  const client = await connect();
  const whole = block(pseudo('GET', '/echo'));
  client.send(
    frame(headers, endStream, 1, whole.subarray(0, 10)),
    frame(continuation, 0, 1, whole.subarray(10, 11)),
    frame(continuation, endHeaders, 1, whole.subarray(11)),
  );
  expect(await client.answer(1)).toEqual({ status: '200', body: 'GET ' });
  client.socket.destroy();
});

it('reads the largest header block in frames of the smallest maximum size', async () => {
  const client = await connect();
  const value = Buffer.alloc(900_000, 'v');
  // A literal without indexing whose value has 900,000 bytes: 0x7f and the rest in seven bits each.
  const length = [0x7f, ((900_000 - 127) & 0x7f) | 0x80, (((900_000 - 127) >> 7) & 0x7f) | 0x80, (900_000 - 127) >> 14];
  const whole = Buffer.concat([block(pseudo('GET', '/echo')), Buffer.from([0, 1]), Buffer.from('a'), Buffer.from(length), value]);
  const parts = Array.from({ length: Math.ceil(whole.length / 16_384) }, (_, i) => whole.subarray(i * 16_384, (i + 1) * 16_384));
  client.send(
    ...parts.map((part, i) =>
      frame(i === 0 ? headers : continuation, i === parts.length - 1 ? endHeaders : i === 0 ? endStream : 0, 1, part),
    ),
  );
  expect(await client.answer(1)).toEqual({ status: '200', body: 'GET ' });
  client.socket.destroy();
});

it('extends the window of a body as it is read', async () => {
  const client = await connect(setting(settings.initialWindowSize, 1_000_000));
  client.send(
    frame(windowUpdate, 0, 0, uint32(1_000_000)),
    post(1),
    ...Array.from({ length: 4 }, () => frame(data, 0, 1, Buffer.alloc(60_000, 'y'))),
  );
  const { payload } = await client.find(windowUpdate, 1);
  expect(payload.readUInt32BE(0)).toBeGreaterThan(initial.window / 2);
  client.send(frame(data, endStream, 1, Buffer.alloc(60_000, 'y')));
  expect((await client.answer(1)).body).toHaveLength(5 + 300_000);
  client.socket.destroy();
});

it("respects the client's windows and continues when they grow", async () => {
  const client = await connect(setting(settings.initialWindowSize, 1_000));
  client.send(get(1, '/large'), get(3));
  expect(await client.answer(3)).toEqual({ status: '200', body: 'GET ' });
  const sent = (): number =>
    client.seen.reduce((sum, { type, stream, payload }) => sum + (type === data && stream === 1 ? payload.length : 0), 0);
  await expect.poll(sent).toBe(1_000);
  client.send(frame(windowUpdate, 0, 1, uint32(500)));
  await expect.poll(sent).toBe(1_500);
  // RFC 9113, 6.9.2: the window becomes negative; the first credits only raise it to zero.
  client.send(frame(settingsType, 0, 0, setting(settings.initialWindowSize, 0)), frame(windowUpdate, 0, 1, uint32(1_100)));
  await expect.poll(sent).toBe(1_600);
  client.send(frame(windowUpdate, 0, 1, uint32(2_000_000)));
  // Now the window of the connection is exhausted.
  await expect.poll(sent).toBe(initial.window - 'GET '.length);
  client.send(frame(windowUpdate, 0, 0, uint32(2_000_000)));
  expect((await client.answer(1)).body).toHaveLength(large.length);
  client.socket.destroy();
});

it("uses the client's maximum frame size", async () => {
  const client = await connect(Buffer.concat([setting(settings.maxFrameSize, 50_000), setting(settings.initialWindowSize, 2_000_000)]));
  client.send(frame(windowUpdate, 0, 0, uint32(2_000_000)), get(1, '/large'));
  await client.answer(1);
  const sizes = client.seen.filter(({ type }) => type === data).map(({ payload }) => payload.length);
  expect(Math.max(...sizes)).toBe(50_000);
  client.socket.destroy();
});

it('interleaves a response with a large one', async () => {
  const client = await connect(setting(settings.initialWindowSize, 2_000_000));
  client.send(frame(windowUpdate, 0, 0, uint32(4_000_000)), get(1, '/large'), get(3));
  await Promise.all([client.answer(1), client.answer(3)]);
  const last = (stream: number): number => client.seen.findLastIndex((seen) => seen.stream === stream);
  expect(last(3)).toBeLessThan(last(1));
  client.socket.destroy();
});

it('resets a request whose body is incomplete at the end of the response', async () => {
  const client = await connect();
  client.send(post(1, '/early'), frame(data, 0, 1, Buffer.from('a')));
  expect(await client.answer(1)).toEqual({ status: '413', body: 'too much' });
  expect(await client.wasReset(1)).toBe(errorCodes.noError);
  // The server drops body frames that were already sent.
  client.send(frame(data, endStream, 1, Buffer.from('b')), get(3));
  expect((await client.answer(3)).status).toBe('200');
  client.socket.destroy();
});

it('detects resets and disconnections', async () => {
  const client = await connect();
  client.send(get(1, '/hang', ['x-name', 'reset']), get(3, '/hang', ['x-name', 'gone']));
  await expect.poll(() => [open.has('reset'), open.has('gone')]).toEqual([true, true]);
  const closed = ['reset', 'gone'].map((name) => new Promise<void>((resolve) => open.get(name)?.onClose(resolve)));
  client.send(frame(resetStream, 0, 1, uint32(errorCodes.cancel)));
  await closed[0];
  expect([open.get('reset')?.closed, open.get('gone')?.closed]).toEqual([true, false]);
  client.socket.destroy();
  await closed[1];
});

it('fails a request whose client disconnects within the body', async () => {
  const client = await connect();
  client.send(post(1, '/hang', ['x-name', 'half']), frame(data, 0, 1, Buffer.from('a')));
  await expect.poll(() => open.has('half')).toBe(true);
  const body = open.get('half')?.readBody(100);
  client.socket.destroy();
  await expect(body).rejects.toThrow('the client closed the connection');
});

it('refuses streams above the limit and accepts later ones', async () => {
  const client = await connect();
  client.send(...Array.from({ length: 11 }, (_, i) => get(i * 2 + 1, '/hang', ['x-name', `many${i}`])));
  expect(await client.wasReset(21)).toBe(errorCodes.refusedStream);
  client.send(frame(resetStream, 0, 1, uint32(errorCodes.cancel)), get(23));
  expect((await client.answer(23)).status).toBe('200');
  client.socket.destroy();
});

it('responds with 431 to oversized headers and keeps the connection', async () => {
  const client = await connect();
  // An entry of 4 kB, and a reference to it in each further byte.
  const entry = Buffer.concat([Buffer.from([0x40, 1]), Buffer.from('a'), Buffer.from([0x7f, 0xa1, 0x1e]), Buffer.alloc(4000, 'v')]);
  const bomb = Buffer.concat([block(pseudo('GET', '/echo')), entry, Buffer.alloc(2000, 0xbe)]);
  client.send(frame(headers, endHeaders | endStream, 1, bomb), get(3));
  expect((await client.answer(1)).status).toBe('431');
  expect((await client.answer(3)).status).toBe('200');
  client.socket.destroy();
});

it('a closing connection completes its requests', async () => {
  const client = await connect();
  client.send(get(1, '/hang', ['x-name', 'last']));
  await expect.poll(() => open.has('last')).toBe(true);
  client.send(frame(goAway, 0, 0, uint32(0, errorCodes.noError)));
  expect(await client.goneAway()).toBe(errorCodes.noError);
  client.send(get(3));
  open.get('last')?.send(200, [], Buffer.from('done'));
  expect(await client.answer(1)).toEqual({ status: '200', body: 'done' });
  await client.closed;
  expect(client.seen.filter(({ stream }) => stream === 3)).toEqual([]);
});

it('node:http2 decodes its responses for any table size', async () => {
  const session = http2.connect(`https://127.0.0.1:${port}`, { ca: certificateAuthority, settings: { headerTableSize: 0 } });
  for (const size of [0, 100, 4096]) {
    session.settings({ headerTableSize: size });
    for (let i = 0; i < 3; i += 1) {
      const stream = session.request({ ':path': '/echo', ':method': 'POST' });
      stream.end(`body ${i}`);
      const [head] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
      let text = '';
      for await (const chunk of stream.setEncoding('utf8')) text += chunk;
      expect([head[':status'], head['content-type'], text]).toEqual([200, 'text/plain', `POST body ${i}`]);
    }
  }
  session.close();
});

describe('deadlines', () => {
  /** A socket whose peer reads or does not read. */
  class OtherEnd extends Duplex {
    readonly written: Buffer[] = [];
    constructor(readonly reads: boolean) {
      super();
    }
    override _read(): void {}
    override _write(chunk: Buffer, _encoding: string, done: () => void): void {
      this.written.push(Buffer.from(chunk));
      if (this.reads) done();
    }
    /** As a client does, it closes its side after the other. */
    override _final(done: () => void): void {
      done();
      this.push(null);
    }
    destroySoon(): void {
      this.end(() => this.destroy());
    }
  }
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const deadlines = { prefaceMs: 100, headerMs: 200, idleMs: 500 };
  const options = { maxConcurrentStreams: 10, streamWindow: 1 << 16, maxHeaderBytes: 1 << 16, deadlines };
  const begin = Buffer.concat([Buffer.from(preface), frame(settingsType, 0, 0)]);

  /** Sends `each` every 50 ms of simulated time. Resolves to the time at which the connection closed, and the code of its GOAWAY. */
  async function endOf(
    first: readonly Buffer[],
    each: (step: number) => Buffer,
    reads = true,
  ): Promise<{ at: number; code: number | undefined }> {
    const socket = new OtherEnd(reads);
    const streams: Http2Stream[] = [];
    const connection = new Http2Connection(socket as never, options, { onStream: (stream) => streams.push(stream), onClose: () => {} });
    const start = Math.ceil(performance.now());
    for (const part of first) socket.push(part);
    await turn();
    for (let at = 50; at <= 2_000; at += 50) {
      const next = each(at);
      if (next.length > 0) socket.push(next);
      await turn();
      connection.checkDeadlines(start + at);
      await turn();
      if (!socket.destroyed) continue;
      const last = socket.written.map((bytes) => bytes.subarray(bytes.lastIndexOf(Buffer.from([goAway, 0, 0, 0, 0, 0])) - 3));
      const end = last.find((bytes) => bytes[3] === goAway);
      return { at, code: end?.readUInt32BE(13) };
    }
    return { at: Number.POSITIVE_INFINITY, code: undefined };
  }

  const drip = Buffer.concat([frame(headers, endHeaders | endStream, 1, Buffer.alloc(1_000, 0x82)), none]);
  it.each([
    { name: 'nothing arrives', first: [], each: () => none, at: 100 },
    { name: 'the preface arrives byte by byte', first: [], each: (step: number) => begin.subarray(step / 50 - 1, step / 50), at: 100 },
    { name: 'no settings arrive', first: [Buffer.from(preface)], each: () => none, at: 100 },
    { name: 'no request arrives', first: [begin], each: () => none, at: 550, code: errorCodes.noError },
    { name: 'only pings arrive', first: [begin], each: () => frame(ping, 0, 0, Buffer.alloc(8)), at: 550, code: errorCodes.noError },
    {
      name: 'only window updates arrive',
      first: [begin],
      each: () => frame(windowUpdate, 0, 0, uint32(1)),
      at: 550,
      code: errorCodes.noError,
    },
    {
      name: 'a frame arrives byte by byte',
      first: [begin],
      each: (step: number) => drip.subarray(step / 50 - 1, step / 50),
      at: 250,
      code: errorCodes.enhanceYourCalm,
    },
    {
      name: 'a header block arrives frame by frame',
      first: [begin, frame(headers, endStream, 1, none)],
      each: () => frame(continuation, 0, 1, Buffer.from([0x82])),
      at: 250,
      code: errorCodes.enhanceYourCalm,
    },
    { name: 'a request is pending', first: [begin, get(1)], each: () => none, at: Number.POSITIVE_INFINITY },
  ])('closes the connection after $at ms when $name', async ({ first, each, at, code }) => {
    expect(await endOf(first, each)).toEqual({ at, code });
  });

  it('destroys a connection whose client does not read', async () => {
    expect(await endOf([begin], () => none, false)).toEqual({ at: 550, code: undefined });
  });
});

it('does not limit cancellations of established watches', async () => {
  const client = await connect();
  for (let round = 0; round < 30; round += 1) {
    const ids = Array.from({ length: 10 }, (_, i) => (round * 10 + i) * 2 + 1);
    client.send(...ids.map((id) => get(id, '/watch')));
    for (const id of ids) await client.find(headers, id);
    client.send(...ids.map((id) => frame(resetStream, 0, id, uint32(errorCodes.cancel))));
  }
  client.send(get(9_999));
  expect((await client.answer(9_999)).status).toBe('200');
  client.socket.destroy();
});

describe('closes the connection for', () => {
  const opened = post(1);
  const rows: { name: string; frames: readonly Buffer[]; code: number }[] = [
    { name: 'a request with an even stream number', frames: [get(2)], code: errorCodes.protocolError },
    { name: 'a push', frames: [frame(pushPromise, 0, 1, uint32(2))], code: errorCodes.protocolError },
    { name: 'data of an idle stream', frames: [frame(data, 0, 1)], code: errorCodes.protocolError },
    { name: 'data with an even stream number', frames: [get(21), frame(data, 0, 2)], code: errorCodes.protocolError },
    { name: 'a request with a skipped stream number', frames: [get(21), get(19)], code: errorCodes.protocolError },
    {
      name: 'a second acknowledgement of the settings',
      frames: [frame(settingsType, flags.ack, 0, none), frame(settingsType, flags.ack, 0, none)],
      code: errorCodes.protocolError,
    },
    { name: 'data on stream 0', frames: [frame(data, 0, 0)], code: errorCodes.protocolError },
    { name: 'a reset of an idle stream', frames: [frame(resetStream, 0, 1, uint32(8))], code: errorCodes.protocolError },
    { name: 'a reset that is too short', frames: [opened, frame(resetStream, 0, 1, none)], code: errorCodes.frameSizeError },
    { name: 'a window update of an idle stream', frames: [frame(windowUpdate, 0, 1, uint32(1))], code: errorCodes.protocolError },
    { name: 'a window update of 0', frames: [frame(windowUpdate, 0, 0, uint32(0))], code: errorCodes.protocolError },
    { name: 'a window update that is too short', frames: [frame(windowUpdate, 0, 0, none)], code: errorCodes.frameSizeError },
    { name: 'a window that is too large', frames: [frame(windowUpdate, 0, 0, uint32(2 ** 31 - 1))], code: errorCodes.flowControlError },
    { name: 'settings on a stream', frames: [frame(settingsType, 0, 1)], code: errorCodes.protocolError },
    { name: 'truncated settings', frames: [frame(settingsType, 0, 0, uint32(1))], code: errorCodes.frameSizeError },
    { name: 'an acknowledgement with payload', frames: [frame(settingsType, flags.ack, 0, uint32(1))], code: errorCodes.frameSizeError },
    { name: '101 settings', frames: [frame(settingsType, 0, 0, Buffer.alloc(6 * 101))], code: errorCodes.protocolError },
    {
      name: 'an invalid SETTINGS_ENABLE_PUSH',
      frames: [frame(settingsType, 0, 0, setting(settings.enablePush, 2))],
      code: errorCodes.protocolError,
    },
    {
      name: 'a maximum frame size that is too small',
      frames: [frame(settingsType, 0, 0, setting(settings.maxFrameSize, 100))],
      code: errorCodes.protocolError,
    },
    {
      name: 'an initial window that is too large',
      frames: [frame(settingsType, 0, 0, setting(settings.initialWindowSize, 2 ** 31))],
      code: errorCodes.flowControlError,
    },
    { name: 'a ping that is too short', frames: [frame(ping, 0, 0, uint32(1))], code: errorCodes.frameSizeError },
    { name: 'a ping on a stream', frames: [frame(ping, 0, 1, uint32(1, 2))], code: errorCodes.protocolError },
    { name: 'a priority on stream 0', frames: [frame(priority, 0, 0, Buffer.alloc(5))], code: errorCodes.protocolError },
    { name: 'a header block that is not continued', frames: [frame(headers, endStream, 1, none), get(3)], code: errorCodes.protocolError },
    { name: 'data within a header block', frames: [frame(headers, 0, 1, none), frame(data, 0, 1)], code: errorCodes.protocolError },
    {
      name: 'a header block continued on another stream',
      frames: [frame(headers, 0, 1, none), frame(continuation, 0, 3)],
      code: errorCodes.protocolError,
    },
    { name: 'a continuation without a header block', frames: [frame(continuation, endHeaders, 1, none)], code: errorCodes.protocolError },
    {
      name: 'a malformed header block',
      frames: [frame(headers, endHeaders, 1, Buffer.from([0x80]))],
      code: errorCodes.compressionError,
    },
    {
      name: 'padding that exceeds the frame',
      frames: [frame(headers, endHeaders | padded, 1, Buffer.from([9, 0]))],
      code: errorCodes.protocolError,
    },
    { name: 'a frame that is too large', frames: [frame(headers, endHeaders, 1, Buffer.alloc(300_000))], code: errorCodes.frameSizeError },
    { name: 'a GOAWAY that is too short', frames: [frame(goAway, 0, 0, uint32(0))], code: errorCodes.frameSizeError },
    {
      name: 'a flood of settings (CVE-2019-9515)',
      frames: Array.from({ length: 1_100 }, () => frame(settingsType, 0, 0)),
      code: errorCodes.enhanceYourCalm,
    },
    {
      name: 'a flood of pings (CVE-2019-9512)',
      frames: Array.from({ length: 1_100 }, () => frame(ping, 0, 0, uint32(1, 2))),
      code: errorCodes.enhanceYourCalm,
    },
    {
      name: 'a flood of empty frames (CVE-2019-9518)',
      frames: [opened, ...Array.from({ length: 1_100 }, () => frame(data, 0, 1))],
      code: errorCodes.enhanceYourCalm,
    },
    {
      name: 'an endless header block (CVE-2023-45288)',
      frames: [frame(headers, 0, 1, none), ...Array.from({ length: 6 }, () => frame(continuation, 0, 1, Buffer.alloc(200_000)))],
      code: errorCodes.enhanceYourCalm,
    },
    {
      name: 'header frames of one byte (CVE-2024-27316)',
      frames: [frame(headers, 0, 1, none), ...Array.from({ length: 128 }, () => frame(continuation, 0, 1, Buffer.from('a')))],
      code: errorCodes.enhanceYourCalm,
    },
    {
      name: 'empty header frames',
      frames: [frame(headers, 0, 1, none), ...Array.from({ length: 128 }, () => frame(continuation, 0, 1, none))],
      code: errorCodes.enhanceYourCalm,
    },
    {
      name: 'requests that are opened and reset (CVE-2023-44487)',
      frames: Array.from({ length: 250 }, (_, i) => [get(i * 2 + 1, '/hang'), frame(resetStream, 0, i * 2 + 1, uint32(8))]).flat(),
      code: errorCodes.enhanceYourCalm,
    },
    {
      name: 'watches that are opened and reset immediately',
      frames: Array.from({ length: 250 }, (_, i) => [get(i * 2 + 1, '/watch'), frame(resetStream, 0, i * 2 + 1, uint32(8))]).flat(),
      code: errorCodes.enhanceYourCalm,
    },
    {
      name: 'requests that force the server to reset (CVE-2025-8671)',
      frames: Array.from({ length: 250 }, (_, i) => [get(i * 2 + 1, '/hang'), frame(windowUpdate, 0, i * 2 + 1, uint32(0))]).flat(),
      code: errorCodes.enhanceYourCalm,
    },
  ];
  it.each(rows)('$name', async ({ frames, code }) => {
    const client = await connect();
    client.send(...frames);
    expect(await client.goneAway()).toBe(code);
    await client.closed;
  });

  it.each([
    { name: 'another protocol than HTTP/2', bytes: Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n') },
    { name: 'a frame before the settings', bytes: Buffer.concat([Buffer.from(preface), frame(ping, 0, 0, Buffer.alloc(8))]) },
  ])('$name', async ({ bytes }) => {
    const client = new RawClient(await connectSocket());
    client.send(bytes);
    expect(await client.goneAway()).toBe(errorCodes.protocolError);
    await client.closed;
  });
});

describe('resets the request and keeps the connection for', () => {
  const { protocolError, streamClosed, flowControlError } = errorCodes;
  const request = (...fields: (readonly [string, string])[]): Buffer => frame(headers, endHeaders | endStream, 1, block(fields));
  const [method, scheme, path] = pseudo('GET', '/hang');
  it.each([
    { name: 'a missing method', frames: [request(scheme, path)], code: protocolError },
    { name: 'no scheme', frames: [request(method, path)], code: protocolError },
    { name: 'no path', frames: [request(method, scheme)], code: protocolError },
    { name: 'an empty path', frames: [request(method, scheme, [':path', ''])], code: protocolError },
    { name: 'a path without a slash', frames: [request(method, scheme, [':path', 'hang'])], code: protocolError },
    { name: 'a path with a control character', frames: [request(method, scheme, [':path', '/a\x7f'])], code: protocolError },
    { name: 'a path with a malformed escape', frames: [request(method, scheme, [':path', '/%zz'])], code: protocolError },
    { name: 'another scheme', frames: [request(method, [':scheme', 'ftp'], path)], code: protocolError },
    { name: 'a user in the authority', frames: [request(method, scheme, path, [':authority', 'u@h'])], code: protocolError },
    { name: 'a slash in the authority', frames: [request(method, scheme, path, [':authority', 'h/p'])], code: protocolError },
    { name: 'two hosts', frames: [get(1, '/hang', ['host', 'localhost'], ['host', 'localhost'])], code: protocolError },
    { name: 'a host that differs from the authority', frames: [get(1, '/hang', ['host', 'other'])], code: protocolError },
    ...[0, 1, 8, 10, 13, 31, 127].map((octet) => ({
      name: `the byte ${octet} in a value`,
      frames: [get(1, '/hang', ['x-a', `a${String.fromCharCode(octet)}b`])],
      code: protocolError,
    })),
    { name: 'a blank before a value', frames: [get(1, '/hang', ['x-a', ' b'])], code: protocolError },
    { name: 'a blank after a value', frames: [get(1, '/hang', ['x-a', 'b\t'])], code: protocolError },
    {
      name: 'a control character in trailers',
      frames: [post(1, '/hang'), frame(headers, endHeaders | endStream, 1, block([['x-a', '\x01']]))],
      code: protocolError,
    },
    { name: 'a path with a space', frames: [request(method, scheme, [':path', '/a b'])], code: protocolError },
    { name: 'two paths', frames: [request(method, scheme, path, path)], code: protocolError },
    { name: 'a pseudo-header field of responses', frames: [request(method, scheme, path, [':status', '200'])], code: protocolError },
    { name: 'a pseudo-header field after other fields', frames: [request(method, scheme, ['a', 'b'], path)], code: protocolError },
    { name: 'upper case', frames: [request(method, scheme, path, ['X-A', 'b'])], code: protocolError },
    { name: 'an empty name', frames: [request(method, scheme, path, ['', 'b'])], code: protocolError },
    { name: 'a line break in a value', frames: [request(method, scheme, path, ['a', 'b\r\nc: d'])], code: protocolError },
    { name: 'a connection-specific field', frames: [request(method, scheme, path, ['transfer-encoding', 'chunked'])], code: protocolError },
    { name: 'te', frames: [request(method, scheme, path, ['te', 'gzip'])], code: protocolError },
    { name: 'CONNECT', frames: [request([':method', 'CONNECT'], [':authority', 'a:1'])], code: protocolError },
    {
      name: 'a body longer than content-length',
      frames: [post(1, '/hang', ['content-length', '1']), frame(data, 0, 1, Buffer.from('ab'))],
      code: protocolError,
    },
    {
      name: 'a body shorter than content-length',
      frames: [post(1, '/hang', ['content-length', '3']), frame(data, endStream, 1, Buffer.from('ab'))],
      code: protocolError,
    },
    { name: 'a content-length without a body', frames: [get(1, '/hang', ['content-length', '700'])], code: protocolError },
    ...['-5', '+132', '0x10', '132, 132', '1e2', '', '9007199254740993'].map((length) => ({
      name: `the length "${length}"`,
      frames: [post(1, '/hang', ['content-length', length])],
      code: protocolError,
    })),
    {
      name: 'two content-length fields, even with one value',
      frames: [post(1, '/hang', ['content-length', '1'], ['content-length', '1'])],
      code: protocolError,
    },
    ...[':path', 'content-length', 'transfer-encoding', 'host'].map((name) => ({
      name: `${name} in trailers`,
      frames: [post(1, '/hang'), frame(headers, endHeaders | endStream, 1, block([[name, '1']]))],
      code: protocolError,
    })),
    { name: 'data after the end of the request', frames: [get(1, '/hang'), frame(data, 0, 1, Buffer.from('a'))], code: streamClosed },
    { name: 'a second head after the end of the request', frames: [get(1, '/hang'), get(1, '/hang')], code: streamClosed },
    {
      name: 'trailers that do not end the stream',
      frames: [post(1, '/hang'), frame(headers, endHeaders, 1, block([['a', 'b']]))],
      code: protocolError,
    },
    {
      name: 'data beyond the window',
      frames: [post(1, '/hang'), ...Array.from({ length: 2 }, () => frame(data, 0, 1, Buffer.alloc(200_000)))],
      code: flowControlError,
    },
    { name: 'a window update of 0', frames: [get(1, '/hang'), frame(windowUpdate, 0, 1, uint32(0))], code: protocolError },
    {
      name: 'a window that is too large',
      frames: [get(1, '/hang'), frame(windowUpdate, 0, 1, uint32(2 ** 31 - 1))],
      code: flowControlError,
    },
  ])('$name', async ({ frames, code }) => {
    const client = await connect();
    client.send(...frames);
    expect(await client.wasReset(1)).toBe(code);
    client.send(get(3));
    expect((await client.answer(3)).status).toBe('200');
    client.socket.destroy();
  });
});

it('serves other connections while one sends many requests', async () => {
  const [greedy, quiet] = [await connect(), await connect()];
  const ids = Array.from({ length: 100 }, (_, i) => i * 2 + 1);
  served.length = 0;
  greedy.send(...ids.map((id) => get(id, '/order', ['x-name', 'greedy'])));
  quiet.send(get(1, '/order', ['x-name', 'quiet']));
  for (const id of ids) expect((await greedy.answer(id)).status).toBe('200');
  expect((await quiet.answer(1)).status).toBe('200');
  expect(served).toHaveLength(101);
  expect(served.indexOf('quiet')).toBeLessThan(60);
  greedy.socket.destroy();
  quiet.socket.destroy();
});

it('for any frames, the connection continues or closes, and others are served', async () => {
  const number = fc.constantFrom(0, 1, 1, 1, 3, 3, 5, 2, 2 ** 31 - 1);
  const heads = fc.constantFrom(
    block(pseudo('GET', '/echo')),
    block(pseudo('POST', '/echo')),
    block(pseudo('GET', '/large')),
    block([['a', 'b']]),
  );
  const payload = fc.oneof(
    heads,
    fc.uint8Array({ maxLength: 40 }),
    fc.constantFrom(uint32(0), uint32(1), uint32(2 ** 31 - 1), uint32(1, 2)),
  );
  const any = fc.tuple(fc.integer({ min: 0, max: 11 }), fc.nat(255), number, payload).map((parts) => frame(...parts));
  await fc.assert(
    fc.asyncProperty(fc.array(any, { maxLength: 30 }), fc.boolean(), async (frames, isReading) => {
      const socket = await connectSocket();
      socket.on('error', () => {});
      if (isReading) socket.resume();
      socket.write(Buffer.concat([Buffer.from(preface), frame(settingsType, 0, 0), ...frames]));
      await new Promise((resolve) => setTimeout(resolve, 2));
      socket.destroy();
    }),
    { numRuns: 200 },
  );
  const client = await connect();
  client.send(get(1));
  expect((await client.answer(1)).status).toBe('200');
  client.socket.destroy();
});
