import { expect, it } from 'vitest';
import { runKillTest } from './kill-test.ts';
import { runServerKillTest } from './server-kill-test.ts';

it.each([
  { name: 'a store loses nothing when its process is killed five times', run: runKillTest, rounds: 5 },
  { name: 'a server loses nothing when it is killed three times', run: runServerKillTest, rounds: 3 },
])(
  '$name',
  async ({ run, rounds }) => {
    const seed = Date.now() % 2 ** 31;
    const { violations, acknowledged, deaths, folder } = await run({ rounds, seed });
    expect(violations, `seed ${seed}, kept in ${folder}`).toEqual([]);
    expect(deaths).toHaveLength(rounds);
    // Enough for a loss to be seen, also on a disk that stands still now and then.
    expect(acknowledged).toBeGreaterThan(5 * rounds);
  },
  // Some seconds; the machine of a test may stand still for a minute.
  180_000,
);
