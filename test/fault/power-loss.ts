/**
 * Power failures of the disk under an embedded store: records the system calls of processes that write to it, and recreates
 * the possible files at random moments (simulated-disk.ts). There the store must open with all acknowledged writes and no
 * others, its revision must not decrease, and it must accept writes.
 *
 *     node --conditions=kubenest-source --experimental-transform-types test/fault/power-loss.ts [cuts] [seed]
 *
 * A recording has two processes: one that dies at a failpoint of the commit, or ends, and one that continues with its files.
 * Every other recording starts with the files after a power failure in the previous one. After a failure the files are kept;
 * the seed reproduces the choices, not the timing.
 */
import type { Buffer } from 'node:buffer';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EmbeddedStorage } from '#plugins/storage/embedded/embedded-storage';
import { checkHistory, type FinalState, type HistoryEntry, type LogEvent } from './check-history.ts';
import { chooseDeath } from './deaths.ts';
import { random } from './random.ts';
import { SimulatedDisk } from './simulated-disk.ts';
import { applyStep, noTrace, Recorder, type Step } from './system-calls.ts';

/** A requested or completed compaction at a revision. */
export interface Compaction {
  readonly type: 'compact' | 'compacted';
  readonly revision: number;
}

/** A recording of processes that use a store. */
export interface Recording {
  /** Initial files of the disk. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** Notes from before the recording. */
  readonly notes: readonly Note[];
  readonly steps: readonly Step[];
  /** Index of the second process's first step. */
  readonly second: number;
  /** Failpoint or system call at which the first process died; '' if it did not. */
  readonly death: string;
}

type Note = HistoryEntry | Compaction;
type Random = (below: number) => number;

export interface PowerLossOptions {
  readonly cuts: number;
  readonly seed: number;
}

export interface PowerLossResult {
  readonly violations: readonly string[];
  readonly cuts: number;
  readonly records: number;
  /** Number of system calls that change or sync files. */
  readonly operations: number;
  readonly acknowledged: number;
  /** Number of records that had to exist over all cuts. */
  readonly demanded: number;
  readonly deaths: readonly string[];
  /** Folder of the files, if there are violations. */
  readonly folder: string;
}

/** System calls at which the first process of every other recording dies, with the range of passes in a thread. */
const deadlyCalls: readonly (readonly [name: string, least: number, most: number])[] = [
  // The first transaction with writes, after those that create the store and raise its revision.
  ['fsync', 15, 15],
  ['pwrite64', 60, 600],
  ['fsync', 16, 30],
  ['unlink', 1, 1],
  ['fsync', 1, 14],
  ['pwrite64', 1, 60],
];
/** Number of steps after opening in which the data read is not yet synced by a later write. */
const stepsAfterOpening = 50;
const cutsOfRecord = 200;
const incrementalVacuum = 2;
const file = 'store.db';

export async function runPowerLossTest({ cuts, seed }: PowerLossOptions): Promise<PowerLossResult> {
  if (noTrace !== undefined) throw new Error(noTrace);
  const next = random(seed);
  const folder = mkdtempSync(join(tmpdir(), 'power-loss-'));
  const result = {
    violations: [] as string[],
    cuts: 0,
    records: 0,
    operations: 0,
    acknowledged: 0,
    demanded: 0,
    deaths: [] as string[],
    folder,
  };
  let before: CutResult | undefined;
  while (result.cuts < cuts && result.violations.length === 0) {
    const recording = await record(result.records, { folder, before: result.records % 2 === 1 ? before : undefined, next });
    result.records += 1;
    result.deaths.push(recording.death);
    const begun = recording.steps.filter(({ type }) => type === 'begin');
    result.operations += begun.length;
    result.acknowledged += acknowledgedIn(notesOf(recording.steps));
    const { violations, demanded, last } = await cutPower(recording, { cuts: Math.min(cutsOfRecord, cuts - result.cuts), next, folder });
    result.cuts += Math.min(cutsOfRecord, cuts - result.cuts);
    result.demanded += demanded;
    result.violations.push(...violations.map((violation) => `record ${result.records}: ${violation}`));
    before = last;
  }
  if (result.violations.length === 0) rmSync(folder, { recursive: true });
  return result;
}

export interface RecordOptions {
  /** Working folder, which is left empty. */
  readonly folder: string;
  /** Initial content of the store; undefined: it is created. */
  readonly before?: CutResult | undefined;
  readonly next: Random;
}

/** `number` of the recording, which determines where the first process dies. */
export async function record(number: number, { folder: parent, before, next }: RecordOptions): Promise<Recording> {
  const folder = join(parent, `record-${number}`);
  const data = join(folder, 'data');
  const files = before?.files ?? new Map<string, Buffer>();
  const notes = [...(before?.notes ?? [])];
  writeFiles(data, files);
  const notesFile = join(folder, 'notes.jsonl');
  writeFileSync(notesFile, '');
  const recorder = new Recorder(data, notesFile, files);
  const [call, least, most] = deadlyCalls[(number / 2) % deadlyCalls.length] ?? [];
  const death = call === undefined ? undefined : { call, passage: least! + next(most! - least! + 1) };
  const failpoint = death ? '' : chooseDeath(next).failpoint;
  let died = '';
  let second = 0;
  for (const process of ['first', 'second']) {
    const done = [...notes, ...notesOf(recorder.steps)];
    const life = 1 + done.filter(({ type }) => type === 'open').length;
    const what = process === 'second' ? 'full' : done.length === 0 ? 'new' : '';
    const args = [join(data, file), notesFile, life, next(2 ** 31), watchedIn(done), what];
    const command = [
      globalThis.process.execPath,
      ...['--conditions=kubenest-source', '--experimental-transform-types', '--disable-warning=ExperimentalWarning'],
      ...[fileURLToPath(new URL('./power-loss-writer.ts', import.meta.url)), ...args.map(String)],
    ];
    const isFirst = process === 'first';
    const signal = await recorder.run(command, {
      env: { KUBENEST_FAILPOINT: isFirst ? failpoint : '' },
      death: isFirst ? death : undefined,
    });
    if (signal !== null && !isFirst) throw new Error(`the second process was killed by ${signal}`);
    if (isFirst) second = recorder.steps.length;
    if (signal !== null) died = death?.call ?? failpoint.split(':')[0]!;
  }
  rmSync(folder, { recursive: true });
  return { files, notes, steps: recorder.steps, second, death: died };
}

interface CutOptions {
  readonly cuts: number;
  readonly next: Random;
  /** Folder in which the store is opened; violating files are kept there. */
  readonly folder: string;
  /** False if syncs have no effect, so that only the initial files are durable. Default: true. */
  readonly syncs?: boolean;
}

/** Files after a power failure, with the notes that precede it. */
export interface CutResult {
  readonly files: ReadonlyMap<string, Buffer>;
  readonly notes: readonly Note[];
}

/** Cuts the power at random moments of a recording. Returns the violations. */
export async function cutPower(
  recording: Recording,
  { cuts, next, folder, syncs = true }: CutOptions,
): Promise<{ readonly violations: readonly string[]; readonly demanded: number; readonly last: CutResult }> {
  const { files, notes, steps } = recording;
  const disk = new SimulatedDisk(files);
  const known: Note[] = [...notes];
  const violations: string[] = [];
  let demanded = 0;
  let last: CutResult = { files, notes };
  let at = 0;
  for (const cut of chooseCuts(recording, cuts, next)) {
    for (; at < cut; at++) {
      const step = steps[at]!;
      if (step.type === 'note') known.push(JSON.parse(step.text) as Note);
      else if (syncs || step.type !== 'begin' || !step.operation.type.startsWith('sync')) applyStep(disk, step);
    }
    const left = disk.afterPowerLoss(next);
    const data = join(folder, 'cut');
    writeFiles(data, left);
    // The -shm file is shared memory and may have any content after the processes end.
    if (next(2) === 0) writeFileSync(join(data, `${file}-shm`), new Uint8Array(next(2) === 0 ? 32_768 : next(40_000)).fill(next(256)));
    demanded += acknowledgedIn(known);
    const found = await checkStore(join(data, file), known, next);
    if (found.length > 0) {
      violations.push(...found.map((violation) => `cut ${cut} of ${steps.length}: ${violation}`));
      writeFiles(join(folder, `violation-${cut}`), left);
      writeFileSync(
        join(folder, `violation-${cut}`, 'violations.txt'),
        [...found, ...known.map((entry) => JSON.stringify(entry))].join('\n'),
      );
    } else if (left.has(file)) last = { files: left, notes: [...known] };
    rmSync(data, { recursive: true });
  }
  return { violations, demanded, last };
}

/**
 * Chooses a third of the moments anywhere, a third at acknowledgements, observations and other notes, and a third while a
 * store is being opened.
 */
function chooseCuts({ steps, second }: Recording, count: number, next: Random): number[] {
  const anywhere = Array.from(steps, (_, i) => i);
  const critical = steps.flatMap((step, i) => {
    const { type } = step;
    if (type === 'note') return /"type":"(?:ack|event)"/.test(step.text) ? [i, i + 1] : [];
    return type === 'begin' && step.operation.type !== 'write' ? [i, i + 1, i + 2] : [];
  });
  const opening = [0, second].flatMap((start) => {
    const opened = steps.findIndex(({ type }, i) => i >= start && type === 'note');
    return anywhere.slice(start, opened + stepsAfterOpening);
  });
  return Array.from({ length: count }, (_, i) => {
    const moments = [anywhere, critical, opening][i % 3]!;
    return Math.min(moments[next(moments.length)]!, steps.length);
  }).sort((a, b) => a - b);
}

/** Opens the files and compares them with the notes. */
async function checkStore(path: string, notes: readonly Note[], next: Random): Promise<string[]> {
  const history = notes.filter((entry): entry is HistoryEntry => entry.type !== 'compact' && entry.type !== 'compacted');
  const violations: string[] = [];
  let storage: EmbeddedStorage | undefined;
  try {
    const onFailure = ({ message }: Error): void => void violations.push(`the store has failed: ${message}`);
    storage = await EmbeddedStorage.open({ file: path, compactionIntervalMs: 0, worker: false, onFailure });
    const revision = await storage.currentRevision();
    const compacted = await storage.compactRevision();
    violations.push(...checkCompaction(notes, compacted));
    // The watcher received the events before they were compacted.
    const log = eventsIn(history).filter((event) => event.revision <= compacted);
    const kept = log.length;
    if (revision > Math.max(compacted, 1)) {
      for await (const event of storage.watch('/', compacted, new AbortController().signal)) {
        const { key, record, previous } = event;
        log.push({ revision: event.revision, key, text: record ? textOf(record.value) : '', previous: previous?.revision ?? 0 });
        if (event.revision >= revision) break;
      }
    }
    const final: FinalState = { revision, records: recordsOf((await storage.list('/')).records) };
    violations.push(...checkHistory([...history, { type: 'open', life: 0, revision }], log, final));
    // Checks past states: the oldest one after the compaction, and one in between.
    const between = log[kept + next(Math.max(1, log.length - kept))]?.revision;
    for (const past of [compacted, between]) {
      if (past === undefined || past === 0) continue;
      const list = { type: 'listEnd' as const, id: 0, revision: past, records: (await storage.list('/', { revision: past })).records };
      const records = recordsOf(list.records).map((each) => [each.key, each.revision, each.text] as const);
      violations.push(
        ...checkHistory(
          [
            { type: 'listBegin', id: 0 },
            { ...list, records },
          ],
          log,
          final,
        ).filter((each) => each.startsWith('list')),
      );
    }
    const { revision: written } = await storage.create('/after', () => globalThis.Buffer.from('after'));
    if (written <= revision) violations.push(`a write after the power failure got the revision ${written}, after ${revision}`);
  } catch (error) {
    violations.push(`the store cannot be used: ${(error as Error).stack}`);
  } finally {
    await storage?.close();
  }
  if (violations.length === 0) violations.push(...checkIntegrity(path));
  return violations;
}

/** Checks that the compact revision is the last acknowledged one or one requested since. */
function checkCompaction(notes: readonly Note[], compacted: number): string[] {
  const done = Math.max(0, ...notes.map((entry) => (entry.type === 'compacted' ? entry.revision : 0)));
  const asked = notes.some((entry) => entry.type === 'compact' && entry.revision === compacted);
  if (compacted < done) return [`it is compacted at ${compacted}, after ${done} was acknowledged`];
  return compacted > 0 && !asked ? [`it is compacted at ${compacted}, which was not requested`] : [];
}

function checkIntegrity(path: string): string[] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const rows = database.prepare('PRAGMA integrity_check').all() as { readonly integrity_check: string }[];
    const { auto_vacuum: vacuum } = database.prepare('PRAGMA auto_vacuum').get() as { readonly auto_vacuum: number };
    const violations = rows.map((row) => row.integrity_check).filter((text) => text !== 'ok');
    return vacuum === incrementalVacuum ? violations : [...violations, `its pages cannot be given back: auto_vacuum is ${vacuum}`];
  } finally {
    database.close();
  }
}

/** Returns the watcher's events as a log. */
function eventsIn(history: readonly HistoryEntry[]): LogEvent[] {
  const present = new Map<string, number>();
  const log: LogEvent[] = [];
  for (const entry of history) {
    if (entry.type !== 'event') continue;
    const { revision, key, text } = entry;
    log.push({ revision, key, text, previous: present.get(key) ?? 0 });
    if (text === '') present.delete(key);
    else present.set(key, revision);
  }
  return log;
}

function recordsOf(records: readonly { readonly key: string; readonly revision: number; readonly value: Buffer }[]): FinalState['records'] {
  return records.map(({ key, revision, value }) => ({ key, revision, text: textOf(value) }));
}

function notesOf(steps: readonly Step[]): Note[] {
  return steps.flatMap((step) => (step.type === 'note' ? [JSON.parse(step.text) as Note] : []));
}

function acknowledgedIn(notes: readonly Note[]): number {
  return notes.filter(({ type }) => type === 'ack').length;
}

/** Returns the revision that the watcher has reached. */
function watchedIn(notes: readonly Note[]): number {
  return Math.max(1, ...notes.map((entry) => (entry.type === 'event' ? entry.revision : entry.type === 'watch' ? entry.from : 0)));
}

/** Returns the first line of a value, which identifies the write. */
export function textOf(value: Buffer): string {
  return value.toString('latin1', 0, value.indexOf('\n'));
}

function writeFiles(folder: string, files: ReadonlyMap<string, Buffer>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
  const { violations, deaths, folder, ...figures } = await runPowerLossTest({ cuts: Number(process.argv[2] ?? 2_000), seed });
  process.stdout.write(`seed ${seed}: ${JSON.stringify(figures)}, deaths ${JSON.stringify(deaths)}\n`);
  for (const violation of violations) process.stdout.write(`${violation}\n`);
  if (violations.length > 0) process.stdout.write(`kept: ${folder}\n`);
  process.exitCode = violations.length > 0 ? 1 : 0;
}
