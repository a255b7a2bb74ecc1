import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../../scripts/free-port.ts';
import { flagsForServer, startEtcdStandIn } from './etcd-stand-in.ts';

it('is healthy at each of its URLs, and stores nothing', async () => {
  const urls = [`http://127.0.0.1:${await freePort()}`, `http://localhost:${await freePort()}`];
  await using _server = await startEtcdStandIn(['--data-dir=/tmp', `--listen-client-urls=${urls.join(',')}`, '--unsafe-no-fsync=true']);
  for (const url of urls) {
    const response = await fetch(`${url}/health`);
    expect([response.status, await response.json()]).toEqual([200, { health: 'true', reason: '' }]);
    expect((await fetch(`${url}/v3/kv/range`, { method: 'POST' })).status).toBe(404);
  }
});

it('rejects URLs on which it cannot listen', async () => {
  await expect(startEtcdStandIn(['--listen-client-urls', 'https://127.0.0.1:1'])).rejects.toThrow(
    '--listen-client-urls: "https://127.0.0.1:1" must be http://HOST:PORT',
  );
});

describe('a kube-apiserver', () => {
  const memory = ['--storage-backend=memory', '--exit-with-parent'];

  it.each([
    { what: 'by =', flags: (url: string) => [`--etcd-servers=${url}`, '--v=1'], kept: ['--v=1'] },
    { what: 'in a separate argument', flags: (url: string) => ['--v=1', '--etcd-servers', url, '--v=2'], kept: ['--v=1', '--v=2'] },
    { what: 'last', flags: (url: string) => ['--etcd-servers=http://127.0.0.1:1', `--etcd-servers=${url}`], kept: [] },
    { what: 'with other etcd flags', flags: (url: string) => [`--etcd-servers=${url}`, '--etcd-prefix=/test'], kept: [] },
  ])('keeps its objects in memory if its flags name a stand-in $what', async ({ flags, kept }) => {
    const url = `http://127.0.0.1:${await freePort()}`;
    await using _server = await startEtcdStandIn([`--listen-client-urls=${url}`]);
    expect(await flagsForServer(flags(url))).toEqual([...kept, ...memory]);
  });

  it('keeps its flags if the URL belongs to another server or none', async () => {
    const server = createServer((_request, response) => response.end('{"health":"true"}')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const other = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const flags of [
      [`--etcd-servers=${other}`],
      [`--etcd-servers=http://127.0.0.1:${await freePort()}`],
      ['--etcd-servers=unix:///x'],
      ['--help'],
    ])
      expect(await flagsForServer(flags)).toEqual(flags);
    server.close();
  });
});
