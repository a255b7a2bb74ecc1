/**
 * Request content must not cost more than twice the CPU time of kube-apiserver, block other clients, or cause a panic
 * response. The costs and responses of kube-apiserver are recorded (record.ts), with the time of a fixed computation that
 * scales them to this machine.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Kubenest } from '../../servers/kubenest.ts';
import { type ContentCase, costly, odd } from './cases.ts';
import { type Delay, Delays } from './delays.ts';
import { ask, type Cost, calibrate, measure, prepare, type Target } from './measure.ts';
import type { Recorded } from './record.ts';

const recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'kube-apiserver.expected.json'), 'utf8')) as Recorded;

/** Tolerated additional CPU time of a case: starting a thread, garbage collection, background work. */
const slackMs = 400;
const maxDelayMs = 100;
/**
 * All cases take a quarter of an hour: a normal run plays as many as fit into its time; the complete sweep is
 * `KUBENEST_WHOLE_SWEEP=1 npm test -- test/security/content`.
 */
const isWhole = process.env['KUBENEST_WHOLE_SWEEP'] !== undefined;
const budgetMs = isWhole ? Number.POSITIVE_INFINITY : 40_000;
/** Errors of etcd for objects that are too large. */
const isTooLarge = /request is too large|trying to send message larger than max/;

/** Reorders the cases so that similar neighbours are far apart. */
function spread<T>(cases: readonly T[]): T[] {
  const stride = 8;
  return Array.from({ length: stride }, (_, first) => cases.filter((_one, at) => at % stride === first)).flat();
}

let folder: string;
let server: Kubenest;
let target: Target;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kubenest-content-'));
  server = await Kubenest.start(folder, ['--request-timeout=60s']);
  target = { url: server.url, token: 'admin-token', pid: server.pid };
  await prepare(target);
}, 120_000);
afterAll(async () => {
  await server.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

interface Play {
  readonly cost: Cost;
  readonly waits: readonly Delay[];
}

/**
 * Plays a case, up to three times if it exceeds a limit. Returns the best result with the same status, because other
 * processes and garbage collection add time.
 */
async function play(one: ContentCase, maxProcessorMs: number, maxWaitMs: number): Promise<Play> {
  const longest = ({ waits }: Play): number => Math.max(0, ...waits.map(({ milliseconds }) => milliseconds));
  let best: Play | undefined;
  for (let i = 0; i < 3; i++) {
    using watching = new Delays(target, one.name);
    const cost = await measure(target, one);
    const again: Play = { cost, waits: await watching.stop() };
    if (best && cost.status !== best.cost.status) break;
    best = {
      cost: best && best.cost.processorMs < cost.processorMs ? best.cost : cost,
      waits: best && longest(best) < longest(again) ? best.waits : again.waits,
    };
    if (best.cost.processorMs <= maxProcessorMs && longest(best) <= maxWaitMs) break;
  }
  return best!;
}

it('no content costs more than twice its cost on kube-apiserver or blocks other clients', { timeout: 1_800_000 }, async () => {
  const slower = Math.max(1, calibrate() / recorded.calibrationMs);
  const costlier: string[] = [];
  const failed: string[] = [];
  const delays: Delay[] = [];
  const ends = performance.now() + budgetMs;
  let played = 0;
  for (const one of isWhole ? costly : spread(costly)) {
    if (performance.now() > ends) break;
    played += 1;
    const theirs = recorded.costly[one.name];
    expect(theirs, one.name).toBeDefined();
    const [theirStatus, theirMs] = theirs!;
    const { cost, waits } = await play(one, 2 * theirMs * slower + slackMs * slower, maxDelayMs * slower);
    delays.push(...waits);
    if (cost.status >= 500 && theirStatus < 500 && !isTooLarge.test(cost.text))
      failed.push(`${one.name}: ${cost.status} ${cost.text.slice(0, 200)}`);
    if (cost.processorMs > 2 * theirMs * slower + slackMs * slower)
      costlier.push(`${one.name}: ${cost.processorMs} ms, kube-apiserver ${theirMs} ms`);
  }
  expect(played).toBeGreaterThan(50);
  // 99.9% of the latencies are below the first remaining one.
  const sorted = delays.toSorted((a, b) => b.milliseconds - a.milliseconds);
  const left = sorted[Math.ceil(sorted.length / 1_000)]!;
  const longest = sorted.slice(0, 30).map(({ name, milliseconds }) => `${milliseconds.toFixed(0)} ms: ${name}`);
  expect({ costlier, failed }).toEqual({ costlier: [], failed: [] });
  expect(left.milliseconds, longest.join('\n')).toBeLessThan(maxDelayMs * slower);
});

it('no mistyped number, null or list causes an error that kube-apiserver does not have', {
  timeout: 600_000,
}, async () => {
  const failed: string[] = [];
  for (const { name, request } of odd) {
    const { status, text } = await ask(target, request);
    if (status >= 500 && !recorded.failing.includes(name)) failed.push(`${name}: ${status} ${text.slice(0, 200)}`);
    if (text.includes('panic')) failed.push(`${name}: ${text.slice(0, 200)}`);
  }
  expect(failed).toEqual([]);
});
