/**
 * Requests of several users share a connection to an extension API server, so clients must not control where a request ends.
 * CWE-444; RFC 9112, 11.2; RFC 9113, 8.1.1 and 10.3.
 */
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import tls from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';
import { issueServingCertificate } from '#testing/serving-certificate';

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly user: string | undefined;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

const things = '/apis/small.test.dev/v1/things';
const smuggled = [
  `POST ${things}/smuggled HTTP/1.1`,
  'Host: x',
  'X-Remote-User: admin',
  'X-Remote-Group: system:masters',
  'Content-Length: 0',
  '\r\n',
].join('\r\n');

describe.each([0, 2])('with %i serving workers', (workers) => {
  let cluster: TestCluster;
  let extension: https.Server;
  const seen: Seen[] = [];

  beforeAll(async () => {
    const { cert, key } = await issueServingCertificate();
    extension = https
      .createServer({ cert, key, keepAliveTimeout: 60_000 }, (request, response) => {
        void text(request).then(
          (body) => {
            const { method, url, headers } = request;
            if (url?.startsWith(things)) seen.push({ method, url, headers, body, user: headers['x-remote-user'] as string | undefined });
            response.setHeader('content-type', 'application/json');
            response.end(JSON.stringify({ kind: 'APIResourceList', groupVersion: 'small.test.dev/v1', resources: [] }));
          },
          () => undefined,
        );
      })
      .on('clientError', (error: NodeJS.ErrnoException, socket) => {
        // A request aborted in its body does not count: if only its end shows that it is malformed, its start has already
        // been forwarded.
        if (error.code?.startsWith('HPE_') && error.code !== 'HPE_INVALID_EOF_STATE')
          seen.push({ method: error.code, url: '', user: undefined, body: '', headers: {} });
        socket.destroy();
      })
      .listen(0, '127.0.0.1');
    await once(extension, 'listening');
    cluster = await startTestCluster({
      listen: true,
      users: [
        { name: 'mallory', groups: ['system:masters'] },
        { name: 'bob', groups: ['system:masters'] },
      ],
      flags: [`--serving-workers=${workers}`],
    });
    await cluster.fetch('/api/v1/namespaces/default/services', {
      body: { metadata: { name: 'ext' }, spec: { type: 'ExternalName', externalName: 'localhost' } },
    });
    const { port } = extension.address() as AddressInfo;
    const spec = { group: 'small.test.dev', version: 'v1', groupPriorityMinimum: 1500, versionPriority: 15 };
    await cluster.fetch('/apis/apiregistration.k8s.io/v1/apiservices', {
      body: {
        metadata: { name: 'v1.small.test.dev' },
        spec: { ...spec, insecureSkipTLSVerify: true, service: { namespace: 'default', name: 'ext', port } },
      },
    });
    await vi.waitFor(async () => expect((await cluster.fetch(things)).status).toBe(200), { interval: 50 });
  }, 30_000);
  afterAll(async () => {
    extension.closeAllConnections();
    extension.close();
    await cluster[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    seen.length = 0;
  });

  const authorization = (user: string): string => `Bearer ${cluster.token(user)}`;

  /** Sends a request over HTTP/2. Resolves to the status or the code of the reset. */
  async function overHttp2(method: string, headers: http2.OutgoingHttpHeaders, body: string | undefined): Promise<number> {
    const session = http2.connect(cluster.url ?? '', { ca: cluster.certificateAuthority ?? '' });
    // node:http2 closes the connection of such a request (RFC 9113, 5.4.1), with its own code.
    session.on('error', () => undefined);
    const fields = { ':method': method, ':path': `${things}/attack`, authorization: authorization('mallory'), ...headers };
    const stream = session.request(fields, { endStream: body === undefined });
    if (body !== undefined) stream.end(body);
    const outcome = await new Promise<number>((resolve) => {
      stream.on('response', ({ ':status': status = 0 }) => resolve(status));
      stream.on('error', () => resolve(stream.rstCode));
    });
    session.destroy();
    return outcome;
  }

  /** Sends raw text over HTTP/1.1. Resolves to the status of each response. */
  async function overHttp1(head: readonly string[], body: string): Promise<number[]> {
    const { hostname, port } = new URL(cluster.url ?? '');
    const socket = tls.connect({ host: hostname, port: Number(port), ca: cluster.certificateAuthority, ALPNProtocols: ['http/1.1'] });
    const lines = ['Host: localhost', `Authorization: ${authorization('mallory')}`, ...head.slice(1)];
    socket.write(`${head[0]} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
    socket.on('error', () => undefined);
    const answers = (await Promise.race([text(socket), quiet(socket)])) as string;
    socket.destroy();
    return [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => Number(match[1]));
  }

  /** Returns the received data once nothing has arrived for a while. */
  function quiet(socket: tls.TLSSocket): Promise<string> {
    let received = '';
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      socket.on('data', (chunk: Buffer) => {
        received += chunk.toString('latin1');
        clearTimeout(timer);
        timer = setTimeout(() => resolve(received), 200);
      });
    });
  }

  /** Posts a body that would act as a request if Mallory's attack succeeded. */
  async function bobPosts(): Promise<void> {
    const answer = await cluster.fetch(`${things}/bob`, { as: 'bob', method: 'POST', body: smuggled });
    expect(answer.status).toBe(200);
  }

  const ofBob = { method: 'POST', url: `${things}/bob`, user: 'bob', body: smuggled };
  const lengths = smuggled.length;

  it.each([
    { name: 'a length without a body', method: 'POST', headers: { 'content-length': '700' } },
    { name: 'the length of the next request without a body', method: 'POST', headers: { 'content-length': String(lengths) } },
    { name: 'a length without a body, of a GET', method: 'GET', headers: { 'content-length': '700' } },
    { name: 'a length above that of the body', method: 'POST', headers: { 'content-length': '700' }, body: 'short' },
    { name: 'a length below that of the body', method: 'POST', headers: { 'content-length': '1' }, body: smuggled },
    { name: 'a negative length', method: 'POST', headers: { 'content-length': '-5' }, body: smuggled },
    { name: 'a length with a sign', method: 'POST', headers: { 'content-length': `+${lengths}` }, body: smuggled },
    { name: 'a hexadecimal length', method: 'POST', headers: { 'content-length': `0x${lengths.toString(16)}` }, body: smuggled },
    { name: 'a list of lengths', method: 'POST', headers: { 'content-length': `${lengths}, ${lengths}` }, body: smuggled },
  ])('HTTP/2: $name ends the request without forwarding it', async ({ method, headers, body }) => {
    const { NGHTTP2_PROTOCOL_ERROR, NGHTTP2_INTERNAL_ERROR } = http2.constants;
    const codes =
      process.env['KUBENEST_TEST_HTTP2_SERVER'] === 'node' ? [NGHTTP2_PROTOCOL_ERROR, NGHTTP2_INTERNAL_ERROR] : [NGHTTP2_PROTOCOL_ERROR];
    expect(codes).toContain(await overHttp2(method, headers, body));
    await bobPosts();
    const whole = seen.filter(({ url }) => url !== `${things}/attack`);
    expect(whole).toEqual([expect.objectContaining(ofBob)]);
    expect(seen.filter(({ user }) => user === 'admin')).toEqual([]);
  });

  it.each(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'POST', 'PUT', 'PATCH'])(
    'HTTP/2: a body of %s without a length is a single body',
    async (method) => {
      expect(await overHttp2(method, {}, smuggled)).toBe(200);
      await bobPosts();
      const ofMallory = { method, url: `${things}/attack`, user: 'mallory', body: smuggled };
      expect(seen).toEqual([expect.objectContaining(ofMallory), expect.objectContaining(ofBob)]);
    },
  );

  it.each(['GET', 'DELETE', 'POST'])('HTTP/1.1: a chunked body of %s is a single body', async (method) => {
    const chunk = `${lengths.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;
    expect(await overHttp1([`${method} ${things}/attack`, 'Transfer-Encoding: chunked'], chunk)).toEqual([200]);
    await bobPosts();
    expect(seen).toEqual([expect.objectContaining({ method, user: 'mallory', body: smuggled }), expect.objectContaining(ofBob)]);
  });

  it.each([
    { name: 'a length and a transfer coding', head: ['Content-Length: 3', 'Transfer-Encoding: chunked'], body: '0\r\n\r\n' },
    { name: 'two lengths', head: ['Content-Length: 3', 'Content-Length: 4'], body: 'abcd' },
    { name: 'a list of lengths', head: ['Content-Length: 3, 3'], body: 'abc' },
    { name: 'a negative length', head: ['Content-Length: -5'], body: 'abc' },
    { name: 'a length with a sign', head: ['Content-Length: +3'], body: 'abc' },
    { name: 'a hexadecimal length', head: ['Content-Length: 0x3'], body: 'abc' },
    { name: 'an unknown transfer coding', head: ['Transfer-Encoding: xchunked'], body: '0\r\n\r\n' },
    { name: 'chunked that is not the last coding', head: ['Transfer-Encoding: chunked, identity'], body: '0\r\n\r\n' },
    { name: 'an invalid chunk size', head: ['Transfer-Encoding: chunked'], body: 'zz\r\nabc\r\n0\r\n\r\n' },
    { name: 'a chunk that ends with a bare line feed', head: ['Transfer-Encoding: chunked'], body: '3\nabc\n0\n\n' },
    { name: 'a field name with a trailing space', head: ['Content-Length : 3'], body: 'abc' },
  ])('HTTP/1.1: $name closes the connection without forwarding the request', async ({ head, body }) => {
    const statuses = await overHttp1([`POST ${things}/attack`, ...head], `${body}${smuggled}`);
    expect(statuses.filter((status) => status === 200)).toEqual([]);
    await bobPosts();
    expect(seen.filter(({ url }) => url !== `${things}/attack`)).toEqual([expect.objectContaining(ofBob)]);
  });

  it('a request that lists content-length in Connection is framed again', async () => {
    const head = [`DELETE ${things}/attack`, 'Connection: close, Content-Length, X-Hop', `Content-Length: ${lengths}`, 'X-Hop: 1'];
    expect(await overHttp1(head, smuggled)).toEqual([200]);
    await bobPosts();
    expect(seen).toEqual([expect.objectContaining({ method: 'DELETE', body: smuggled }), expect.objectContaining(ofBob)]);
    expect(seen[0]?.headers).not.toHaveProperty('x-hop');
  });

  it('connection-specific fields are not forwarded', async () => {
    const head = [`GET ${things}/attack`, 'TE: trailers', 'Keep-Alive: 5', 'Proxy-Connection: close', 'Trailer: X-A', 'HTTP2-Settings: AA'];
    expect(await overHttp1(head, '')).toEqual([200]);
    const names = Object.keys(seen[0]?.headers ?? {});
    expect(
      names.filter((name) => /^(te|keep-alive|proxy-connection|trailer|http2-settings|transfer-encoding|content-length)$/.test(name)),
    ).toEqual([]);
  });

  it('an upgrade after a body is ignored: the following data is not another request', async () => {
    const head = [`POST ${things}/attack`, 'Connection: Upgrade', 'Upgrade: echo', 'Transfer-Encoding: chunked'];
    expect(await overHttp1(head, `3\r\nabc\r\n0\r\n\r\n${smuggled}`)).toEqual([200]);
    await bobPosts();
    expect(seen).toEqual([expect.objectContaining({ user: 'mallory', body: 'abc' }), expect.objectContaining(ofBob)]);
  });
});
