import { expect, it } from 'vitest';
import { runKillTest } from './kill-test.ts';
import { runServerKillTest } from './server-kill-test.ts';

it.each([
  { name: 'a store loses nothing when its process is killed five times', run: runKillTest, rounds: 5, hasClients: false },
  { name: 'a server loses nothing when it is killed three times', run: runServerKillTest, rounds: 3, hasClients: true },
])(
  '$name',
  async ({ run, rounds, hasClients }) => {
    const seed = Date.now() % 2 ** 31;
    const { violations, acknowledged, watches, deaths, folder } = await run({ rounds, seed });
    expect(violations, `seed ${seed}, kept in ${folder}`).toEqual([]);
    // Of a server there may be more, until its watchers were told enough.
    if (hasClients) expect(deaths.length).toBeGreaterThanOrEqual(rounds);
    else expect(deaths).toHaveLength(rounds);
    // Enough for a loss to be seen, also on a disk that stands still now and then.
    expect(acknowledged).toBeGreaterThan(5 * rounds);
    expect(watches.lists).toBeGreaterThan(0);
    expect(watches.resumptions).toBeGreaterThan(0);
    if (!hasClients) return;
    expect(watches.bookmarks).toBeGreaterThan(0);
    // A server that has started anew has no history of what was before.
    expect(watches.gone).toBeGreaterThan(0);
  },
  // Some seconds; the machine of a test may stand still for a minute.
  180_000,
);
