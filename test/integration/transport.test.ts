/**
 * Tests the client-visible behaviour of connections over both protocols, which must not depend on whether workers terminate
 * connections.
 */
import { once } from 'node:events';
import http2 from 'node:http2';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Authority } from '#cmd/certificates/issue';
import { startTestCluster, type TestCluster } from '#testing/index';
import type { ServingConfig } from '#apiserver/server/generic-server';
import type { TlsOptions } from '#apiserver/serving/secure-server';
import { customKinds, kind, open, widget } from './custom-kinds.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly length: string | undefined;
}
interface Ask {
  readonly method?: string;
  readonly body?: string | undefined;
  /** True if the request has no Content-Length. */
  readonly chunked?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}
type Client = (cluster: TestCluster, path: string, ask?: Ask) => Promise<Answer>;

const overHttp1: Client = (cluster, path, { method, body, chunked = false, headers = {} } = {}) =>
  new Promise((resolve, reject) => {
    const request = https.request(`${cluster.url}${path}`, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      agent: false,
      ca: cluster.certificateAuthority,
      headers: {
        ...headers,
        authorization: `Bearer ${cluster.token('admin')}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(body !== undefined && !chunked && { 'content-length': String(Buffer.byteLength(body)) }),
      },
    });
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, length: response.headers['content-length'] }));
      response.on('error', reject);
    });
    request.on('error', reject);
    if (chunked) request.write('');
    request.end(body);
  });

const overHttp2: Client = async (cluster, path, { method, body, chunked = false, headers = {} } = {}) => {
  const session = connect(cluster);
  const stream = session.request(
    {
      ':method': method ?? (body === undefined ? 'GET' : 'POST'),
      ':path': path,
      ...headers,
      authorization: `Bearer ${cluster.token('admin')}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(body !== undefined && !chunked && { 'content-length': String(Buffer.byteLength(body)) }),
    },
    { endStream: body === undefined },
  );
  stream.on('error', () => {});
  if (body !== undefined) stream.end(body);
  const [answered] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
  let text = '';
  for await (const chunk of stream.setEncoding('utf8')) text += chunk;
  session.close();
  return { status: Number(answered[':status']), text, length: answered['content-length'] };
};

function connect(cluster: TestCluster): http2.ClientHttp2Session {
  const session = http2.connect(cluster.url as string, { ca: cluster.certificateAuthority as string });
  session.on('error', () => {});
  return session;
}

async function connectRaw(cluster: TestCluster): Promise<tls.TLSSocket> {
  const { hostname, port } = new URL(cluster.url as string);
  const socket = tls.connect({ host: hostname, port: Number(port), ca: cluster.certificateAuthority as string });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  return socket;
}

/** Returns all data until the connection ends or the pattern matches. */
async function readUntil(socket: tls.TLSSocket, pattern: RegExp): Promise<string> {
  const chunks: string[] = [];
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    chunks.push(String(chunk));
    // The match may have started in the previous chunk.
    if (pattern.test(chunks.slice(-2).join(''))) break;
  }
  return chunks.join('');
}

const configMap = (name: string, bytes: number): string => JSON.stringify({ metadata: { name }, data: { k: 'x'.repeat(bytes) } });

/** More than 32 MiB in total, the limit from which lists are encoded incrementally. */
const largeObjects = 36;
const largeKind = kind(open);
const largeLists = { ConfigMaps: '/api/v1/namespaces/very-large/configmaps', 'custom resources': largeKind.path() };

async function makeLarge(cluster: TestCluster): Promise<void> {
  const { define, call } = customKinds(cluster);
  await define(largeKind);
  await call('/api/v1/namespaces', { body: { metadata: { name: 'very-large' } } });
  for (let i = 0; i < largeObjects; i++) {
    const text = `${i % 10}ä`.repeat(340_000);
    expect((await call(largeLists.ConfigMaps, { body: { metadata: { name: `c${i}` }, data: { text } } })).code).toBe(201);
    expect((await call(largeLists['custom resources'], { body: widget(largeKind, `w${i}`, { spec: { text } }) })).code).toBe(201);
  }
}

describe.each([0, 2])('with %i serving workers', (workers) => {
  let cluster: TestCluster;
  const start = (): Promise<TestCluster> => startTestCluster({ listen: true, flags: [`--serving-workers=${workers}`] });
  beforeAll(async () => {
    cluster = await start();
    await makeLarge(cluster);
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  describe.each([
    ['HTTP/1.1', overHttp1],
    ['HTTP/2', overHttp2],
  ])('over %s', (protocol, ask) => {
    const named = (name: string): string => `${name}-${protocol.replace(/\W/g, '').toLowerCase()}`;

    it('sends the response length, unless the status forbids a body', async () => {
      const path = '/openapi/v3/apis/apps/v1';
      expect(await ask(cluster, path, { headers: { 'if-none-match': '*' } })).toEqual({ status: 304, text: '', length: undefined });
      expect(await ask(cluster, path, { headers: { 'if-match': '"x"' } })).toEqual({ status: 412, text: '', length: '0' });
    });

    it.each([
      { bytes: 10, chunked: false, status: 201 },
      { bytes: 10, chunked: true, status: 201 },
      { bytes: 100_000, chunked: false, status: 201 },
      { bytes: 900_000, chunked: true, status: 201 },
      { bytes: 3_500_000, chunked: false, status: 413 },
      { bytes: 3_500_000, chunked: true, status: 413 },
    ])('answers a body of $bytes bytes (chunked: $chunked) with $status', async ({ bytes, chunked, status }) => {
      const name = named(`of-${bytes}-${chunked}`);
      const created = await ask(cluster, configMaps, { body: configMap(name, bytes), chunked }).catch((error: unknown) => error as Error);
      // A client that still sends an unread body may see the connection end before the response.
      if (status === 413 && created instanceof Error) return;
      expect((created as Answer).status).toBe(status);
      if (status !== 201) return;
      const read = await ask(cluster, `${configMaps}/${name}`);
      expect(JSON.parse(read.text)).toMatchObject({ data: { k: 'x'.repeat(bytes) } });
    });

    it('sends a list of megabytes completely', async () => {
      const namespace = named('large');
      await cluster.fetch('/api/v1/namespaces', { body: { metadata: { name: namespace } } });
      const path = `/api/v1/namespaces/${namespace}/configmaps`;
      for (let i = 0; i < 12; i++) await cluster.fetch(path, { body: configMap(`c${i}`, 400_000) });
      const { status, text } = await ask(cluster, path);
      expect(status).toBe(200);
      // At the same revision: the server renews its own Lease between two requests.
      const exactly = `${path}?resourceVersion=${JSON.parse(text).metadata.resourceVersion}&resourceVersionMatch=Exact`;
      expect(text).toBe(await (await cluster.fetch(exactly)).text());
    });

    it.each(Object.entries(largeLists))('sends an incrementally encoded list of %s completely', async (_, path) => {
      const { status, text, length } = await ask(cluster, path);
      expect(status).toBe(200);
      expect(length).toBe(String(Buffer.byteLength(text)));
      const { items, ...list } = JSON.parse(text) as { items: unknown[]; metadata: { resourceVersion: string } };
      expect(items).toHaveLength(largeObjects);
      const pages: unknown[] = [];
      const exactly = `resourceVersion=${list.metadata.resourceVersion}&resourceVersionMatch=Exact`;
      for (let next = `${path}?limit=10&${exactly}`; next !== ''; ) {
        const page = JSON.parse((await ask(cluster, next)).text);
        pages.push(...page.items);
        next = page.metadata.continue ? `${path}?limit=10&continue=${page.metadata.continue}` : '';
        expect({ ...page, items: [], metadata: list.metadata }).toEqual({ ...list, items: [] });
      }
      expect(isDeepStrictEqual(items, pages)).toBe(true);
    });

    it('sends no body where there is none', async () => {
      const head = await ask(cluster, configMaps, { method: 'HEAD' });
      expect(head.text).toBe('');
      expect(head.status).toBe((await cluster.fetch(configMaps, { method: 'HEAD' })).status);
    });
  });

  it('streams watch events, and ends the watch when its client disconnects', async () => {
    const session = connect(cluster);
    const stream = session.request({
      ':path': `${configMaps}?watch=1&fieldSelector=metadata.name=seen`,
      authorization: `Bearer ${cluster.token('admin')}`,
    });
    await once(stream, 'response');
    expect(cluster.app.server.watches.size).toBe(1);
    let text = '';
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    await overHttp2(cluster, configMaps, { body: configMap('seen', 1) });
    await expect.poll(() => text).toContain('"type":"ADDED"');
    session.destroy();
    await expect.poll(() => cluster.app.server.watches.size).toBe(0);
  });

  it('buffers at most a window for a client that does not read, and resumes when it does', async () => {
    const socket = await connectRaw(cluster);
    socket.write(
      `GET ${configMaps}?watch=1&fieldSelector=metadata.name=busy HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${cluster.token('admin')}\r\n\r\n`,
    );
    await readUntil(socket, /\r\n\r\n/);
    socket.pause();
    const path = `${configMaps}/busy`;
    await cluster.fetch(configMaps, { body: configMap('busy', 200_000) });
    for (let i = 0; i < 60; i++) {
      const body = { metadata: { name: 'busy' }, data: { k: `${i}-`.padEnd(200_000, 'x') } };
      await cluster.fetch(path, { method: 'PUT', body });
    }
    const seen = await readUntil(socket, /"k":"59-x/);
    const numbers = [...seen.matchAll(/"k":"(\d+)-x/g)].map(([, number]) => Number(number));
    expect(numbers).toEqual(Array.from({ length: 60 }, (_, i) => i));
    socket.destroy();
    await expect.poll(() => cluster.app.server.watches.size).toBe(0);
  });

  it('answers 401 before the body has arrived', async () => {
    const socket = await connectRaw(cluster);
    socket.write(
      `POST ${configMaps} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer wrong\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
    );
    expect(await readUntil(socket, /\r\n\r\n/)).toMatch(/^HTTP\/1\.1 401 /);
    socket.destroy();
  });

  it('treats requests without body headers as empty, and serves the next one on the connection', async () => {
    const socket = await connectRaw(cluster);
    const ask = async (line: string, header = ''): Promise<string> => {
      socket.write(`${line} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${cluster.token('admin')}\r\n${header}\r\n`);
      return await readUntil(socket, /\}\n?$/);
    };
    await cluster.fetch(configMaps, { body: configMap('bodiless', 1) });
    expect(await ask(`POST ${configMaps}`)).toMatch(/^HTTP\/1\.1 400 /);
    expect(await ask(`POST ${configMaps}`, 'Content-Length: 0\r\n')).toMatch(/^HTTP\/1\.1 400 /);
    expect(await ask(`DELETE ${configMaps}/bodiless`)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await ask(`DELETE ${configMaps}/bodiless`)).toMatch(/^HTTP\/1\.1 404 /);
    socket.destroy();
  });

  it('serves requests sequentially on a connection, even after an unread body', async () => {
    const socket = await connectRaw(cluster);
    const body = 'x'.repeat(200_000);
    const request = (token: string): string =>
      `POST ${configMaps} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    socket.write(request('wrong'));
    expect(await readUntil(socket, /\}\n?$/)).toMatch(/^HTTP\/1\.1 401 /);
    socket.write(`GET /version HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${cluster.token('admin')}\r\n\r\n`);
    expect(await readUntil(socket, /gitVersion/)).toMatch(/^HTTP\/1\.1 200 /);
    socket.destroy();
  });

  it.each([
    { name: 'both lengths', text: 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', status: 400 },
    { name: 'two lengths', text: 'Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd', status: 400 },
    { name: 'a header that is too long', text: `X-Long: ${'x'.repeat(1_048_576)}\r\n\r\n`, status: 431 },
    { name: 'no header at all', text: 'nonsense\r\n\r\n', status: 400 },
    // The text is not longer, because closing a connection with unread data would discard the response.
  ])('$name: answers $status and closes the connection', async ({ text, status }) => {
    const socket = await connectRaw(cluster);
    const ended = new Promise((resolve) => socket.once('close', resolve));
    socket.write(`POST ${configMaps} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${cluster.token('admin')}\r\n${text}`);
    expect(await readUntil(socket, /\r\n\r\n/)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    socket.resume();
    await ended;
  });

  it('closes HTTP/2 connections of unauthenticated clients', async () => {
    const session = connect(cluster);
    const goneAway = once(session, 'goaway');
    session.request({ ':path': '/version' }).resume();
    await goneAway;
    session.destroy();
  });

  it('counts failed TLS handshakes', async () => {
    const { hostname, port } = new URL(cluster.url ?? '');
    const count = async (): Promise<number> => {
      const { text } = await overHttp1(cluster, '/metrics');
      return Number(/^apiserver_tls_handshake_errors_total (\d+)$/m.exec(text)?.[1]);
    };
    const before = await count();
    const openSocket = async (): Promise<net.Socket> => {
      const socket = net.connect(Number(port), hostname);
      await once(socket, 'connect');
      return socket.resume();
    };
    for (const [i, text] of ['this is no TLS\r\n', 'GET / HTTP/1.1\r\n\r\n', '\x16', ''].entries()) {
      const socket = await openSocket();
      socket.end(text);
      await once(socket, 'close');
      await expect.poll(count).toBe(before + i + 1);
    }
    (await openSocket()).resetAndDestroy();
    await expect.poll(count).toBe(before + 5);
  });

  it('serves replaced certificates to new connections and ignores unusable ones', async () => {
    const { app } = cluster;
    const before = app.server.options.serving as TlsOptions;
    const shown = async (): Promise<string> => {
      const { hostname, port } = new URL(cluster.url as string);
      const socket = tls.connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
      await once(socket, 'secureConnect');
      const { fingerprint256 } = socket.getPeerCertificate();
      socket.destroy();
      return fingerprint256;
    };
    const first = await shown();
    const other = await (await Authority.create('other')).issue({ commonName: 'other', names: ['127.0.0.1'], usages: ['server'] });
    app.reloadCertificates({ ...before, certificate: other });
    await expect.poll(shown).not.toBe(first);
    const second = await shown();
    expect(() => app.reloadCertificates({ ...before, certificate: { cert: 'nonsense', key: 'nonsense' } })).toThrow();
    expect(await shown()).toBe(second);
    app.reloadCertificates(before);
    await expect.poll(shown).toBe(first);
  });

  it('applies --http2-max-streams-per-connection and --goaway-chance', async () => {
    const serving = { ...(cluster.app.server.options.serving as ServingConfig), port: 0, maxConcurrentStreams: 7 };
    await using own = await startTestCluster({ listen: true, config: { serving }, flags: ['--goaway-chance=0.02'] });
    const session = connect(own);
    let isGone = false;
    session.once('goaway', () => {
      isGone = true;
    });
    await once(session, 'remoteSettings');
    expect(session.remoteSettings.maxConcurrentStreams).toBe(7);
    // A thousand times 0.02: fails at most once in a billion runs.
    for (let i = 0; i < 1_000 && !isGone && !session.closed; i++) {
      const stream = session.request({ ':path': '/version', authorization: `Bearer ${own.token('admin')}` });
      const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
      expect(headers[':status']).toBe(200);
      await once(stream.resume(), 'close');
    }
    await expect.poll(() => isGone).toBe(true);
    session.destroy();
  });

  it('--shutdown-send-retry-after: answers new requests with Retry-After while pending ones complete, then closes the port', async () => {
    const own = await startTestCluster({ listen: true, flags: [`--serving-workers=${workers}`, '--shutdown-send-retry-after'] });
    const under = await connectRaw(own);
    const body = configMap('under-way', 10);
    const head = `Host: a\r\nAuthorization: Bearer ${own.token('admin')}\r\nContent-Type: application/json\r\n`;
    under.write(`POST ${configMaps} HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n{`);
    await expect.poll(() => own.app.server.requests.size).toBe(1);
    const stopped = own[Symbol.asyncDispose]();
    await expect.poll(() => own.app.server.signals.notAcceptingNewRequest.fired).toBe(true);
    const late = await connectRaw(own);
    late.write(`GET /version HTTP/1.1\r\n${head}\r\n`);
    const refused = await readUntil(late, /try again later/);
    expect(refused).toMatch(/^HTTP\/1\.1 429 /);
    expect(refused).toMatch(/^Retry-After: 1\r$/im);
    expect(refused).toMatch(/^Connection: close\r$/im);
    under.write(body.slice(1));
    expect(await readUntil(under, /\r\n\r\n/)).toMatch(/^HTTP\/1\.1 201 /);
    await stopped;
    await expect(connectRaw(own)).rejects.toThrow('ECONNREFUSED');
  });

  it('a shutdown ends watches, sends GOAWAY to HTTP/2 clients, and closes the port', async () => {
    const own = await start();
    const session = connect(own);
    const goneAway = once(session, 'goaway');
    const stream = session.request({ ':path': `${configMaps}?watch=1`, authorization: `Bearer ${own.token('admin')}` });
    await once(stream, 'response');
    const ended = once(stream.resume(), 'end');
    const idle = await connectRaw(own);
    const idleEnded = new Promise((resolve) => idle.resume().once('close', resolve));
    await own[Symbol.asyncDispose]();
    await Promise.all([goneAway, ended, idleEnded]);
    await expect(connectRaw(own)).rejects.toThrow('ECONNREFUSED');
  });
});
