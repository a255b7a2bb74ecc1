import type { Buffer } from 'node:buffer';
import type { Profiler } from 'node:inspector';
import { setTimeout as wait } from 'node:timers/promises';
import { PprofBuilder, type ProfileHeader } from './pprof.ts';

const cpuTime = { type: 'cpu', unit: 'nanoseconds' };
const periodMicroseconds = 10_000;

/**
 * Profiles this thread for the given time, until `cancelled` at most. Returns the gzipped protobuf message that `go tool pprof`
 * reads.
 */
export async function cpuProfile(milliseconds: number, cancelled: AbortSignal): Promise<Buffer> {
  const { Session } = await import('node:inspector/promises');
  const session = new Session();
  session.connect();
  try {
    const startedAt = Date.now();
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: periodMicroseconds });
    await session.post('Profiler.start');
    await wait(milliseconds, undefined, { signal: cancelled }).catch(() => {});
    const { profile } = await session.post('Profiler.stop');
    return await builderOf(profile).finish(headerOf(profile, startedAt));
  } finally {
    session.disconnect();
  }
}

function headerOf({ startTime, endTime }: Profiler.Profile, startedAt: number): ProfileHeader {
  const durationNanoseconds = (endTime - startTime) * 1_000;
  return { startedAt, durationNanoseconds, periodType: cpuTime, period: periodMicroseconds * 1_000 };
}

/**
 * Adds a sample for each stack, with its number of occurrences and total time; idle time has no samples. Functions are identified
 * by name and location.
 */
function builderOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): PprofBuilder {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const seen = new Map<number, { count: number; microseconds: number }>();
  const idle = new Set(nodes.filter(({ callFrame }) => callFrame.functionName === '(idle)').map(({ id }) => id));
  for (const [at, id] of samples.entries()) {
    if (idle.has(id)) continue;
    const one = seen.get(id) ?? { count: 0, microseconds: 0 };
    seen.set(id, { count: one.count + 1, microseconds: one.microseconds + (timeDeltas[at] ?? 0) });
  }
  const stackOf = (id: number | undefined): number[] => (id === undefined ? [] : [id, ...stackOf(parents.get(id))]);
  const builder = new PprofBuilder([{ type: 'samples', unit: 'count' }, cpuTime]);
  for (const [id, { count, microseconds }] of seen) builder.addSample(stackOf(id), [count, Math.max(0, microseconds) * 1_000]);
  // V8 identifies nodes by IDs, so each node is a location and function of its own.
  for (const { id, callFrame } of nodes) builder.addFrame(id, callFrame);
  return builder;
}
