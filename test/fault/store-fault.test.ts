import { expect, it } from 'vitest';
import { etcd, noEtcd } from '../servers/etcd-server.ts';
import { noRedis, redisServer } from '../servers/redis-server.ts';
import { runStoreFaultTest } from './store-fault-test.ts';

/** The rest, more often and for longer: see store-fault-test.ts. */
const faults = ['kill a server', 'kill the store', 'pause a server', 'cut the network', 'compact every 100 ms'];

for (const { backend, absent } of [
  { backend: 'redis', absent: redisServer === undefined ? noRedis : undefined },
  { backend: 'etcd', absent: etcd === undefined ? noEtcd : undefined },
] as const) {
  it(`two servers on one ${backend} lose nothing, and show nothing that is not so`, { timeout: 180_000 }, async ({ skip }) => {
    if (absent) return skip(absent);
    const seed = Date.now() % 2 ** 31;
    const { violations, acknowledged, rounds, folder } = await runStoreFaultTest({ backend, seed, rounds: 5, faults, pauseMs: 1_000 });
    expect(violations, `seed ${seed}, kept in ${folder}`).toEqual([]);
    expect(rounds).toHaveLength(5);
    expect(acknowledged).toBeGreaterThan(100);
  });
}
