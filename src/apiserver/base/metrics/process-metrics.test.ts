import { once } from 'node:events';
import { createServer } from 'node:net';
import { Registry } from 'prom-client';
import { expect, it, vi } from 'vitest';
import { registerProcessMetrics } from './process-metrics.ts';

it('reads process metrics on demand', async () => {
  const registry = new Registry();
  registerProcessMetrics(registry);
  const value = async (name: string): Promise<number> => {
    const line = (await registry.metrics()).split('\n').find((each) => each.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1) ?? 0);
  };
  const servers = 'nodejs_active_resources{type="TCPServerWrap"}';
  const before = await value(servers);
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  expect(await value(servers)).toBe(before + 1);
  server.close();
  await once(server, 'close');
  await vi.waitFor(async () => expect(await value(servers)).toBe(before));
  for (const name of ['process_resident_memory_bytes', 'nodejs_heap_size_used_bytes', 'nodejs_external_memory_bytes'])
    expect(await value(name), name).toBeGreaterThan(1_000_000);
});
