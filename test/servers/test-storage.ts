import { etcd, noEtcd, startEtcd } from './etcd-server.ts';
import { noRedis, redisServer, startRedis } from './redis-server.ts';

/**
 * vitest's global set-up: with `TEST_STORAGE=redis` or `etcd`, one server for all tests of the run, in which each test cluster has a store
 * of its own. Rejects where there is none: who asks for a backend is not to test another.
 */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  const name = process.env['TEST_STORAGE'];
  if (name === undefined || name === '' || name === 'embedded') return undefined;
  const server = await start(name);
  process.env['KUBENEST_TEST_STORAGE'] = server.url;
  return async () => server[Symbol.asyncDispose]();
}

async function start(name: string): Promise<{ readonly url: string } & AsyncDisposable> {
  if (name === 'redis') {
    if (redisServer === undefined) throw new Error(noRedis);
    return startRedis();
  }
  if (name === 'etcd') {
    if (etcd === undefined) throw new Error(noEtcd);
    return startEtcd();
  }
  throw new Error(`TEST_STORAGE is ${JSON.stringify(name)}, it must be embedded, redis or etcd`);
}
