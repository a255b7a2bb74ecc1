import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noRedis, type RedisServer, redisServer, startRedis } from '../../../test/servers/redis-server.ts';
import { storageConformance } from '#apiserver/storage/conformance';
import { RedisStorage } from './redis-storage.ts';

if (redisServer === undefined) it('needs a redis-server', ({ skip }) => skip(noRedis));
else {
  describe('redis', () => {
    let server: RedisServer;
    let stores = 0;
    beforeAll(async () => {
      server = await startRedis();
    });
    afterAll(() => server[Symbol.asyncDispose]());

    storageConformance('redis', async () => {
      const prefix = `store${++stores}`;
      const opened: RedisStorage[] = [];
      const open = async (): Promise<RedisStorage> => {
        const storage = await RedisStorage.open({ url: server.url, prefix, compactionIntervalMs: 0 });
        opened.push(storage);
        return storage;
      };
      return {
        storage: await open(),
        async reopen() {
          await opened.at(-1)?.close();
          return open();
        },
        async cleanup() {
          for (const storage of opened) await storage.close();
        },
      };
    });
  });

  it.each([
    { name: 'no log', settings: ['--appendonly', 'no'], says: /appendonly no, and acknowledged writes last only with appendonly yes/ },
    { name: 'a log that is synced each second', settings: ['--appendonly', 'yes'], says: /appendfsync everysec/ },
    {
      name: 'a policy that evicts',
      settings: ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'allkeys-lru'],
      says: /maxmemory-policy allkeys-lru/,
    },
    { name: 'a cluster', settings: ['--cluster-enabled', 'yes'], says: /a Redis Cluster cannot hold the store/ },
  ])('a server with $name is refused', async ({ settings, says }) => {
    await using server = await startRedis(settings);
    await expect(RedisStorage.open({ url: server.url })).rejects.toThrow(says);
  });

  it('a server that is not there is refused', async () => {
    await expect(RedisStorage.open({ url: 'redis://127.0.0.1:1' })).rejects.toThrow(/redis cannot be reached/);
  });
}
