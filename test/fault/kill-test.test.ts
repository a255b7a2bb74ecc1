import { expect, it } from 'vitest';
import { runKillTest } from './kill-test.ts';
import { runServerKillTest } from './server-kill-test.ts';

it.each([
  { name: 'a store loses no data when its process is killed five times', run: runKillTest, rounds: 5, hasClients: false },
  { name: 'a server loses no data when it is killed three times', run: runServerKillTest, rounds: 3, hasClients: true },
])(
  '$name',
  async ({ run, rounds, hasClients }) => {
    const seed = Date.now() % 2 ** 31;
    const { violations, acknowledged, watches, deaths, folder } = await run({ rounds, seed });
    expect(violations, `seed ${seed}, kept in ${folder}`).toEqual([]);
    // There may be more rounds, until the watchers have observed enough.
    expect(deaths.length).toBeGreaterThanOrEqual(rounds);
    // Enough writes to detect a loss, even on a slow disk.
    expect(acknowledged).toBeGreaterThan(5 * rounds);
    expect(watches.lists).toBeGreaterThan(0);
    expect(watches.resumptions).toBeGreaterThan(0);
    if (!hasClients) return;
    expect(watches.bookmarks).toBeGreaterThan(0);
    // A restarted server has no history of earlier events.
    expect(watches.gone).toBeGreaterThan(0);
  },
  // Usually takes seconds; a test machine may stall for a minute.
  180_000,
);
