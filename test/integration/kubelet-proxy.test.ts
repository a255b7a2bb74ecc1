import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueServingCertificate } from '#testing/serving-certificate';
import { startTestCluster, type TestCluster } from '#testing/index';
import { askWebSocket } from './websocket-client.ts';

/** A local address other than loopback, which proxying forbids. */
const own = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .find(({ family, internal, address }) => family === 'IPv4' && !internal && !address.startsWith('169.254.'))?.address;

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}
const seen: Seen[] = [];

const answers: Readonly<Record<string, (response: http.ServerResponse) => void>> = {
  '/containerLogs/default/p/c': (response) => response.end('line 1\nline 2\n'),
  '/containerLogs/default/broken/c': (response) => response.writeHead(500).end('disk on fire'),
  '/containerLogs/default/gone/c': (response) => response.writeHead(404).end('no such container'),
  '/redirect': (response) => response.writeHead(302, { Location: '/elsewhere' }).end(),
  '/away': (response) => response.writeHead(302, { Location: 'https://example.com/x' }).end(),
  '/teapot': (response) =>
    response.writeHead(418, { 'X-Own': 'yes', Connection: 'X-Own-Hop', 'Set-Cookie': ['a=1', 'b=2'] }).end('short and stout'),
};

async function serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of request) body += chunk;
  seen.push({ method: request.method, url: request.url, headers: request.headers, body });
  const answer = answers[(request.url ?? '').split('?', 1)[0] as string];
  if (answer) answer(response);
  else response.end(`${request.method} ${request.url}`);
}

function upgrade(request: http.IncomingMessage, socket: Duplex): void {
  seen.push({ method: request.method, url: request.url, headers: request.headers, body: '' });
  if (request.url?.startsWith('/attach/')) {
    socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 6\r\n\r\nno way');
    return;
  }
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n');
  socket.on('data', (bytes: Buffer) => socket.write(`echo ${bytes.toString()}`));
  socket.on('error', () => {});
}

let cluster: TestCluster;
let kubelet: https.Server;
let plain: http.Server;
const post = (path: string, body: object): Promise<Response> => cluster.fetch(path, { body });
const patch = (path: string, body: object): Promise<Response> =>
  cluster.fetch(path, { method: 'PATCH', body, headers: { 'content-type': 'application/merge-patch+json' } });

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

beforeAll(async () => {
  cluster = await startTestCluster({ listen: true, users: [{ name: 'reader' }, { name: 'runner' }] });
  kubelet = https
    .createServer({ ...(await issueServingCertificate()) }, (request, response) => void serve(request, response))
    .on('upgrade', upgrade)
    .listen(0, '0.0.0.0');
  plain = http.createServer((request, response) => void serve(request, response)).listen(0, '0.0.0.0');
  await Promise.all([once(kubelet, 'listening'), once(plain, 'listening')]);
  const node = async (name: string, address: string, Port: number): Promise<void> => {
    await post('/api/v1/nodes', { metadata: { name } });
    await patch(`/api/v1/nodes/${name}/status`, {
      status: { addresses: [{ type: 'InternalIP', address }], daemonEndpoints: { kubeletEndpoint: { Port } } },
    });
  };
  const port = (kubelet.address() as AddressInfo).port;
  await node('local', '127.0.0.1', port);
  await node('own', own ?? '127.0.0.1', port);
  await node('down', '127.0.0.1', await closedPort());
  for (const [name, nodeName] of [
    ['p', 'local'],
    ['broken', 'local'],
    ['gone', 'local'],
    ['unreachable', 'down'],
    ['lost', 'none'],
    ['unassigned', undefined],
  ]) {
    await post('/api/v1/namespaces/default/pods', {
      metadata: { name },
      spec: { nodeName, containers: [{ name: 'c', image: 'i', ports: [{ containerPort: (plain.address() as AddressInfo).port }] }] },
    });
  }
  await patch('/api/v1/namespaces/default/pods/p/status', { status: { podIP: own ?? '127.0.0.1', podIPs: [{ ip: own ?? '127.0.0.1' }] } });
  for (const [user, verb] of [
    ['reader', 'get'],
    ['runner', 'create'],
  ]) {
    const name = `exec-${verb}`;
    await post('/apis/rbac.authorization.k8s.io/v1/clusterroles', {
      metadata: { name },
      rules: [{ apiGroups: [''], resources: ['pods/exec', 'pods/attach'], verbs: [verb] }],
    });
    await post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    });
  }
});
afterAll(async () => {
  kubelet.closeAllConnections();
  kubelet.close();
  plain.closeAllConnections();
  plain.close();
  await cluster[Symbol.asyncDispose]();
});

const pods = '/api/v1/namespaces/default/pods';

describe('logs', () => {
  it('are proxied from the kubelet', async () => {
    const response = await cluster.fetch(`${pods}/p/log?tailLines=2&follow=true&sinceTime=2020-01-01T01:00:00%2B01:00`);
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([200, 'text/plain', 'line 1\nline 2\n']);
    expect(seen.at(-1)?.url).toBe('/containerLogs/default/p/c?follow=true&sinceTime=2020-01-01T00%3A00%3A00Z&tailLines=2');
    expect(seen.at(-1)?.headers['authorization']).toBeUndefined();
  });

  it.each([
    ['', [0x82, Buffer.from('line 1\nline 2\n')]],
    ['binary.k8s.io', [0x82, Buffer.from('line 1\nline 2\n')]],
    ['unknown, base64.binary.k8s.io', [0x81, Buffer.from(Buffer.from('line 1\nline 2\n').toString('base64'))]],
  ] as const)('are available over WebSocket with subprotocol %j', async (protocols, [opcode, payload]) => {
    const { status, headers, frames } = await askWebSocket(cluster, `${pods}/p/log`, {
      'Sec-WebSocket-Protocol': protocols,
      Origin: undefined,
    });
    expect([status, headers.at(-1)]).toEqual(['101 Switching Protocols', `Sec-WebSocket-Protocol: ${protocols.split(', ').at(-1)}`]);
    expect(frames).toEqual([
      { opcode, payload: Buffer.alloc(0) },
      { opcode, payload },
      { opcode: 0x88, payload: Buffer.from([3, 232]) },
    ]);
  });

  it('are rejected over WebSocket with an unknown subprotocol', async () => {
    expect((await askWebSocket(cluster, `${pods}/p/log`, { 'Sec-WebSocket-Protocol': 'v4.channel.k8s.io' })).status).toBe('403 Forbidden');
  });

  it('are empty while the pod has no node', async () => {
    expect((await cluster.fetch(`${pods}/unassigned/log`)).status).toBe(204);
  });

  it.each([
    { pod: 'broken', code: 500, message: 'Internal error occurred: disk on fire' },
    { pod: 'gone', code: 404, message: 'the server could not find the requested resource' },
    {
      pod: 'unreachable',
      code: 500,
      message:
        /^Get "https:\/\/127\.0\.0\.1:\d+\/containerLogs\/default\/unreachable\/c": dial tcp 127\.0\.0\.1:\d+: connect: connection refused$/,
    },
    { pod: 'lost', code: 404, message: 'pods "none" not found' },
  ])('report errors of the kubelet: $pod', async ({ pod, code, message }) => {
    const body = (await (await cluster.fetch(`${pods}/${pod}/log`)).json()) as { code: number; message: string };
    expect(body.code).toBe(code);
    expect(body.message).toMatch(message);
  });
});

/** Requests an upgrade. Returns the response head and the connection. */
async function askUpgrade(path: string, user: string, method = 'GET', body = ''): Promise<{ head: string; socket: tls.TLSSocket }> {
  const { hostname, port } = new URL(cluster.url as string);
  const socket = tls.connect({
    host: hostname,
    port: Number(port),
    ca: cluster.certificateAuthority,
    servername: 'localhost',
    ALPNProtocols: ['http/1.1'],
  });
  await once(socket, 'secureConnect');
  socket.write(
    `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${cluster.token(user)}\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\nX-Remote-User: root\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  return { head: bytes.toString(), socket };
}

describe('exec and similar subresources', () => {
  it('proxy a stream to the kubelet', async () => {
    const { head, socket } = await askUpgrade(`${pods}/p/exec?command=echo&command=a+b&stdin=true&container=c`, 'admin', 'POST');
    expect(head).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
    expect(seen.at(-1)?.url).toBe('/exec/default/p/c?command=echo&command=a+b&error=1&input=1&output=1');
    const { headers } = seen.at(-1) as Seen;
    expect([headers['authorization'], headers['x-remote-user'], headers['x-stream-protocol-version'], headers['upgrade']]).toEqual([
      undefined,
      undefined,
      'v4.channel.k8s.io',
      'SPDY/3.1',
    ]);
    socket.write('hello');
    expect(String((await once(socket, 'data'))[0])).toBe('echo hello');
    socket.destroy();
  });

  it('close the connection when the kubelet refuses', async () => {
    const { head, socket } = await askUpgrade(`${pods}/p/attach`, 'admin', 'POST');
    expect(head).toMatch(/^HTTP\/1\.1 403 /);
    if (!socket.closed) await once(socket, 'close');
    expect(seen.at(-1)?.url).toBe('/attach/default/p/c?error=1&output=1');
  });

  it.each([
    { user: 'reader', path: 'exec', status: '403' },
    { user: 'runner', path: 'portforward', status: '403' },
  ])('as $user with GET of $path: $status', async ({ user, path, status }) => {
    const { head, socket } = await askUpgrade(`${pods}/p/${path}?command=ls`, user);
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    socket.destroy();
  });

  it('port forwarding sends its ports', async () => {
    const { socket } = await askUpgrade(`${pods}/p/portforward?ports=80&ports=81`, 'admin', 'POST');
    expect(seen.at(-1)?.url).toBe('/portForward/default/p?port=80%2C81');
    socket.destroy();
  });

  it('an upgrade of another subresource is answered', async () => {
    const { head, socket } = await askUpgrade('/api/v1/namespaces/default', 'admin');
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    socket.destroy();
  });

  it('an upgrade with a body is answered', async () => {
    const body = JSON.stringify({ metadata: { name: 'upgraded' } });
    const { head, socket } = await askUpgrade('/api/v1/namespaces', 'admin', 'POST', body);
    expect(head).toMatch(/^HTTP\/1\.1 201 Created\r\n/);
    socket.destroy();
  });

  it.each([
    { path: 'p/exec?command=ls', message: 'Upgrade request required' },
    { path: 'unassigned/exec?command=ls', message: 'pod unassigned does not have a host assigned' },
    { path: 'p/exec?container=x', message: 'container x is not valid for pod p' },
  ])('rejects $path', async ({ path, message }) => {
    const body = (await (await cluster.fetch(`${pods}/${path}`)).json()) as { code: number; message: string };
    expect([body.code, body.message]).toEqual([400, message]);
  });

  it('reports an unreachable kubelet', async () => {
    const { head, socket } = await askUpgrade(`${pods}/unreachable/exec?command=ls`, 'admin', 'POST');
    expect(head).toMatch(/^HTTP\/1\.1 500 /);
    expect(head).toMatch(/error dialing backend: dial tcp 127\.0\.0\.1:\d+: connect: connection refused/);
    socket.destroy();
  });
});

// Upstream refuses to proxy to loopback, so the test requires another local address.
describe.skipIf(own === undefined)('proxies (to a local address other than loopback)', () => {
  it.each([
    { name: 'to a pod', path: `${pods}/p/proxy`, via: '' },
    { name: 'to a node', path: '/api/v1/nodes/own/proxy', via: '' },
  ])('$name', async ({ path }) => {
    const response = await cluster.fetch(`${path}/a%2Fb/c/?q=1`, {
      method: 'PUT',
      body: 'text',
      headers: { 'x-remote-user': 'root', 'impersonate-x': 'y', 'x-kept': 'yes' },
    });
    expect(await response.text()).toBe('PUT /a/b/c/?q=1');
    const { headers, body } = seen.at(-1) as Seen;
    expect(body).toBe('text');
    expect([headers['authorization'], headers['x-remote-user'], headers['impersonate-x'], headers['x-kept']]).toEqual([
      undefined,
      undefined,
      undefined,
      'yes',
    ]);
    expect(headers['x-forwarded-uri']).toBe(`${path}/a/b/c/`);
  });

  it('forward the response unchanged', async () => {
    const response = await cluster.fetch(`${pods}/p/proxy/teapot`);
    expect([response.status, response.headers.get('x-own'), await response.text()]).toEqual([418, 'yes', 'short and stout']);
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  });

  it('rewrite redirects to the proxy', async () => {
    const location = async (path: string): Promise<string | null> => (await cluster.fetch(path)).headers.get('location');
    expect(await location(`${pods}/p/proxy/redirect`)).toBe(`${pods}/p/proxy/elsewhere`);
    expect(await location(`${pods}/p/proxy/away`)).toBe('https://example.com/x');
    expect(await location(`${pods}/p/proxy?a=b`)).toBe(`${pods}/p/proxy/?a=b`);
  });

  it('to a service select one of its pods', async () => {
    const { port } = plain.address() as AddressInfo;
    await post('/api/v1/namespaces/default/services', { metadata: { name: 's' }, spec: { ports: [{ name: 'web', port: 80 }] } });
    await post('/api/v1/namespaces/default/endpoints', {
      metadata: { name: 's' },
      subsets: [
        {
          addresses: [
            { ip: '10.9.9.9' },
            { ip: own, targetRef: { kind: 'Pod', name: 'p', namespace: 'default' } },
            { ip: '10.9.9.8', targetRef: { kind: 'Pod', name: 'p', namespace: 'default' } },
          ],
          ports: [{ name: 'web', port }],
        },
      ],
    });
    for (const id of ['s:80', 's:web', 'http:s:web']) {
      expect(await (await cluster.fetch(`/api/v1/namespaces/default/services/${id}/proxy/x`)).text()).toBe('GET /x');
    }
    expect(
      ((await (await cluster.fetch('/api/v1/namespaces/default/services/s:other/proxy/x')).json()) as { message: string }).message,
    ).toBe('no endpoints available for service "s:other"');
  });
});

it.each([
  { path: '/api/v1/nodes/local/proxy/', code: 400, message: 'address not allowed' },
  { path: '/api/v1/nodes/none/proxy/', code: 404, message: 'nodes "none" not found' },
  { path: `${pods}/lost/proxy/`, code: 400, message: 'address not allowed' },
  { path: `${pods}/ftp:p:80/proxy/`, code: 400, message: 'invalid pod request "ftp:p:80"' },
  { path: '/api/v1/namespaces/default/services/a:b:c:d/proxy/', code: 400, message: 'invalid service request "a:b:c:d"' },
  { path: '/api/v1/namespaces/default/services/none/proxy/', code: 404, message: 'services "none" not found' },
])('$path: $message', async ({ path, code, message }) => {
  const body = (await (await cluster.fetch(path)).json()) as { code: number; message: string };
  expect([body.code, body.message]).toEqual([code, message]);
});
