import { Buffer } from 'node:buffer';
import type { Profiler } from 'node:inspector';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { integer, nested, text } from '#apimachinery/runtime/protobuf-parts';

const compress = promisify(gzip);
const periodMicroseconds = 10_000;

/** What this thread does for so long, as the gzipped protobuf message that `go tool pprof` reads. It ends sooner where `cancelled` says so. */
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
    return await compress(pprofOf(profile, startedAt));
  } finally {
    session.disconnect();
  }
}

/**
 * A profile of V8 in Go's form: a sample for each stack, with how often it was seen and for how long; of when nothing was done there is none. Functions are told by name and place.
 * Upstream: google/pprof/proto/profile.proto.
 */
export function pprofOf({ nodes, samples = [], timeDeltas = [], startTime, endTime }: Profiler.Profile, startedAt: number): Buffer {
  const strings = new Map<string, number>([['', 0]]);
  const index = (value: string): number => {
    let at = strings.get(value);
    if (at === undefined) strings.set(value, (at = strings.size));
    return at;
  };
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const seen = new Map<number, { count: number; microseconds: number }>();
  const idle = new Set(nodes.filter(({ callFrame }) => callFrame.functionName === '(idle)').map(({ id }) => id));
  for (const [at, id] of samples.entries()) {
    if (idle.has(id)) continue;
    const one = seen.get(id) ?? { count: 0, microseconds: 0 };
    seen.set(id, { count: one.count + 1, microseconds: one.microseconds + (timeDeltas[at] ?? 0) });
  }
  const valueType = (field: number, type: string, unit: string): Buffer =>
    nested(field, [integer(1, index(type)), integer(2, index(unit))]);
  const stackOf = (id: number | undefined): Buffer[] => (id === undefined ? [] : [integer(1, id), ...stackOf(parents.get(id))]);
  const parts = [valueType(1, 'samples', 'count'), valueType(1, 'cpu', 'nanoseconds')];
  for (const [id, { count, microseconds }] of seen)
    parts.push(nested(2, [...stackOf(id), integer(2, count), integer(2, Math.max(0, microseconds) * 1_000)]));
  // Each node is a place of its own, and a function of its own: V8 tells them apart by their ids.
  for (const { id, callFrame } of nodes) {
    const { functionName, url, lineNumber } = callFrame;
    const name = index(functionName || '(anonymous)');
    const line = Math.max(0, lineNumber + 1);
    parts.push(nested(4, [integer(1, id), nested(4, [integer(1, id), integer(2, line)])]));
    parts.push(nested(5, [integer(1, id), integer(2, name), integer(3, name), integer(4, index(url)), integer(5, line)]));
  }
  parts.push(integer(9, startedAt * 1_000_000), integer(10, Math.max(0, endTime - startTime) * 1_000));
  parts.push(valueType(11, 'cpu', 'nanoseconds'), integer(12, periodMicroseconds * 1_000));
  for (const value of strings.keys()) parts.push(text(6, value));
  return Buffer.concat(parts);
}
