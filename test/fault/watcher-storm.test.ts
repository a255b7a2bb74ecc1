import { expect, it } from 'vitest';
import { runWatcherStorm } from './watcher-storm.ts';

it('1,000 watchers come back to a server that was killed, and miss nothing', { timeout: 180_000 }, async () => {
  const { violations, recoveryMs, getP99Ms, megabytes } = await runWatcherStorm(1_000, 1);
  expect(violations).toEqual([]);
  expect(recoveryMs[0]).toBeLessThan(60_000);
  expect(getP99Ms).toBeLessThan(1_000);
  expect(megabytes).toBeLessThan(600);
});
