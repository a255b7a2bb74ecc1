import { expect, it } from 'vitest';
import { etcd, noEtcd } from '../servers/etcd-server.ts';
import { noRedis, redisServer } from '../servers/redis-server.ts';
import { faults, runStoreFaultTest } from './store-fault-test.ts';

/** For longer runs see store-fault-test.ts. */
const names = Object.keys(faults);

for (const { backend, absent } of [
  { backend: 'redis', absent: redisServer === undefined ? noRedis : undefined },
  { backend: 'etcd', absent: etcd === undefined ? noEtcd : undefined },
] as const) {
  it(`two servers on one ${backend} lose no data and return no wrong state`, { timeout: 240_000 }, async ({ skip }) => {
    if (absent) return skip(absent);
    const seed = Date.now() % 2 ** 31;
    const { violations, acknowledged, watches, rounds, folder } = await runStoreFaultTest({
      ...{ backend, seed, rounds: names.length, faults: names, pauseSeconds: [1, 2] },
    });
    expect(violations, `seed ${seed}, kept in ${folder}`).toEqual([]);
    expect(rounds.map(({ fault }) => fault)).toEqual(names);
    expect(acknowledged).toBeGreaterThan(100);
    expect(watches.lists).toBeGreaterThan(20);
    expect(watches.bookmarks).toBeGreaterThan(5);
    expect(watches.resumptions).toBeGreaterThan(5);
  });
}
