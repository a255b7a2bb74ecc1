/** Kills processes with an embedded store, and reads the store afterwards. */
import type { Buffer } from 'node:buffer';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Storage } from '#apiserver/storage/storage';
import { EmbeddedStorage } from '#plugins/storage/embedded/embedded-storage';
import type { FinalState, LogEvent, WatchFigures } from './check-history.ts';

export interface KillTestOptions {
  readonly rounds: number;
  readonly seed: number;
}

export interface KillTestResult {
  readonly violations: readonly string[];
  readonly acknowledged: number;
  readonly events: number;
  readonly watches: WatchFigures;
  /** Cause of each death: a failpoint, or '' for a signal. */
  readonly deaths: readonly string[];
  /** Folder with the store and the history, if there are violations. */
  readonly folder: string;
}

/** Failpoints with the maximum number of passes before the process dies. */
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
/** Revision of a store without events. */
const emptyRevision = 1;
/** Maximum lifetime of a process, even if it does not reach its failpoint. */
const longestLifeMs = 400;

export interface Death {
  /** Value of KUBENEST_FAILPOINT; '' means a signal. */
  readonly failpoint: string;
  readonly killAfterMs: number;
}

/** `next` returns integers from 0 to its argument minus one. */
export function chooseDeath(next: (below: number) => number): Death {
  const [name, passages] = failpoints[next(failpoints.length)]!;
  const failpoint = next(3) === 0 ? '' : `${name}:${1 + next(passages)}`;
  return { failpoint, killAfterMs: failpoint === '' ? 5 + next(longestLifeMs) : longestLifeMs };
}

/** Resolves when a process has ended, or immediately if it has already. */
export async function exited(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** Waits for the death of a running process. Returns its cause: the name of the failpoint, or ''. */
export async function diesOf(child: ChildProcess, { failpoint, killAfterMs }: Death, errors: () => string): Promise<string> {
  const killed = sleep(killAfterMs).then(() => child.exitCode === null && child.signalCode === null && child.kill('SIGKILL'));
  await exited(child);
  const { exitCode } = child;
  if (exitCode !== null) throw new Error(`the process exited by itself with ${exitCode}: ${errors()}`);
  return (await killed) ? '' : failpoint.split(':')[0]!;
}

/**
 * Opens the store, which the dead process must no longer lock, appends events after the revision to the log, and returns the
 * state. Excludes keys without the prefix.
 */
export async function readStore(
  file: string,
  prefix: string,
  { log, after }: { readonly log: LogEvent[]; readonly after: number },
  textOf: (value: Buffer) => string,
): Promise<FinalState> {
  const storage = await EmbeddedStorage.open({ file, compactionIntervalMs: 0 });
  try {
    const revision = await storage.currentRevision();
    // A process that died in its first transaction leaves no event to wait for.
    if (revision > Math.max(after, emptyRevision)) {
      for await (const { revision: at, key, record, previous } of storage.watch('/', after, new AbortController().signal)) {
        if (key.startsWith(prefix))
          log.push({ revision: at, key, text: record ? textOf(record.value) : '', previous: previous?.revision ?? 0 });
        if (at >= revision) break;
      }
    }
    const { records } = await storage.list(prefix);
    return { revision, records: records.map((record) => ({ key: record.key, revision: record.revision, text: textOf(record.value) })) };
  } finally {
    await storage.close();
  }
}

/**
 * Appends the events of keys with the prefix to the log, from the beginning of the store until the signal aborts, and
 * resumes after a failure of the store. `until` resolves when the log is complete up to a revision; `reached` returns that
 * revision.
 */
export function readLog(
  storage: Storage,
  prefix: string,
  log: LogEvent[],
  textOf: (value: Buffer) => string,
  signal: AbortSignal,
): { until(revision: number): Promise<void>; reached(): number } {
  let reached = 0;
  const follow = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        for await (const { type, revision, key, record, previous } of storage.watch('/', reached || 1, signal)) {
          if (type !== 'PROGRESS' && key.startsWith(prefix))
            log.push({ revision, key, text: record ? textOf(record.value) : '', previous: previous?.revision ?? 0 });
          reached = revision;
        }
      } catch {
        await sleep(100);
      }
    }
  };
  void follow();
  return {
    reached: () => reached || 1,
    async until(revision) {
      for (const began = performance.now(); reached < revision; await sleep(20)) {
        if (performance.now() - began > 60_000) throw new Error(`the log has only reached revision ${reached}, not ${revision}`);
        await storage.requestProgress?.();
      }
    },
  };
}

/** Runs a kill test with the command line `[rounds] [seed]` and prints the result. */
export async function reportKillTest(run: (options: KillTestOptions) => Promise<KillTestResult>): Promise<void> {
  const rounds = Number(process.argv[2] ?? 100);
  const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
  const { violations, acknowledged, events, watches, deaths, folder } = await run({ rounds, seed });
  const causes = JSON.stringify(
    Object.fromEntries([...Map.groupBy(deaths, (cause) => cause || 'signal')].map(([name, { length }]) => [name, length])),
  );
  process.stdout.write(`seed ${seed}: ${deaths.length} lives, ${acknowledged} acknowledged writes, ${events} events, deaths ${causes}\n`);
  process.stdout.write(`${JSON.stringify(watches)}\n`);
  for (const violation of violations) process.stdout.write(`${violation}\n`);
  if (violations.length > 0) process.stdout.write(`kept: ${folder}\n`);
  process.exitCode = violations.length > 0 ? 1 : 0;
}
