import { expect, it } from 'vitest';
import { absent, backendNames } from '../servers/backends.ts';
import { runWatcherStorm } from './watcher-storm.ts';

it.for(backendNames)(
  '1,000 watchers on %s reconnect to a killed server and miss no event',
  { timeout: 180_000 },
  async (name, { skip }) => {
    if (absent[name]) return skip(absent[name]);
    const { violations, recoveryMs, getP99Ms, megabytes } = await runWatcherStorm(1_000, 1, name);
    expect(violations).toEqual([]);
    expect(recoveryMs[0]).toBeLessThan(60_000);
    expect(getP99Ms).toBeLessThan(1_000);
    expect(megabytes).toBeLessThan(600);
  },
);
