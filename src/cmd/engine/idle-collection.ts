import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { bytesDropped } from '#apiserver/storage/cacher/dropped-bytes';

/** Memory state and collector of the process. */
export interface Memory {
  /** Share of the time since the last call in which the event loop was busy, from 0 to 1. */
  utilization(): number;
  /**
   * Bytes that the heap and its external memory hold, plus all bytes freed since the start. The value grows by the amount that a collection
   * can free.
   */
  bytes(): number;
  /** Collects garbage; blocks the event loop for less than 250 ms. */
  collect(): void;
}

const lookEveryMs = 1_000;
/** Utilization of an idle server, in which leases and health checks continue. */
const idleUtilization = 0.05;
/**
 * Growth since the last collection that justifies another one after a short pause. A collection discards optimized code whose objects,
 * including those of requests, are gone: the next load then starts with slow code.
 */
const worthSoonBytes = 128 * 1024 * 1024;
const soonTicks = 10;
/** Growth that justifies a collection after the start, before any load, or after so many consecutive idle ticks. */
const worthBytes = 16 * 1024 * 1024;
const lastingTicks = 30;
/**
 * Delay of a last collection, which frees what lists and writes have left in caches. A cache checks every 30 s, and drops encodings that
 * were not requested since the last check and past states older than 75 s.
 */
const lateTicks = 110;
/**
 * Heap size that indicates that the start has read a large store. Its garbage is collected before clients connect, possibly all at once.
 */
const largeBytes = 256 * 1024 * 1024;
/**
 * Heap size below which a collection also returns memory to the system. Such a collection takes more than a millisecond per MiB in use,
 * another one a third of that. Above this size, V8's memory reducer returns the memory by two incremental collections, at least eight
 * seconds later, when it detects a low allocation rate.
 */
const thoroughBelowBytes = 128 * 1024 * 1024;

/**
 * Collects the garbage of a busy period when it is over. V8 collects only when it needs memory, so a server would retain the garbage of a
 * burst of large lists until then. Call it when the server has started. `undefined` if the process has no `gc` (engine.ts enables it).
 */
export function collectWhenIdle(memory: Memory | undefined = processMemory()): Disposable | undefined {
  if (!memory) return undefined;
  let kept = 0;
  /** Consecutive ticks without load. */
  let quiet = 0;
  /** Remaining ticks until the last collection, which no other one follows. */
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
