import type { Buffer } from 'node:buffer';
import type { HeapProfiler } from 'node:inspector';
import { setTimeout as wait } from 'node:timers/promises';
import { PprofBuilder } from './pprof.ts';

const intervalBytes = 65_536;
const space = { type: 'space', unit: 'bytes' };

export interface HeapProfileOptions {
  readonly milliseconds: number;
  /** True if objects that were garbage-collected meanwhile are also counted. */
  readonly countsCollected: boolean;
  readonly cancelled: AbortSignal;
}

/**
 * Samples the allocations of this thread by call stack for the given time, until `cancelled` at most; V8 has no data from before.
 * Returns the gzipped pprof message.
 */
export async function heapProfile({ milliseconds, countsCollected, cancelled }: HeapProfileOptions): Promise<Buffer> {
  const { Session } = await import('node:inspector/promises');
  const session = new Session();
  session.connect();
  try {
    const startedAt = Date.now();
    await session.post('HeapProfiler.startSampling', {
      samplingInterval: intervalBytes,
      includeObjectsCollectedByMajorGC: countsCollected,
      includeObjectsCollectedByMinorGC: countsCollected,
    });
    await wait(milliseconds, undefined, { signal: cancelled }).catch(() => {});
    const { profile } = await session.post('HeapProfiler.stopSampling');
    return await pprofOf(profile, countsCollected ? 'alloc' : 'inuse').finish({
      startedAt,
      durationNanoseconds: (Date.now() - startedAt) * 1_000_000,
      periodType: space,
      period: intervalBytes,
    });
  } finally {
    session.disconnect();
  }
}

function pprofOf({ head }: HeapProfiler.SamplingHeapProfile, what: 'alloc' | 'inuse'): PprofBuilder {
  const builder = new PprofBuilder([{ type: `${what}_space`, unit: 'bytes' }]);
  let last = 0;
  const add = ({ callFrame, selfSize, children }: HeapProfiler.SamplingHeapProfileNode, above: readonly number[]): void => {
    const id = ++last;
    const stack = [id, ...above];
    builder.addFrame(id, callFrame);
    if (selfSize > 0) builder.addSample(stack, [selfSize]);
    for (const child of children) add(child, stack);
  };
  for (const child of head.children) add(child, []);
  return builder;
}
