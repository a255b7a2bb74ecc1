import { etcd, noEtcd, startEtcd } from './etcd-server.ts';
import { noRedis, redisServer, startRedis } from './redis-server.ts';

/**
 * vitest's global set-up: with `TEST_STORAGE=redis` or `etcd`, starts one server for all tests of the run, in which each
 * test cluster has its own store. Rejects if the backend is unavailable, so that a run never silently tests another one.
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
  throw new Error(`TEST_STORAGE: unknown backend ${JSON.stringify(name)}: expected embedded, redis or etcd`);
}
