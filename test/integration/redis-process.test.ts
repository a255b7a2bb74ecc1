/** Tests bin/kubenest on a redis: its output and its flags. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { Authority } from '#cmd/certificates/issue';
import { freePort } from '../../scripts/free-port.ts';
import { Kubenest } from '../servers/kubenest.ts';
import { startProxy } from '../servers/proxy.ts';
import { durable, noRedis, redisServer, startRedis } from '../servers/redis-server.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';

function newFolder(): AsyncDisposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'redis-process-'));
  return { path, [Symbol.asyncDispose]: async () => rmSync(path, { recursive: true, force: true }) };
}

async function create(server: Kubenest, name: string): Promise<number> {
  return (await server.fetch(configMaps, { body: { metadata: { name } } })).status;
}

async function text(server: Kubenest, path: string): Promise<string> {
  return String((await server.fetch(path)).body);
}

if (redisServer === undefined) it('requires redis-server', ({ skip }) => skip(noRedis));
else {
  it('changed settings are reported by /readyz?verbose, the metric and the log, and a loss by the log and a metric', async () => {
    await using folder = newFolder();
    let redis = await startRedis();
    await using stack = new AsyncDisposableStack();
    stack.defer(() => redis[Symbol.asyncDispose]());
    const flags = ['--storage-backend=redis', `--redis-url=${redis.url}`, '--redis-accept-data-loss'];
    await using server = await Kubenest.start(folder.path, flags);
    expect(await text(server, '/readyz?verbose')).toContain('[+]storage-durable ok');
    redis.command('CONFIG', 'SET', 'appendfsync', 'no');
    redis.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await vi.waitFor(async () => expect(await text(server, '/readyz?verbose')).toContain('[+]storage-may-lose-acknowledged-writes ok'));
    expect(await text(server, '/metrics')).toMatch(/^kubenest_storage_durable 0$/m);
    await vi.waitFor(() => expect(server.log.split('redis has appendfsync no')).toHaveLength(2));
    expect(await create(server, 'a')).toBe(201);
    await redis.kill();
    rmSync(join(redis.folder, 'appendonlydir'), { recursive: true });
    redis = await redis.restart();
    await vi.waitFor(async () => expect(await text(server, '/metrics')).toMatch(/^kubenest_storage_losses_total 1$/m));
    await vi.waitFor(() => expect(server.log).toMatch(/"level":40.*lacks writes that it may have acknowledged/));
  }, 60_000);

  it('TLS with certificates on both sides, and a user with minimal permissions, are configured by flags', async () => {
    await using folder = newFolder();
    const authority = await Authority.create('redis-test');
    const own = await authority.issue({ commonName: 'redis', names: ['127.0.0.1'], usages: ['server'] });
    const client = await authority.issue({ commonName: 'kubenest', usages: ['client'] });
    const file = (name: string, content: string): string => {
      writeFileSync(join(folder.path, name), content);
      return join(folder.path, name);
    };
    const ca = file('ca', authority.pair.cert);
    const port = await freePort();
    const tls = ['--tls-port', String(port), '--tls-cert-file', file('cert', own.cert), '--tls-key-file', file('key', own.key)];
    await using redis = await startRedis([...durable, ...tls, '--tls-ca-cert-file', ca]);
    const rights = ['-@all', '+@read', '+@write', '+@scripting', '+@connection', '+info', '+config|get', '+time'];
    redis.command('ACL', 'SETUSER', 'store', 'on', '>secret', '~tls:*', ...rights);
    redis.command('ACL', 'SETUSER', 'default', 'off');
    const flags = ['--storage-backend=redis', `--redis-url=rediss://store:secret@127.0.0.1:${port}/0`, '--redis-key-prefix=tls'];
    const shown = [`--redis-certfile=${file('client', client.cert)}`, `--redis-keyfile=${file('client-key', client.key)}`];
    await using server = await Kubenest.start(folder.path, [...flags, `--redis-cafile=${ca}`, ...shown]);
    expect(await create(server, 'a')).toBe(201);
    expect((await server.fetch(`${configMaps}/a`)).status).toBe(200);
    expect(await text(server, '/readyz?verbose')).toContain('[+]storage-durable ok');
    await server.kill('SIGKILL');
    await expect(Kubenest.start(folder.path, [...flags, ...shown])).rejects.toThrow(/redis cannot be reached: .*certificate/);
    await expect(Kubenest.start(folder.path, [...flags, `--redis-cafile=${ca}`])).rejects.toThrow(
      /kubenest ended: kubenest serve: storage: redis/,
    );
  }, 60_000);

  describe('a server that cannot start prints the reason in one line', () => {
    it.each([
      {
        name: 'without the password',
        url: (port: number) => `redis://127.0.0.1:${port}`,
        says: 'storage: redis: NOAUTH Authentication required.',
      },
      {
        name: 'with a wrong password',
        url: (port: number) => `redis://:guessed@127.0.0.1:${port}`,
        says: 'storage: redis: WRONGPASS invalid username-password pair or user is disabled.',
      },
      {
        name: 'with a missing database',
        url: (port: number) => `redis://:secret@127.0.0.1:${port}/99`,
        says: 'storage: redis: ERR DB index is out of range',
      },
      {
        name: 'with an unused port',
        url: () => 'redis://127.0.0.1:1',
        says: 'storage: redis cannot be reached: connect ECONNREFUSED 127.0.0.1:1',
      },
    ])('$name', async ({ url, says }) => {
      await using folder = newFolder();
      await using redis = await startRedis();
      redis.command('CONFIG', 'SET', 'requirepass', 'secret');
      const start = Kubenest.start(folder.path, ['--storage-backend=redis', `--redis-url=${url(redis.port)}`]);
      await expect(start).rejects.toThrow(new Error(`kubenest ended: kubenest serve: ${says}\n`));
    });

    it('on a Redis Cluster', async () => {
      await using folder = newFolder();
      await using redis = await startRedis([...durable, '--cluster-enabled', 'yes']);
      const start = Kubenest.start(folder.path, ['--storage-backend=redis', `--redis-url=${redis.url}`]);
      const says = 'storage: Redis Cluster is not supported; use one master with replicas';
      await expect(start).rejects.toThrow(new Error(`kubenest ended: kubenest serve: ${says}\n`));
    });
  });

  it('errors about an unreachable redis contain no library internals', async () => {
    await using folder = newFolder();
    await using redis = await startRedis();
    await using proxy = await startProxy(redis.port);
    await using server = await Kubenest.start(folder.path, ['--storage-backend=redis', `--redis-url=redis://127.0.0.1:${proxy.port}`]);
    proxy.hold();
    const write = server.fetch(configMaps, { body: { metadata: { name: 'a' } } });
    await new Promise((resolve) => setTimeout(resolve, 500));
    proxy.cut();
    const answers = [await write, await server.fetch(configMaps, { body: { metadata: { name: 'b' } } }), await server.fetch(configMaps)];
    expect(answers.map(({ status }) => status).filter((status) => status < 500)).toEqual([]);
    expect(JSON.stringify(answers)).not.toMatch(/retries|ioredis|Stream|OfflineQueue/);
  }, 30_000);
}
