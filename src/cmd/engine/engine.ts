import { readdirSync, readFileSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { getPriority, setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { paceCollections } from './collection-pace.ts';
import { collectWhenIdle } from './idle-collection.ts';

/** False with `KUBENEST_ENGINE_TUNING=off`: the server runs on Node as it is. bin/kubenest checks the value. See docs/internals/engine.md. */
const isTuned = process.env['KUBENEST_ENGINE_TUNING'] !== 'off';

/** Modules of Node that a start needs. */
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

/** Collect when the heap has grown by half: under load about 30 % less memory, for a few percent of speed. */
const oftenFlag = '--heap-growing-percent=50';
/** Collect when it is three times as large. */
const seldomFlag = '--heap-growing-percent=200';

const flags = [
  oftenFlag,
  // Enumerated keys are read by the general bytecode: with its own, V8 optimizes deepCopy for one key and throws the code away,
  // a hundred times a second.
  '--no-enable-enumerated-keyed-access-bytecode',
  // For the collection after a busy time (idle-collection.ts).
  '--expose-gc',
  // Code that has not run for some collections stays: each quiet minute has some, and the next load would begin with the interpreter.
  '--no-flush-bytecode',
  // What was made where most of it once lasted would be made among what is old, for good: a third of each write, which a young
  // collection then cannot take.
  '--no-allocation-site-pretenuring',
];

/**
 * An eighth of the calls and less that V8 waits for, which has pages in mind that are left soon. Not for TurboFan, too: what it compiles early
 * takes a processor from the first requests of each kind for longer than it saves (a quarter of the first watches' 99th percentile).
 */
const servingFlags = ['--invocation-count-for-maglev=50', '--minimum-invocations-after-ic-update=50'];

/**
 * What the process asks of Node and V8 before anything else of the server is loaded. V8 refuses compiled code that was made under
 * other flags: these, given to the process, would cost it the code into which Node's modules were compiled when Node was built,
 * 100 ms of each start. So they are set here, when those modules are loaded. `compileCache` is a folder with the compiled code of
 * earlier starts, which the build fills.
 */
export function tuneEngine(compileCache: string): void {
  if (!isTuned) return;
  for (const name of neededModules) process.getBuiltinModule(`node:${name}`);
  for (const flag of flags) setFlagsFromString(flag);
  // The context that runs already does not have it.
  globalThis.gc ??= runInNewContext('gc') as NodeJS.GCFunction;
  enableCompileCache(compileCache);
}

/**
 * To be called once the server serves. Code is optimized sooner from now on: a server that has just started comes to its full speed in two
 * seconds of a load instead of ten. Before it has started, what it does once would be optimized, too: a third more time and memory.
 */
export function optimizeSooner(): void {
  if (!isTuned) return;
  for (const flag of servingFlags) setFlagsFromString(flag);
  makeWayForRequests();
}

/** Collects garbage when it is worth it, from now on until it is disposed of. To be called when the server has started. */
export function tendEngine(): Disposable {
  const tended = new DisposableStack();
  if (isTuned) {
    tended.use(collectWhenIdle());
    tended.use(paceCollections({ collectOften, collectSeldom }));
  }
  return tended;
}

/** From the next collection on. */
function collectSeldom(): void {
  setFlagsFromString(seldomFlag);
}

/** As from the start on. */
function collectOften(): void {
  setFlagsFromString(oftenFlag);
}

const tasks = '/proc/self/task';
const backgroundPriority = 10;

/**
 * Threads of V8, which compile and collect, give way to those that serve. With equal priorities Linux wakes the main thread on the core that it
 * slept on, behind a compilation of 3 to 6 ms, even while another core has nothing to do. Elsewhere, and where it is not allowed, they stay equal.
 */
function makeWayForRequests(): void {
  if (process.platform !== 'linux') return;
  for (const id of readdirSync(tasks).map(Number)) {
    try {
      const name = readFileSync(`${tasks}/${id}/comm`, 'utf8').trim();
      if (name === 'V8Worker' && getPriority(id) < backgroundPriority) setPriority(id, backgroundPriority);
    } catch {
      // The thread has ended, or priorities are not ours to set.
    }
  }
}
