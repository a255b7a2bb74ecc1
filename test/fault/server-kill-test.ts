/**
 * Kills bin/kubenest under load, again and again, at random moments and at the failpoints of its store's commit. Sixteen
 * clients write ConfigMaps over HTTPS, others read, list and watch: watchers leave now and then and go on from the last version
 * that they have seen, at the next server too, and after a 410, as a server that has started anew answers, they begin anew.
 * Nothing acknowledged may be lost, what was shown is linearizable, versions never go back, and each event comes once.
 * There are more rounds than were asked for where watchers had no bookmark, say, or were never told that the past is gone.
 *
 *     node --conditions=kubenest-source --experimental-transform-types test/fault/server-kill-test.ts [rounds] [seed]
 *
 * bin/kubenest must be built. After a failure the data folder stays; the seed repeats the choices, not the timing.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../scripts/free-port.ts';
import { checkGone, checkHistory, type FinalState, type HistoryEntry, type LogEvent, watchFigures } from './check-history.ts';
import { ClientMemory, Clients, storePrefix, textOf, withDeletions } from './clients.ts';
import { chooseDeath, diesOf, exited, type KillTestOptions, type KillTestResult, readStore, reportKillTest } from './deaths.ts';
import { checkLinearizability } from './linearizability.ts';
import { random } from './random.ts';
import { startServer } from './server-process.ts';

/** So many more than were asked for, at most. */
const additionalRounds = 12;

export async function runServerKillTest({ rounds, seed }: KillTestOptions): Promise<KillTestResult> {
  const folder = mkdtempSync(join(tmpdir(), 'server-kill-test-'));
  const file = join(folder, 'data/kubenest.db');
  const next = random(seed);
  const history: HistoryEntry[] = [];
  const log: LogEvent[] = [];
  const memory = new ClientMemory();
  const deaths: string[] = [];
  const violations: string[] = [];
  let final: FinalState = { revision: 0, records: [] };
  // Few short lives may tell nothing of watches: a server may die before any watcher is there, or when each has seen all that happened.
  const hasTold = (): boolean => {
    const { lists, bookmarks, resumptions, gone } = watchFigures(history);
    return Math.min(lists, bookmarks, resumptions, gone) > 0;
  };
  const most = rounds + additionalRounds;
  for (let life = 1; violations.length === 0 && (life <= rounds || (life <= most && !hasTold())); life++) {
    const death = chooseDeath(next);
    const port = await freePort();
    const server = await startServer({ folder, port, flags: [`--data-dir=${folder}/data`], failpoint: death.failpoint });
    const clients = new Clients([port], next, history, memory);
    const running = clients.run();
    // Connections take their time on a busy machine, and a life without a write tells nothing, nor do lives without a bookmark.
    const hasBegun = Promise.all([clients.hasWritten, watchFigures(history).bookmarks > 0 || clients.hasBookmark]);
    await Promise.race([hasBegun, exited(server.child)]);
    deaths.push(await diesOf(server.child, death, server.errors));
    clients.stop();
    await running;
    final = await readStore(file, storePrefix, { log, after: final.revision }, textOf);
    violations.push(...checkHistory(withDeletions(history, log), log, final));
  }
  const watches = watchFigures(history);
  // Each watcher once in each life but the first.
  const mostGone = memory.watchers.length * (deaths.length - 1);
  violations.push(...checkLinearizability(withDeletions(history, log), log), ...checkGone(watches, mostGone));
  if (violations.length === 0) rmSync(folder, { recursive: true });
  const acknowledged = history.filter(({ type }) => type === 'ack').length;
  return { violations, acknowledged, events: log.length, watches, deaths, folder };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await reportKillTest(runServerKillTest);
