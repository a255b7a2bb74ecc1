import { readdirSync, readFileSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { getPriority, setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { paceCollections } from './collection-pace.ts';
import { collectWhenIdle } from './idle-collection.ts';

/**
 * False with `KUBENEST_ENGINE_TUNING=off`: the server runs on Node's defaults. bin/kubenest validates the value. See
 * docs/internals/engine.md.
 */
const isTuned = process.env['KUBENEST_ENGINE_TUNING'] !== 'off';

/** Node modules that a start requires. */
const neededModules = [
  'assert',
  'async_hooks',
  'child_process',
  'crypto',
  'diagnostics_channel',
  'dns/promises',
  'fs/promises',
  'http2',
  'https',
  'perf_hooks',
  'querystring',
  'sqlite',
  'stream/promises',
  'timers/promises',
  'tty',
  'worker_threads',
  'zlib',
];

/** Collects when the heap has grown by half. Under load, this saves about 30 % of the memory for a few percent of speed. */
const oftenFlag = '--heap-growing-percent=50';
/** Collects when the heap is three times as large. */
const seldomFlag = '--heap-growing-percent=200';

const flags = [
  oftenFlag,
  // Reads enumerated keys by the general bytecode. With the special bytecode, V8 optimizes deepCopy for a single key and discards the code,
  // a hundred times per second.
  '--no-enable-enumerated-keyed-access-bytecode',
  // Provides the collection after a busy period (idle-collection.ts).
  '--expose-gc',
  // Keeps code that has not run for some collections. Otherwise each idle minute would discard code, and the next load would start in the
  // interpreter.
  '--no-flush-bytecode',
  // Allocation-site pretenuring would allocate short-lived request objects directly in old space. This concerns a third of each
  // write's memory, which a young collection could then not free.
  '--no-allocation-site-pretenuring',
];

/**
 * At most an eighth of V8's default number of calls, which suits short-lived web pages. TurboFan keeps its default: early compilation
 * would delay the first requests of each kind by more than it saves (a quarter of the first watches' 99th percentile).
 */
const servingFlags = ['--invocation-count-for-maglev=50', '--minimum-invocations-after-ic-update=50'];

/**
 * Configures Node and V8 before any other module of the server is loaded. V8 rejects cached code that was compiled under other flags. If
 * the process started with these flags, it would lose the code cache of Node's own modules, which costs 100 ms per start. They are
 * therefore set here, after those modules are loaded. `compileCache` is a folder with the compiled code of earlier starts, which the build
 * fills.
 */
export function tuneEngine(compileCache: string): void {
  if (!isTuned) return;
  for (const name of neededModules) process.getBuiltinModule(`node:${name}`);
  for (const flag of flags) setFlagsFromString(flag);
  // The running context does not have `gc`.
  globalThis.gc ??= runInNewContext('gc') as NodeJS.GCFunction;
  enableCompileCache(compileCache);
}

/**
 * Optimizes code sooner; call it once the server serves. A newly started server then reaches its full speed after two seconds of load
 * instead of ten. Before the start, it would also optimize code that runs only once, which costs a third more time and memory.
 */
export function optimizeSooner(): void {
  if (!isTuned) return;
  for (const flag of servingFlags) setFlagsFromString(flag);
  makeWayForRequests();
}

/** Runs idle and paced collections until it is disposed of; call it when the server has started. */
export function tendEngine(): Disposable {
  const tended = new DisposableStack();
  if (isTuned) {
    tended.use(collectWhenIdle());
    tended.use(paceCollections({ collectOften, collectSeldom }));
  }
  return tended;
}

/** Takes effect at the next collection. */
function collectSeldom(): void {
  setFlagsFromString(seldomFlag);
}

/** Restores the rate of the start. */
function collectOften(): void {
  setFlagsFromString(oftenFlag);
}

const tasks = '/proc/self/task';
const backgroundPriority = 10;

/**
 * Lowers the priority of V8's threads, which compile and collect, below that of the serving threads. With equal priorities, Linux wakes the
 * main thread on its previous core behind a compilation of 3 to 6 ms, even while another core is idle. On other systems, or without
 * permission, the priorities remain equal.
 */
function makeWayForRequests(): void {
  if (process.platform !== 'linux') return;
  for (const id of readdirSync(tasks).map(Number)) {
    try {
      const name = readFileSync(`${tasks}/${id}/comm`, 'utf8').trim();
      if (name === 'V8Worker' && getPriority(id) < backgroundPriority) setPriority(id, backgroundPriority);
    } catch {
      // The thread has ended, or the process lacks permission to set priorities.
    }
  }
}
