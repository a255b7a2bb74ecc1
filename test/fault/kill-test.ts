/**
 * Kills a process that writes to an embedded store, again and again, at random moments and at the failpoints of the
 * commit, and checks that nothing acknowledged is lost, nothing is seen that is not durable, revisions never go back, and
 * resumed watchers see each event once.
 *
 *     node --conditions=kubenest-source --experimental-transform-types test/fault/kill-test.ts [rounds] [seed]
 *
 * After a failure the folder with the store and its history stays; the seed repeats the choices, not the timing.
 */
import type { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { EmbeddedStorage } from '#plugins/storage/embedded/embedded-storage';
import { checkHistory, type FinalState, type HistoryEntry, type LogEvent } from './check-history.ts';
import { random } from './random.ts';

/** And at which of their passages, at the latest, the process dies. */
const failpoints: readonly (readonly [name: string, passages: number])[] = [
  ['before-transaction', 30],
  ['inside-transaction', 100],
  ['after-transaction', 30],
  ['before-acknowledge', 30],
  ['after-dispatch', 30],
  ['after-compact-revision', 3],
  ['inside-compaction', 50],
  ['before-checkpoint', 4],
  ['after-checkpoint', 4],
];
/** The writer dies within this time at the latest, also if it does not come to its failpoint. */
const longestLifeMs = 400;

export interface KillTestOptions {
  readonly rounds: number;
  readonly seed: number;
}

export interface KillTestResult {
  readonly violations: readonly string[];
  readonly acknowledged: number;
  readonly events: number;
  /** How often the process died at each failpoint; '' is by a signal from outside. */
  readonly deaths: ReadonlyMap<string, number>;
  /** Where the store and the history are, if there are violations. */
  readonly folder: string;
}

export async function runKillTest({ rounds, seed }: KillTestOptions): Promise<KillTestResult> {
  const folder = mkdtempSync(join(tmpdir(), 'kill-test-'));
  const file = join(folder, 'store.db');
  const historyFile = join(folder, 'history.jsonl');
  const next = random(seed);
  const history: HistoryEntry[] = [];
  const log: LogEvent[] = [];
  let readBytes = 0;
  let watched = 1;
  const deaths = new Map<string, number>();
  let final: FinalState = { revision: 1, records: [] };
  writeFileSync(historyFile, '');
  for (let round = 1; round <= rounds; round++) {
    const [name, passages] = failpoints[next(failpoints.length)]!;
    const failpoint = next(3) === 0 ? '' : `${name}:${1 + next(passages)}`;
    const died = await live({
      args: [file, historyFile, String(round), String(next(2 ** 31)), String(log.at(-1)?.revision ?? 1), String(watched)],
      failpoint,
      killAfterMs: failpoint === '' ? 5 + next(longestLifeMs) : longestLifeMs,
    });
    const cause = died ? failpoint.split(':')[0]! : '';
    deaths.set(cause, (deaths.get(cause) ?? 0) + 1);
    const bytes = readFileSync(historyFile);
    for (const entry of parseHistory(bytes.subarray(readBytes))) {
      history.push(entry);
      if (entry.type === 'event' && entry.watcher === 'storage') watched = entry.revision;
    }
    readBytes = bytes.length;
    final = await readStore(file, log);
    const violations = checkHistory(history, log, final);
    if (violations.length > 0 || round === rounds) {
      const acknowledged = history.filter((entry) => entry.type === 'ack').length;
      if (violations.length === 0) rmSync(folder, { recursive: true });
      else
        writeFileSync(
          join(folder, 'violations.txt'),
          [`seed ${seed}, round ${round}`, ...violations, JSON.stringify(final), ...log.map((event) => JSON.stringify(event))].join('\n'),
        );
      return { violations, acknowledged, events: log.length, deaths, folder };
    }
  }
  throw new Error('a kill test needs at least one round');
}

/** Runs the writer until it is dead. True if it killed itself at its failpoint. */
async function live({
  args,
  failpoint,
  killAfterMs,
}: {
  readonly args: readonly string[];
  readonly failpoint: string;
  readonly killAfterMs: number;
}): Promise<boolean> {
  const writer = spawn(
    process.execPath,
    [
      '--conditions=kubenest-source',
      '--experimental-transform-types',
      '--disable-warning=ExperimentalWarning',
      fileURLToPath(new URL('./kill-writer.ts', import.meta.url)),
      ...args,
    ],
    { env: { PATH: process.env['PATH'], KUBENEST_FAILPOINT: failpoint }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const exited = once(writer, 'exit') as Promise<[code: number | null, signal: string | null]>;
  let errors = '';
  writer.stderr.on('data', (data: Buffer) => {
    errors += data.toString();
  });
  await Promise.race([once(writer.stdout, 'data'), exited]);
  const killed = sleep(killAfterMs).then(() => writer.exitCode === null && writer.signalCode === null && writer.kill('SIGKILL'));
  const [code] = await exited;
  if (code !== null) throw new Error(`the writer ended by itself with ${code}: ${errors}`);
  return !(await killed);
}

/** The last line may be cut by the death of its writer. */
function parseHistory(bytes: Buffer): HistoryEntry[] {
  const lines = bytes.toString('utf8').split('\n');
  return lines.slice(0, -1).map((line) => JSON.parse(line) as HistoryEntry);
}

/** Opens the store, which the dead process must not hold any more, and reads what is new. */
async function readStore(file: string, log: LogEvent[]): Promise<FinalState> {
  const storage = await EmbeddedStorage.open({ file, compactionIntervalMs: 0 });
  try {
    const revision = await storage.currentRevision();
    const last = log.at(-1)?.revision ?? 1;
    if (revision > last) {
      for await (const event of storage.watch('/r/', last, new AbortController().signal)) {
        log.push({
          revision: event.revision,
          key: event.key,
          text: event.record ? textOf(event.record.value) : '',
          previous: event.previous?.revision ?? 0,
        });
        if (event.revision >= revision) break;
      }
    }
    const { records } = await storage.list('/r/');
    return { revision, records: records.map((record) => ({ key: record.key, revision: record.revision, text: textOf(record.value) })) };
  } finally {
    await storage.close();
  }
}

function textOf(bytes: Buffer): string {
  return (JSON.parse(bytes.toString()) as { text: string }).text;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const rounds = Number(process.argv[2] ?? 100);
  const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
  const { violations, acknowledged, events, deaths, folder } = await runKillTest({ rounds, seed });
  process.stdout.write(
    `seed ${seed}: ${rounds} lives, ${acknowledged} acknowledged writes, ${events} events, deaths ${JSON.stringify(Object.fromEntries(deaths))}\n`,
  );
  for (const violation of violations) process.stdout.write(`${violation}\n`);
  if (violations.length > 0) process.stdout.write(`kept: ${folder}\n`);
  process.exitCode = violations.length > 0 ? 1 : 0;
}
