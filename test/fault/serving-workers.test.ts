/** Kills serving worker threads repeatedly while clients write, read and watch. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { startTestCluster } from '#testing/index';
import { checkGone, checkHistory, type HistoryEntry, type LogEvent, watchFigures } from './check-history.ts';
import { Clients, storePrefix, textOf, token, withDeletions } from './clients.ts';
import { readStore } from './deaths.ts';
import { checkLinearizability } from './linearizability.ts';
import { random } from './random.ts';

const kills = 10;

it('no data is lost when serving workers end under load', { timeout: 60_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'serving-workers-'));
  const file = join(folder, 'objects.db');
  const tokens = join(folder, 'tokens.csv');
  await writeFile(tokens, `${token},admin,admin,"system:masters"\n`);
  const living = new Set<Worker>();
  const meet = (worker: Worker): void => {
    if (worker.threadName !== 'serving') return;
    living.add(worker);
    worker.once('exit', () => living.delete(worker));
  };
  process.on('worker', meet);
  const seed = Date.now() % 2 ** 31;
  const next = random(seed);
  const history: HistoryEntry[] = [];
  const log: LogEvent[] = [];
  {
    await using cluster = await startTestCluster({
      listen: true,
      storage: { file },
      flags: ['--serving-workers=2', `--token-auth-file=${tokens}`],
    });
    const clients = new Clients([Number(new URL(cluster.url as string).port)], next, history);
    const running = clients.run();
    await clients.hasWritten;
    for (let killed = 0; killed < kills; killed++) {
      await sleep(next(200));
      const [...workers] = living;
      // Usually one worker, occasionally all at once.
      const victims = next(5) === 0 ? workers : workers.slice(0, 1);
      await Promise.all(victims.map((worker) => worker.terminate()));
      await expect.poll(() => living.size, { timeout: 5_000 }).toBe(2);
    }
    const before = clients.acknowledged;
    await expect.poll(() => clients.acknowledged, { timeout: 10_000 }).toBeGreaterThan(before + 20);
    // On a slow machine the workers end before any watch receives a bookmark.
    const leastSeen = (): number => {
      const { lists, bookmarks, resumptions } = watchFigures(history);
      return Math.min(lists, bookmarks, resumptions);
    };
    await expect.poll(leastSeen, { timeout: 20_000 }).toBeGreaterThan(0);
    clients.stop();
    await running;
    expect(await (await cluster.fetch('/metrics')).text()).toMatch(/^kubenest_serving_worker_losses_total \d\d/m);
  }
  process.off('worker', meet);
  expect(living.size).toBe(0);
  const final = await readStore(file, storePrefix, { log, after: 0 }, textOf);
  const complete = withDeletions(history, log);
  const watches = watchFigures(history);
  // The main thread, which has the store and the history, continues.
  const violations = [...checkHistory(complete, log, final), ...checkLinearizability(complete, log), ...checkGone(watches, 0)];
  expect(violations, `seed ${seed}`).toEqual([]);
  expect(watches.lists).toBeGreaterThan(0);
  expect(watches.bookmarks).toBeGreaterThan(0);
  expect(watches.resumptions).toBeGreaterThan(0);
  await rm(folder, { recursive: true });
});
