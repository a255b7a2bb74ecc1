import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { freePort } from '../../../scripts/free-port.ts';
import { flagValue, isEtcdStandIn, startEtcdStandIn } from './etcd-stand-in.ts';

it('is healthy at each of its URLs, and known as a stand-in', async () => {
  const urls = [`http://127.0.0.1:${await freePort()}`, `http://localhost:${await freePort()}`];
  {
    await using _server = await startEtcdStandIn(['--data-dir=/tmp', `--listen-client-urls=${urls.join(',')}`, '--unsafe-no-fsync=true']);
    for (const url of urls) {
      const response = await fetch(`${url}/health`);
      expect([response.status, await response.json()]).toEqual([200, { health: 'true', reason: '' }]);
      expect(await isEtcdStandIn(url)).toBe(true);
      expect((await fetch(`${url}/v3/kv/range`, { method: 'POST' })).status).toBe(404);
    }
  }
  expect(await isEtcdStandIn(urls[0] as string)).toBe(false);
});

it('takes another server for no stand-in', async () => {
  const server = createServer((_request, response) => response.end('{"health":"true"}')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  expect(await isEtcdStandIn(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)).toBe(false);
  expect(await isEtcdStandIn('unix:///nowhere')).toBe(false);
  server.close();
});

it('refuses URLs that it cannot listen on', async () => {
  await expect(startEtcdStandIn(['--listen-client-urls', 'https://127.0.0.1:1'])).rejects.toThrow(
    '--listen-client-urls: "https://127.0.0.1:1" must be http://HOST:PORT',
  );
});

it.each([
  { args: ['--a=1', '--b=2'], value: '1' },
  { args: ['--a', '1', '--a', '3'], value: '3' },
  { args: ['--a=1', '--a', '2'], value: '2' },
  { args: ['--ab=1', 'a'], value: undefined },
])('the flag --a of $args is $value', ({ args, value }) => {
  expect(flagValue(args, '--a')).toBe(value);
});
