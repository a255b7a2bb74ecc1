import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Authority } from '#cmd/certificates/issue';
import { startTestCluster, type TestCluster } from '#testing/index';
import { customKinds, type Json, kind, widget } from './custom-kinds.ts';

/**
 * Two servers: the second one serves its own kind, for which the first one proxies requests; and a small server that
 * misbehaves.
 */
const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
const widgets = kind({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true });
const waiting = { timeout: 15_000, interval: 50 };
const folder = await mkdtemp(join(tmpdir(), 'aggregation-'));
const frontProxy = await Authority.create('front-proxy-ca');
const authority = await Authority.create('extension-ca');
const serving = await authority.issue({ commonName: 'ext', names: ['ext.default.svc'], usages: ['server'] });
await writeFile(join(folder, 'front-proxy-ca.crt'), frontProxy.pair.cert);

let front: TestCluster;
let extension: TestCluster;
let small: https.Server;
const seen: { readonly url: string | undefined; readonly headers: IncomingHttpHeaders }[] = [];

function startExtension(port: number): Promise<TestCluster> {
  return startTestCluster({
    listen: true,
    storage: { file: join(folder, 'store') },
    flags: [
      `--requestheader-client-ca-file=${join(folder, 'front-proxy-ca.crt')}`,
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    ],
    config: {
      serving: {
        bindAddress: '127.0.0.1',
        port,
        certificate: serving,
        sniCertificates: [],
        clientCa: undefined,
        minVersion: 'TLSv1.2',
        cipherSuites: [],
        disableHttp2: false,
        maxConcurrentStreams: 100,
      },
    },
  });
}

const portOf = (cluster: TestCluster): number => Number(new URL(cluster.url ?? '').port);

function serveSmall(): Promise<https.Server> {
  const server = https
    .createServer(serving, ({ url, headers }, response) => {
      seen.push({ url, headers });
      if (url?.endsWith('/redirect')) response.writeHead(302, { location: 'https://example.com/' }).end();
      else if (url?.startsWith('/openapi')) response.writeHead(200).end('no JSON');
      else if (url === '/apis') response.writeHead(404).end();
      else
        response.setHeader('content-type', 'application/json').end(
          JSON.stringify({
            kind: 'APIResourceList',
            groupVersion: 'small.test.dev/v1',
            resources: [
              { name: 'things', singularName: 'thing', namespaced: true, kind: 'Thing', verbs: ['get'] },
              { name: 'things/status', singularName: '', namespaced: true, kind: 'Thing', verbs: ['get'] },
            ],
          }),
        );
    })
    .on('upgrade', ({ url, headers }, socket) => {
      seen.push({ url, headers });
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
      socket.on('data', (bytes: Buffer) => socket.write(`echo ${bytes.toString()}`));
      socket.on('error', () => {});
    })
    .listen(0, '127.0.0.1');
  return once(server, 'listening').then(() => server);
}

async function call(path: string, init?: Parameters<TestCluster['fetch']>[1]): Promise<{ code: number; body: Json; type: string }> {
  const response = await front.fetch(path, init);
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  return { code: response.status, type, body: type.startsWith('application/json') ? (JSON.parse(text) as Json) : { text } };
}

async function available(name: string): Promise<Json> {
  const { body } = await call(`${apiServices}/${name}`);
  return (body['status']?.conditions?.[0] ?? {}) as Json;
}

const jsonHeaders = (): Record<string, string> => ({
  authorization: `Bearer ${front.token('admin')}`,
  'content-type': 'application/json',
});

async function createOverHttp1(path: string, body: string): Promise<number> {
  const request = https.request(`${front.url}${path}`, {
    method: 'POST',
    ca: front.certificateAuthority,
    headers: jsonHeaders(),
    agent: false,
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  await once(response.resume(), 'end');
  return response.statusCode ?? 0;
}

async function createOverHttp2(path: string, body: string): Promise<number> {
  const session = http2.connect(front.url ?? '', { ca: front.certificateAuthority ?? '' });
  const stream = session.request({ ':method': 'POST', ':path': path, ...jsonHeaders() });
  stream.end(body);
  const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader];
  await once(stream.resume(), 'end');
  session.close();
  return headers[':status'] ?? 0;
}

async function register(group: string, port: number, spec: object): Promise<void> {
  const { code } = await call(apiServices, {
    body: {
      metadata: { name: `v1.${group}` },
      spec: {
        group,
        version: 'v1',
        groupPriorityMinimum: 1500,
        versionPriority: 15,
        service: { namespace: 'default', name: 'ext', port },
        ...spec,
      },
    },
  });
  expect(code).toBe(201);
}

beforeAll(async () => {
  const clientCertificate = await frontProxy.issue({ commonName: 'front-proxy-client', usages: ['client'] });
  [front, extension, small] = await Promise.all([
    startTestCluster({
      listen: true,
      users: [{ name: 'jane', groups: ['devs'] }],
      config: { aggregation: { clientCertificate, rejectsRedirects: true } },
    }),
    startExtension(0),
    serveSmall(),
  ]);
  await customKinds(extension).define(widgets);
  await call('/api/v1/namespaces/default/services', {
    body: { metadata: { name: 'ext' }, spec: { type: 'ExternalName', externalName: 'localhost' } },
  });
  const rules = [{ apiGroups: [widgets.group, 'small.test.dev'], resources: ['*'], verbs: ['*'] }];
  await call('/apis/rbac.authorization.k8s.io/v1/clusterroles', { body: { metadata: { name: 'all' }, rules } });
  await call('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    body: {
      metadata: { name: 'all' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'all' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
    },
  });
  await register(widgets.group, portOf(extension), { caBundle: Buffer.from(authority.pair.cert).toString('base64') });
  await register('small.test.dev', (small.address() as AddressInfo).port, { insecureSkipTLSVerify: true });
  for (const group of [widgets.group, 'small.test.dev'])
    await vi.waitFor(async () => expect(await available(`v1.${group}`)).toMatchObject({ status: 'True', reason: 'Passed' }), waiting);
}, 30_000);

afterAll(async () => {
  small.closeAllConnections();
  small.close();
  await front[Symbol.asyncDispose]();
  await extension[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

describe('an APIService with a server', () => {
  it('proxies requests to the server', async () => {
    expect(await call(widgets.path(), { body: widget(widgets, 'a', { spec: { n: 1 } }) })).toMatchObject({ code: 201 });
    expect(await call(`${widgets.path()}/a`)).toMatchObject({ code: 200, body: { kind: 'Widget', spec: { n: 1 } } });
    const there = await extension.fetch(`${widgets.path()}/a`);
    expect(there.status).toBe(200);
  });

  it.each([
    { protocol: 'HTTP/1.1', create: createOverHttp1 },
    { protocol: 'HTTP/2', create: createOverHttp2 },
  ])('streams bodies over $protocol', async ({ protocol, create }) => {
    const name = protocol.toLowerCase().replace(/\W/g, '-');
    const body = JSON.stringify(widget(widgets, name, { spec: { text: 'x'.repeat(500_000) } }));
    expect(await create(widgets.path(), body)).toBe(201);
    expect((await extension.fetch(`${widgets.path()}/${name}`)).status).toBe(200);
  });

  it("sends the user's name, whatever headers the request has", async () => {
    const headers = { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters', 'x-remote-extra-scopes': 'all' };
    const { code, body } = await call(widgets.path(), { as: 'jane', headers });
    expect(code).toBe(403);
    expect(body['message']).toContain('User "jane" cannot list resource "widgets"');
    seen.length = 0;
    await call('/apis/small.test.dev/v1/things?limit=5', { as: 'jane', headers });
    const { url, headers: sent } = seen.find((one) => one.url?.includes('things?')) ?? {};
    expect(url).toBe('/apis/small.test.dev/v1/things?limit=5');
    expect(sent).toMatchObject({ 'x-remote-user': 'jane', 'x-remote-group': 'devs, system:authenticated' });
    expect(sent).not.toHaveProperty('x-remote-extra-scopes');
    expect(sent).not.toHaveProperty('authorization');
  });

  it('authorizes requests on the first server', async () => {
    expect(await call('/apis/small.test.dev/v1/things', { as: null })).toMatchObject({ code: 403 });
  });

  it('streams watch events', async () => {
    const end = new AbortController();
    const response = await front.fetch(`${widgets.path()}?watch=true&resourceVersion=0`, { signal: end.signal });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const until = async (name: string): Promise<void> => {
      for (let text = ''; !text.includes(`"name":"${name}"`); ) text += (await reader?.read())?.value ?? '';
    };
    await extension.fetch(widgets.path(), { body: widget(widgets, 'first') });
    await until('first');
    await extension.fetch(widgets.path(), { body: widget(widgets, 'second') });
    await until('second');
    end.abort();
  });

  it('contributes to discovery', async () => {
    const { body } = await call('/apis');
    const group = (body['groups'] as Json[]).find(({ name }) => name === widgets.group);
    expect(group).toMatchObject({ preferredVersion: { groupVersion: `${widgets.group}/v1` } });
    expect(await call(`/apis/${widgets.group}`)).toMatchObject({ code: 200, body: { kind: 'APIGroup', name: widgets.group } });
    expect(await call(`/apis/${widgets.group}/v1`)).toMatchObject({ body: { kind: 'APIResourceList', resources: [{ name: 'widgets' }] } });
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    await vi.waitFor(async () => {
      const aggregated = await call('/apis', { headers: { accept } });
      const versionsOf = (name: string) =>
        (aggregated.body['items'] as Json[]).find(({ metadata }) => metadata.name === name)?.['versions'];
      expect(versionsOf(widgets.group)).toMatchObject([{ version: 'v1', resources: [{ resource: 'widgets' }], freshness: 'Current' }]);
      expect(versionsOf('small.test.dev')).toMatchObject([
        { version: 'v1', resources: [{ resource: 'things', scope: 'Namespaced', subresources: [{ subresource: 'status' }] }] },
      ]);
    }, waiting);
  });

  it('contributes to OpenAPI', async () => {
    await vi.waitFor(async () => {
      const index = await call('/openapi/v3', { headers: { accept: 'application/json' } });
      expect(JSON.parse(index.body['text'] as string).paths).toHaveProperty([`apis/${widgets.group}/v1`]);
    }, waiting);
    const { body } = await call(`/openapi/v3/apis/${widgets.group}/v1`);
    expect(body['paths']).toHaveProperty([`/apis/${widgets.group}/v1/namespaces/{namespace}/widgets`]);
    const swagger = await call('/openapi/v2');
    expect(swagger.body['paths']).toHaveProperty([`/apis/${widgets.group}/v1/namespaces/{namespace}/widgets`]);
  });

  it('does not forward redirects', async () => {
    expect(await call('/apis/small.test.dev/v1/redirect')).toEqual({
      code: 502,
      type: 'text/plain; charset=utf-8',
      body: { text: 'the backend attempted to redirect this request, which is not permitted' },
    });
  });

  it('supports upgraded connections', async () => {
    const socket = tls.connect({ port: portOf(front), host: '127.0.0.1', ca: front.certificateAuthority, ALPNProtocols: ['http/1.1'] });
    await once(socket, 'secureConnect');
    const head = ['GET /apis/small.test.dev/v1/echo HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: echo'];
    socket.write(`${[...head, `Authorization: Bearer ${front.token('jane')}`].join('\r\n')}\r\n\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 101 /);
    socket.write('hello');
    const [echo] = (await once(socket, 'data')) as [Buffer];
    expect(echo.toString()).toBe('echo hello');
    socket.destroy();
  });

  it('removes the bearer token from the WebSocket subprotocols', async () => {
    const socket = tls.connect({ port: portOf(front), host: '127.0.0.1', ca: front.certificateAuthority, ALPNProtocols: ['http/1.1'] });
    await once(socket, 'secureConnect');
    seen.length = 0;
    const token = `base64url.bearer.authorization.k8s.io.${Buffer.from(front.token('jane')).toString('base64url')}`;
    const head = ['GET /apis/small.test.dev/v1/echo HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket'];
    socket.write(`${[...head, `Sec-WebSocket-Protocol: ${token}, v5.channel.k8s.io`].join('\r\n')}\r\n\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 101 /);
    socket.destroy();
    const { headers } = seen.find(({ url }) => url?.endsWith('/echo')) ?? {};
    expect(headers).toMatchObject({ 'x-remote-user': 'jane', 'sec-websocket-protocol': 'v5.channel.k8s.io' });
  });

  it('is rejected with a certificate of another name or authority', async () => {
    await register('untrusted.test.dev', portOf(extension), { caBundle: Buffer.from(frontProxy.pair.cert).toString('base64') });
    await vi.waitFor(
      async () =>
        expect(await available('v1.untrusted.test.dev')).toMatchObject({
          status: 'False',
          reason: 'FailedDiscoveryCheck',
          message: expect.stringMatching(
            /^failing or missing response from https:\/\/localhost:\d+\/apis\/untrusted.test.dev\/v1: Get "https:.*": tls: failed to verify certificate: x509: certificate signed by unknown authority$/,
          ),
        }),
      waiting,
    );
  });

  it('answers 503 while its server is down, does not affect other groups, and recovers', async () => {
    const port = portOf(extension);
    await extension[Symbol.asyncDispose]();
    const unreachable = await call(widgets.path());
    expect(unreachable).toMatchObject({ code: 503, type: 'text/plain; charset=utf-8' });
    expect(unreachable.body['text']).toMatch(
      /^(error trying to reach service: dial tcp .*: connect: connection refused|service unavailable)\n$/,
    );
    expect(await call('/api/v1/namespaces')).toMatchObject({ code: 200 });
    expect(await call('/apis')).toMatchObject({ code: 200 });
    // Changing the service triggers the check, which otherwise runs every 30 seconds.
    await call('/api/v1/namespaces/default/services/ext', {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { metadata: { labels: { touched: 'yes' } } },
    });
    await vi.waitFor(
      async () => expect(await available(`v1.${widgets.group}`)).toMatchObject({ status: 'False', reason: 'FailedDiscoveryCheck' }),
      waiting,
    );
    await vi.waitFor(
      async () => expect(await call(widgets.path())).toMatchObject({ code: 503, body: { text: 'service unavailable\n' } }),
      waiting,
    );
    extension = await startExtension(port);
    await vi.waitFor(async () => expect(await call(`${widgets.path()}/a`)).toMatchObject({ code: 200, body: { spec: { n: 1 } } }), waiting);
  }, 40_000);

  it('disappears with its APIService', async () => {
    await call(`${apiServices}/v1.small.test.dev`, { method: 'DELETE' });
    await vi.waitFor(async () => expect(await call('/apis/small.test.dev/v1')).toMatchObject({ code: 404 }), waiting);
    const { body } = await call('/apis');
    expect((body['groups'] as Json[]).map(({ name }) => name)).not.toContain('small.test.dev');
  });
});
