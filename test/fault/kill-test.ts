/**
 * Repeatedly kills a process that writes to an embedded store, at random moments and at the failpoints of the commit.
 * Verifies that no acknowledged write is lost, only durable writes are visible, revisions never decrease, and resumed
 * watchers see each event once.
 *
 *     node --conditions=kubenest-source --experimental-transform-types test/fault/kill-test.ts [rounds] [seed]
 *
 * After a failure the folder with the store and its history is kept; the seed reproduces the choices, not the timing.
 */
import type { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkGone, checkHistory, type FinalState, type HistoryEntry, type LogEvent, watchFigures } from './check-history.ts';
import { chooseDeath, type Death, diesOf, type KillTestOptions, type KillTestResult, readStore, reportKillTest } from './deaths.ts';
import { checkLinearizability } from './linearizability.ts';
import { random } from './random.ts';

/** Largest number of further rounds until the watchers have observed enough. */
const moreRounds = 10;

export async function runKillTest({ rounds, seed }: KillTestOptions): Promise<KillTestResult> {
  const folder = mkdtempSync(join(tmpdir(), 'kill-test-'));
  const file = join(folder, 'store.db');
  const historyFile = join(folder, 'history.jsonl');
  const next = random(seed);
  const history: HistoryEntry[] = [];
  const log: LogEvent[] = [];
  let readBytes = 0;
  let watched = 1;
  const deaths: string[] = [];
  let final: FinalState = { revision: 1, records: [] };
  writeFileSync(historyFile, '');
  for (let round = 1; ; round++) {
    const death = chooseDeath(next);
    deaths.push(await live([file, historyFile, String(round), String(next(2 ** 31)), String(final.revision), String(watched)], death));
    const bytes = readFileSync(historyFile);
    for (const entry of parseHistory(bytes.subarray(readBytes))) {
      history.push(entry);
      if (entry.type === 'event' && entry.watcher === 'storage') watched = entry.revision;
    }
    readBytes = bytes.length;
    final = await readStore(file, '/r/', { log, after: final.revision }, textOf);
    const violations = checkHistory(history, log, final);
    const watches = watchFigures(history);
    // A writer that dies early may leave nothing to list: its watchers must have observed enough in all rounds together.
    const isLast = round >= rounds && ((watches.lists > 0 && watches.resumptions > 0) || round === rounds + moreRounds);
    // The test compacts only what it has read.
    if (isLast) violations.push(...checkLinearizability(history, log), ...checkGone(watches, 0));
    if (violations.length > 0 || isLast) {
      const acknowledged = history.filter((entry) => entry.type === 'ack').length;
      if (violations.length === 0) rmSync(folder, { recursive: true });
      else
        writeFileSync(
          join(folder, 'violations.txt'),
          [`seed ${seed}, round ${round}`, ...violations, JSON.stringify(final), ...log.map((event) => JSON.stringify(event))].join('\n'),
        );
      return { violations, acknowledged, events: log.length, watches, deaths, folder };
    }
  }
}

/** Runs the writer until it is dead. Returns the cause. */
async function live(args: readonly string[], death: Death): Promise<string> {
  const writer = spawn(
    process.execPath,
    [
      '--conditions=kubenest-source',
      '--experimental-transform-types',
      '--disable-warning=ExperimentalWarning',
      fileURLToPath(new URL('./kill-writer.ts', import.meta.url)),
      ...args,
    ],
    { env: { PATH: process.env['PATH'], KUBENEST_FAILPOINT: death.failpoint }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let errors = '';
  writer.stderr.on('data', (data: Buffer) => {
    errors += data.toString();
  });
  await Promise.race([once(writer.stdout, 'data'), once(writer, 'exit')]);
  return diesOf(writer, death, () => errors);
}

/** Parses a history; the death of the writer may truncate the last line. */
function parseHistory(bytes: Buffer): HistoryEntry[] {
  const lines = bytes.toString('utf8').split('\n');
  return lines.slice(0, -1).map((line) => JSON.parse(line) as HistoryEntry);
}

function textOf(bytes: Buffer): string {
  return (JSON.parse(bytes.toString()) as { text: string }).text;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await reportKillTest(runKillTest);
