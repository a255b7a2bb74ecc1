/** Differential fuzzing of frames: the own HTTP/2 implementation against nghttp2 and golang.org/x/net/http2. */
import { random } from '../../../fault/random.ts';
import { reviewed } from './differences.ts';
import { distortion, type Mutation, mutations } from './mutations.ts';
import { type Outcome, type Patience, play, type Step } from './outcome.ts';
import { newScript, stepsOf } from './script.ts';
import type { Target, TargetName } from './targets.ts';

export interface Finding {
  /** Seed for `fuzzFrames` that reproduces the case. */
  readonly seed: number;
  readonly number: number;
  readonly mutation: string;
  readonly differences: readonly string[];
  readonly outcomes: Readonly<Partial<Record<TargetName, Outcome>>>;
  /** Sent frames, one step per line. */
  readonly frames: readonly string[];
}

export interface FuzzResult {
  readonly cases: number;
  readonly findings: readonly Finding[];
}

export interface FuzzOptions {
  readonly seed: number;
  readonly seconds: number;
  /** Number of concurrent cases. */
  readonly width?: number;
  /** Numbers of the only cases to run. */
  readonly only?: readonly number[];
  /** Maximum number of findings. */
  readonly most?: number;
}

interface Case {
  readonly mutation: Mutation;
  readonly steps: readonly Step[];
  readonly streams: readonly number[];
}

const mostSuspects = 2_000;
const quick: Patience = { quietMs: 10, mostMs: 300 };
const patient: Patience = { quietMs: 250, mostMs: 1_500 };
const repetitions = 3;
const valid: Mutation = { name: 'nothing', apply: () => undefined };

/** Returns the case with a number: all mutations in turn, with valid and distorted sequences in between. */
function caseOf(seed: number, number: number): Case {
  const next = random(seed * 1_000_003 + number);
  for (let i = 0; i < 8; i++) next(2);
  const round = number % 5;
  const index = Math.floor(number / 5) * 3 + round;
  const mutation = round === 4 ? distortion : round === 3 ? valid : (mutations[index % mutations.length] as Mutation);
  const script = newScript(next);
  mutation.apply(script, next);
  return { mutation, steps: stepsOf(script, next), streams: script.requests.map(({ stream }) => stream) };
}

/** Returns the class of a connection. One that continues after a stream reset differs from an unaffected one. */
function classOf({ connection, codes }: Outcome): string {
  const hasReset = connection === 'open' && Object.values(codes).some((code) => code !== 0);
  return `connection ${connection}${hasReset ? ', a stream reset' : ''}`;
}

/** Returns the differences of two outcomes: connection classes, or else stream classes. */
function differencesOf(ours: Outcome, theirs: Outcome): { readonly ours: string; readonly theirs: string }[] {
  if (ours.connection !== theirs.connection) return [{ ours: classOf(ours), theirs: classOf(theirs) }];
  const found = Object.keys(ours.streams).map((stream) => ({
    ours: ours.streams[Number(stream)]!,
    theirs: theirs.streams[Number(stream)]!,
  }));
  return found.filter((pair) => pair.ours !== pair.theirs);
}

const because = ({ connection, reason }: Outcome): string => (connection === 'error' ? ` (${reason})` : '');

/** Returns the differences without a review. */
function unreviewed({ mutation }: Case, outcomes: Readonly<Partial<Record<TargetName, Outcome>>>): string[] {
  const peers = (['nghttp2', 'go'] as const).filter((peer) => outcomes[peer]);
  const found = peers.flatMap((peer) => differencesOf(outcomes.own!, outcomes[peer]!).map((pair) => ({ peer, ...pair })));
  // The correct outcome of distorted bytes is unknown, so only cases in which both peers agree count.
  if (mutation === distortion && (peers.length < 2 || differencesOf(outcomes.nghttp2!, outcomes.go!).length > 0)) return [];
  return found
    .filter(
      ({ peer, ours, theirs }) =>
        !reviewed.some(
          (each) => each.mutation.test(mutation.name) && each.peers.includes(peer) && each.ours.test(ours) && each.theirs.test(theirs),
        ),
    )
    .map(({ peer, ours, theirs }) => `${peer}: ${theirs}${because(outcomes[peer]!)}, own: ${ours}${because(outcomes.own!)}`);
}

async function playAll(
  targets: readonly Target[],
  { steps, streams }: Case,
  patience: Patience,
): Promise<Partial<Record<TargetName, Outcome>>> {
  const outcomes = await Promise.all(targets.map(async (target) => [target.name, await play(target, steps, streams, patience)] as const));
  return Object.fromEntries(outcomes);
}

/**
 * Repeats a case with long timeouts. Returns the last outcomes if they differ each time; an outcome that depends on timing differs only
 * sometimes.
 */
async function confirmed(targets: readonly Target[], each: Case): Promise<Pick<Finding, 'differences' | 'outcomes'> | undefined> {
  for (let left = repetitions; ; left -= 1) {
    const outcomes = await playAll(targets, each, patient);
    const differences = unreviewed(each, outcomes);
    if (differences.length === 0) return undefined;
    if (left === 1) return { differences, outcomes };
  }
}

/**
 * Runs cases until the time is over. A differing case is repeated with a longer timeout and fewer concurrent cases before it
 * counts as a finding.
 */
export async function fuzzFrames(
  targets: readonly Target[],
  { seed, seconds, width = 64, only, most = 20 }: FuzzOptions,
): Promise<FuzzResult> {
  const ends = performance.now() + seconds * 1_000;
  const suspects: number[] = [];
  let cases = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < ends && suspects.length < mostSuspects) {
      const number = only ? only[cases] : cases;
      if (number === undefined) return;
      cases += 1;
      const each = caseOf(seed, number);
      if (unreviewed(each, await playAll(targets, each, quick)).length > 0) suspects.push(number);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  const findings: Finding[] = [];
  const confirm = async (): Promise<void> => {
    for (let number = suspects.shift(); number !== undefined && findings.length < most; number = suspects.shift()) {
      const each = caseOf(seed, number);
      const found = await confirmed(targets, each);
      const frames = each.steps.map(({ bytes }) => bytes.toString('hex'));
      if (found) findings.push({ seed, number, mutation: each.mutation.name, ...found, frames });
    }
  };
  suspects.sort((a, b) => a - b);
  await Promise.all(Array.from({ length: 4 }, confirm));
  return { cases, findings };
}

/** Formats a finding. */
export function describeFinding({ seed, number, mutation, differences, outcomes, frames }: Finding): string {
  const short = frames.map((each) => (each.length > 2_000 ? `${each.slice(0, 2_000)}… (${each.length / 2} octets)` : each));
  return [
    `${mutation} (seed ${seed}, case ${number}): ${differences.join('; ')}`,
    ...Object.entries(outcomes).map(([name, outcome]) => `  ${name}: ${JSON.stringify(outcome)}`),
    ...short.map((each) => `  sent: ${each}`),
  ].join('\n');
}
