import { expect, it } from 'vitest';
import { runKillTest } from './kill-test.ts';

it('loses nothing when it is killed five times', async () => {
  const seed = Date.now() % 2 ** 31;
  const { violations, acknowledged, folder } = await runKillTest({ rounds: 5, seed });
  expect(violations, `seed ${seed}, kept in ${folder}`).toEqual([]);
  expect(acknowledged).toBeGreaterThan(50);
}, 60_000);
