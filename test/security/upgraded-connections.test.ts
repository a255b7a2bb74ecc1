import { once } from 'node:events';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';
import { handshake } from '../integration/websocket-client.ts';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster({ listen: true });
});
afterAll(() => cluster[Symbol.asyncDispose]());

/** Sends a request, never closes the client's side, and writes until that fails, because the server has closed the connection. */
async function untilClosed(path: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const { hostname, port } = new URL(cluster.url as string);
  const ca = cluster.certificateAuthority;
  const socket = tls.connect({
    host: hostname,
    port: Number(port),
    ca,
    servername: 'localhost',
    ALPNProtocols: ['http/1.1'],
    allowHalfOpen: true,
  } as tls.ConnectionOptions);
  await once(socket, 'secureConnect');
  const lines = Object.entries({ Host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}`);
  socket.write([`GET ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => {});
  await once(socket, 'end');
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const writing = setInterval(() => socket.write('.'), 50);
  await closed;
  clearInterval(writing);
  return Buffer.concat(chunks).toString('latin1').split('\r\n', 1)[0] ?? '';
}

describe('the server closes a connection whose client does not, after', () => {
  const admin = (): Record<string, string> => ({ ...handshake, Authorization: `Bearer ${cluster.token('admin')}` });

  it.each<{ name: string; path: string; headers: () => Record<string, string>; status: string }>([
    {
      name: 'an upgrade without credentials',
      path: '/api/v1/pods',
      headers: () => ({ ...handshake, Authorization: 'Bearer wrong' }),
      status: '401 Unauthorized',
    },
    {
      name: 'a refused handshake',
      path: '/api/v1/configmaps?watch=true',
      headers: () => ({ ...admin(), 'Sec-WebSocket-Version': '9' }),
      status: '400 Bad Request',
    },
    {
      name: 'the end of a watch',
      path: '/api/v1/configmaps?watch=true&timeoutSeconds=1',
      headers: admin,
      status: '101 Switching Protocols',
    },
    {
      name: 'an upgrade of an unknown pod',
      path: '/api/v1/namespaces/default/pods/none/exec?command=ls',
      headers: admin,
      status: '404 Not Found',
    },
  ])('$name', async ({ path, headers, status }) => {
    expect(await untilClosed(path, headers())).toBe(`HTTP/1.1 ${status}`);
  });
});
