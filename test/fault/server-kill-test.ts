/**
 * Repeatedly kills bin/kubenest under load, at random moments and at the failpoints of its store's commit. Sixteen clients
 * write ConfigMaps over HTTPS, others read, list and watch: watchers disconnect now and then and resume from their last
 * version, also after a restart, and list again after a 410, which a restarted server returns. No acknowledged write may be
 * lost, observations must be linearizable, versions must not decrease, and each event must be sent once. Additional rounds
 * run if watchers received, for example, no bookmark or no 410.
 *
 *     node --conditions=kubenest-source --experimental-transform-types test/fault/server-kill-test.ts [rounds] [seed]
 *
 * bin/kubenest must be built. After a failure the data folder is kept; the seed reproduces the choices, not the timing.
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

/** Maximum number of additional rounds. */
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
  // Short lives may test no watches: a server may die before any watcher connects, or when each has received all events.
  const hasTestedWatches = (): boolean => {
    const { lists, bookmarks, resumptions, gone } = watchFigures(history);
    return Math.min(lists, bookmarks, resumptions, gone) > 0;
  };
  const most = rounds + additionalRounds;
  for (let life = 1; violations.length === 0 && (life <= rounds || (life <= most && !hasTestedWatches())); life++) {
    const death = chooseDeath(next);
    const port = await freePort();
    const server = await startServer({ folder, port, flags: [`--data-dir=${folder}/data`], failpoint: death.failpoint });
    const clients = new Clients([port], next, history, memory);
    const running = clients.run();
    // Connections take time on a busy machine; a life without writes tests nothing, and neither do lives without a bookmark.
    const hasBegun = Promise.all([clients.hasWritten, watchFigures(history).bookmarks > 0 || clients.hasBookmark]);
    await Promise.race([hasBegun, exited(server.child)]);
    deaths.push(await diesOf(server.child, death, server.errors));
    clients.stop();
    await running;
    final = await readStore(file, storePrefix, { log, after: final.revision }, textOf);
    violations.push(...checkHistory(withDeletions(history, log), log, final));
  }
  const watches = watchFigures(history);
  // Each watcher receives at most one 410 in each life after the first.
  const mostGone = memory.watchers.length * (deaths.length - 1);
  violations.push(...checkLinearizability(withDeletions(history, log), log), ...checkGone(watches, mostGone));
  if (violations.length === 0) rmSync(folder, { recursive: true });
  const acknowledged = history.filter(({ type }) => type === 'ack').length;
  return { violations, acknowledged, events: log.length, watches, deaths, folder };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await reportKillTest(runServerKillTest);
