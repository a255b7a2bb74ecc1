import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { bytesDropped } from '#apiserver/storage/cacher/dropped-bytes';

/** What is known of the process, and what can be done for it. */
export interface Memory {
  /** The share of the time since the last call in which the event loop was busy, 0 to 1. */
  utilization(): number;
  /** Bytes that the heap and what hangs on it hold, and all that were let go of since the start: it grows by what a collection would find. */
  bytes(): number;
  /** Collects garbage; the event loop stands still meanwhile, less than 250 ms. */
  collect(): void;
}

const lookEveryMs = 1_000;
/** Leases and health checks go on in a quiet server. */
const idleUtilization = 0.05;
/**
 * So much must have come since the last collection to be worth another after a short pause. Optimized code goes with the
 * last objects that it was made for, those of requests among them: after a collection in a pause the next load begins with slow code.
 */
const worthSoonBytes = 128 * 1024 * 1024;
const soonTicks = 10;
/** So much is enough after the start, of which no load has come yet, and where so many ticks in a row were quiet. */
const worthBytes = 16 * 1024 * 1024;
const lastingTicks = 30;
/**
 * So long after a collection goes what lists and writes have left, too: a cache looks every 30 s, and drops encodings that nobody
 * asked for since the last time and states of the past that are older than 75 s.
 */
const lateTicks = 110;
/** Who holds so much at the start has read a large store: what that has left goes before its clients come, all at once perhaps. */
const largeBytes = 256 * 1024 * 1024;
/**
 * A collection that gives memory back to the system takes more than a millisecond for each MiB in use; one that does not, a third of it. Behind
 * that, V8's memory reducer does so: eight seconds after it, or later, once it finds that little is made, by two incremental collections.
 */
const thoroughBelowBytes = 128 * 1024 * 1024;

/**
 * Collects the garbage of a busy time when it is over: V8 does so by itself only when it needs the memory, so
 * a server would keep until then what a burst of large lists has left. To be called when the server has started. `undefined` where the process has no `gc`
 * (engine.ts asks for it).
 */
export function collectWhenIdle(memory: Memory | undefined = processMemory()): Disposable | undefined {
  if (!memory) return undefined;
  let kept = 0;
  /** Ticks without load in a row. */
  let quiet = 0;
  /** Ticks until a last collection; it is not followed by another. */
  let late = Infinity;
  if (memory.bytes() >= largeBytes) {
    memory.collect();
    kept = memory.bytes();
  }
  const timer = setInterval(() => {
    late -= 1;
    quiet = memory.utilization() > idleUtilization ? 0 : quiet + 1;
    if (quiet === 0) return;
    const isCold = kept === 0 || quiet >= lastingTicks;
    const isWorth = (isCold || quiet >= soonTicks) && memory.bytes() >= kept + (isCold ? worthBytes : worthSoonBytes);
    if (!isWorth && late > 0) return;
    late = isWorth ? lateTicks : Infinity;
    memory.collect();
    kept = memory.bytes();
  }, lookEveryMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function processMemory(): Memory | undefined {
  const { gc } = globalThis;
  if (!gc) return undefined;
  let last = performance.eventLoopUtilization();
  return {
    utilization() {
      const before = last;
      last = performance.eventLoopUtilization();
      return performance.eventLoopUtilization(last, before).utilization;
    },
    bytes() {
      const { total_heap_size, external_memory } = getHeapStatistics();
      return total_heap_size + external_memory + bytesDropped();
    },
    collect() {
      const isSmall = getHeapStatistics().used_heap_size < thoroughBelowBytes;
      gc({ type: 'major', execution: 'sync', flavor: isSmall ? 'last-resort' : 'regular' });
    },
  };
}
