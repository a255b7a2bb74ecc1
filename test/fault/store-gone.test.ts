import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Kubenest } from '../servers/kubenest.ts';
import { noRedis, type RedisServer, redisServer, startRedis } from '../servers/redis-server.ts';

/** Maximum duration of shutdown hooks, backends and open connections. Pending requests have another minute. */
const endsWithinMs = 27_000;
const configMap = { metadata: { name: 'a' } };
const configMaps = '/api/v1/namespaces/default/configmaps';

if (redisServer === undefined) it('requires redis-server', ({ skip }) => skip(noRedis));
else
  describe('SIGTERM while the store', () => {
    let redis: RedisServer;
    let server: Kubenest;
    let folder: string;
    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), 'store-gone-'));
      redis = await startRedis();
      server = await Kubenest.start(folder, ['--storage-backend=redis', `--redis-url=${redis.url}`]);
    });
    afterEach(async () => {
      redis.child.kill('SIGCONT');
      await server[Symbol.asyncDispose]();
      await redis[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    });

    it.each<[string, (child: RedisServer['child']) => unknown]>([
      ['does not answer', (child) => child.kill('SIGSTOP')],
      ['is gone', (child) => child.kill('SIGKILL')],
    ])(
      '%s ends the server',
      async (_, happens) => {
        expect((await server.fetch(configMaps, { method: 'POST', body: configMap })).status).toBe(201);
        happens(redis.child);
        const began = performance.now();
        await server.kill('SIGTERM');
        expect(performance.now() - began).toBeLessThan(endsWithinMs);
      },
      60_000,
    );
  });
