import type { Buffer } from 'node:buffer';
import { PprofBuilder, type ValueType } from './pprof.ts';

const count = { type: 'count', unit: 'count' };

/** Returns the number of resources that keep the event loop alive by kind, the closest equivalent of goroutines. */
export function activeResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
}

/** Returns them as a gzipped pprof message with one location for each kind. */
export function resourceProfile(): Promise<Buffer> {
  const builder = new PprofBuilder([{ type: 'goroutine', unit: 'count' }]);
  let id = 0;
  for (const [functionName, number] of activeResources()) {
    id += 1;
    builder.addFrame(id, { functionName, url: 'node', lineNumber: -1 });
    builder.addSample([id], [number]);
  }
  return builder.finish({ startedAt: Date.now(), durationNanoseconds: 0, periodType: { type: 'goroutine', unit: 'count' }, period: 1 });
}

/** Returns a profile without samples. */
export function emptyProfile(valueTypes: readonly ValueType[] = [count]): Promise<Buffer> {
  const [periodType = count] = valueTypes;
  return new PprofBuilder(valueTypes).finish({ startedAt: Date.now(), durationNanoseconds: 0, periodType, period: 1 });
}
