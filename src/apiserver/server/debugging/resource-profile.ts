import type { Buffer } from 'node:buffer';
import { PprofBuilder, type ValueType } from './pprof.ts';

const count = { type: 'count', unit: 'count' };

/** How many of each kind of resource keep the event loop alive: as near as this engine comes to goroutines. */
export function activeResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
}

/** The same as a gzipped message of pprof: one place for each kind. */
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

/** A profile without samples, of what this engine does not have. */
export function emptyProfile(valueTypes: readonly ValueType[] = [count]): Promise<Buffer> {
  const [periodType = count] = valueTypes;
  return new PprofBuilder(valueTypes).finish({ startedAt: Date.now(), durationNanoseconds: 0, periodType, period: 1 });
}
