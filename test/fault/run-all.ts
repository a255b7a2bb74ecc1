/**
 * Runs the long fault tests on each backend sequentially and prints a table of the results. Exits with 1 if any guarantee
 * was violated.
 *
 *     npm run faults -- [--short] [--kills=300] [--seed=N] [--backends=embedded,redis,etcd]
 *
 * `--short` runs about as much as npm test; `--kills` is the minimum for each backend. Unavailable backends are reported and
 * skipped.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { absent, type BackendName, backendNames, backendOf } from '../servers/backends.ts';
import { runGreedyClients } from './greedy-clients.ts';
import { runKillTest } from './kill-test.ts';
import { runListStorm } from './list-storm.ts';
import { runServerKillTest } from './server-kill-test.ts';
import { runOverload } from './overload.ts';
import { runPowerLossTest } from './power-loss.ts';
import { faults, runStoreFaultTest } from './store-fault-test.ts';
import { noTrace } from './system-calls.ts';
import { runWatcherStorm } from './watcher-storm.ts';

export interface FaultRun {
  readonly backend: BackendName;
  /** Command to run it manually. */
  readonly command: string;
  run(): Promise<FaultResult>;
}

export interface FaultResult {
  readonly kills?: number;
  readonly acknowledged?: number;
  readonly unknown?: number;
  readonly violations: readonly string[];
  /** Additional figures of a run. */
  readonly figures: string;
}

export interface FaultOptions {
  readonly isShort: boolean;
  readonly kills: number;
  readonly seed: number;
  readonly backends: readonly BackendName[];
}

const killing = ['kill a server', 'kill both servers', 'kill the store'];
/** Expected number of kills in three rounds. */
const killsOfThree = 4;

export function faultRuns({ isShort, kills, seed, backends }: FaultOptions): FaultRun[] {
  const [watchers, storms] = isShort ? [1_000, 1] : [10_000, 3];
  return backends.flatMap((backend) => [
    ...(backend === 'embedded'
      ? [...embeddedRuns(kills, seed), powerLoss(isShort ? 100 : 2_000, seed)]
      : storeRuns(backend, { isShort, kills, seed })),
    {
      backend,
      command: `watcher-storm.ts ${watchers} ${storms} ${backend}`,
      async run() {
        const { violations, recoveryMs, ...figures } = await runWatcherStorm(watchers, storms, backend);
        return { kills: storms, violations, figures: JSON.stringify({ recoveryMs: Math.max(...recoveryMs), ...figures }) };
      },
    },
    overload(isShort ? 5 : 600, backend),
    greedyClients(isShort ? 3 : 60, backend),
    ...(backend === 'embedded' ? [listStorm(isShort, 'json'), listStorm(isShort, 'protobuf')] : []),
  ]);
}

function embeddedRuns(kills: number, seed: number): FaultRun[] {
  return [
    { name: 'kill-test.ts', test: runKillTest },
    { name: 'server-kill-test.ts', test: runServerKillTest },
  ].map(({ name, test }) => ({
    backend: 'embedded',
    command: `${name} ${kills} ${seed}`,
    async run() {
      const { violations, acknowledged, watches, deaths } = await test({ rounds: kills, seed });
      return { kills: deaths.length, acknowledged, violations, figures: JSON.stringify(watches) };
    },
  }));
}

function powerLoss(cuts: number, seed: number): FaultRun {
  return {
    backend: 'embedded',
    command: `power-loss.ts ${cuts} ${seed}`,
    async run() {
      if (noTrace !== undefined) return { violations: [], figures: `left out: ${noTrace}` };
      const { violations, acknowledged, cuts: done, records, operations, demanded } = await runPowerLossTest({ cuts, seed });
      return { acknowledged, violations, figures: JSON.stringify({ cuts: done, records, operations, demanded }) };
    },
  };
}

function storeRuns(backend: 'redis' | 'etcd', { isShort, kills, seed }: Omit<FaultOptions, 'backends'>): FaultRun[] {
  const others = Object.keys(faults).filter((name) => !killing.includes(name));
  const runs: readonly { readonly names: readonly string[]; readonly rounds: number }[] = [
    { names: killing, rounds: 3 * Math.ceil(kills / killsOfThree) },
    { names: others, rounds: isShort ? others.length : 5 * others.length },
  ];
  const pauseSeconds = isShort ? ([1, 2] as const) : ([5, 60] as const);
  return runs.map(({ names, rounds }) => ({
    backend,
    command: `store-fault-test.ts ${backend} ${rounds} ${seed} '${names.join(',')}' ${pauseSeconds.join('-')}`,
    async run() {
      const {
        violations,
        acknowledged,
        unknown,
        watches,
        rounds: done,
      } = await runStoreFaultTest({
        ...{ backend, rounds, seed, faults: names, pauseSeconds },
      });
      const died = done.reduce((sum, { fault }) => sum + (fault === 'kill both servers' ? 2 : killing.includes(fault) ? 1 : 0), 0);
      const recoveryMs = Math.max(...done.map((round) => round.recoveryMs));
      return { kills: died, acknowledged, unknown, violations, figures: JSON.stringify({ ...watches, recoveryMs }) };
    },
  }));
}

function overload(seconds: number, backend: BackendName): FaultRun {
  return {
    backend,
    command: `overload.ts ${seconds} ${backend}`,
    async run() {
      const { violations, ...figures } = await runOverload(seconds, backend);
      return { violations, figures: JSON.stringify(figures) };
    },
  };
}

function greedyClients(seconds: number, backend: BackendName): FaultRun {
  return {
    backend,
    command: `greedy-clients.ts ${seconds} ${backend}`,
    async run() {
      const { violations, ...figures } = await runGreedyClients(seconds, backend);
      return { violations, figures: JSON.stringify(figures) };
    },
  };
}

function listStorm(isShort: boolean, form: 'json' | 'protobuf'): FaultRun {
  const [pods, clients] = isShort ? [10_000, 32] : [133_000, 64];
  return {
    backend: 'embedded',
    command: `list-storm.ts ${pods} ${clients} ${form}`,
    async run() {
      const { violations, dataset, most, getP99Ms } = await runListStorm(pods, clients, form);
      return { violations, figures: JSON.stringify({ dataset: Math.round(dataset), most: Math.round(most), getP99Ms }) };
    },
  };
}

/** Runs a test; an error counts as a violation, because the run is incomplete. */
export async function resultOf({ run }: FaultRun): Promise<FaultResult> {
  try {
    return await run();
  } catch (error) {
    return { violations: [`failed: ${error instanceof Error ? error.stack : String(error)}`], figures: '' };
  }
}

/** Returns a row of docs/results/reliability.md, with additional information. */
export function rowOf({ backend, command }: FaultRun, { kills, acknowledged, unknown, violations, figures }: FaultResult): string {
  const cells = [backend, `\`${command}\``, kills, acknowledged, unknown, violations.length, figures];
  return `| ${cells.map((cell) => cell?.toLocaleString('en') ?? '').join(' | ')} |`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: { short: { type: 'boolean' }, kills: { type: 'string' }, seed: { type: 'string' }, backends: { type: 'string' } },
  });
  const isShort = values.short ?? false;
  const backends = (values.backends?.split(',') ?? backendNames).map(backendOf);
  const rows: string[] = [];
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  for (const backend of backends) if (absent[backend]) say(`${backend} is left out: ${absent[backend]}`);
  const options = { isShort, kills: Number(values.kills ?? (isShort ? 8 : 300)), seed: Number(values.seed ?? Date.now() % 2 ** 31) };
  for (const run of faultRuns({ ...options, backends: backends.filter((backend) => !absent[backend]) })) {
    const result = await resultOf(run);
    rows.push(rowOf(run, result));
    say(rows.at(-1)!);
    for (const violation of result.violations.slice(0, 20)) say(violation);
    if (result.violations.length > 0) process.exitCode = 1;
  }
  say('\n| backend | command | kills | acknowledged | of unknown outcome | violations | figures |');
  say('| --- | --- | ---: | ---: | ---: | ---: | --- |');
  for (const row of rows) say(row);
}
