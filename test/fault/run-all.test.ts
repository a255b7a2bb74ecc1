import { describe, expect, it } from 'vitest';
import { type FaultRun, faultRuns, resultOf, rowOf } from './run-all.ts';

describe('faultRuns', () => {
  it('kills the requested number of times on each backend', () => {
    const runs = faultRuns({ isShort: false, kills: 300, seed: 7, backends: ['embedded', 'redis', 'etcd'] });
    const killing = "'kill a server,kill both servers,kill the store'";
    const others = "'pause a server,pause the store,cut the network,hold the network,a slow network,compact every 100 ms'";
    expect(runs.map(({ backend, command }) => `${backend}: ${command}`)).toEqual([
      'embedded: kill-test.ts 300 7',
      'embedded: server-kill-test.ts 300 7',
      'embedded: power-loss.ts 2000 7',
      'embedded: watcher-storm.ts 10000 3 embedded',
      'embedded: overload.ts 600 embedded',
      'embedded: greedy-clients.ts 60 embedded',
      'embedded: list-storm.ts 133000 64 json',
      'embedded: list-storm.ts 133000 64 protobuf',
      `redis: store-fault-test.ts redis 225 7 ${killing} 5-60`,
      `redis: store-fault-test.ts redis 30 7 ${others} 5-60`,
      'redis: watcher-storm.ts 10000 3 redis',
      'redis: overload.ts 600 redis',
      'redis: greedy-clients.ts 60 redis',
      `etcd: store-fault-test.ts etcd 225 7 ${killing} 5-60`,
      `etcd: store-fault-test.ts etcd 30 7 ${others} 5-60`,
      'etcd: watcher-storm.ts 10000 3 etcd',
      'etcd: overload.ts 600 etcd',
      'etcd: greedy-clients.ts 60 etcd',
    ]);
  });
});

const run = (result: FaultRun['run']): FaultRun => ({ backend: 'redis', command: 'x.ts 1', run: result });

it('counts an unfinished run as a violation', async () => {
  const broken = run(() => Promise.reject(new Error('no write was acknowledged for two minutes')));
  const result = await resultOf(broken);
  expect(result.violations).toEqual([expect.stringContaining('no write was acknowledged for two minutes')]);
  expect(rowOf(broken, result)).toBe('| redis | `x.ts 1` |  |  |  | 1 |  |');
});

it('formats a row of the table', async () => {
  const good = run(async () => ({ kills: 300, acknowledged: 41_491, unknown: 18_153, violations: [], figures: '' }));
  expect(rowOf(good, await resultOf(good))).toBe('| redis | `x.ts 1` | 300 | 41,491 | 18,153 | 0 |  |');
});
