// Starts bin/kubenest serve on empty data folders and measures the time from process start until /readyz returns ok, and the
// resident memory then. Prints the median of both; with --check, exits with 1 if the memory or the fastest start exceeds its
// limit. The time limit is scaled by the time that Node takes to load its own modules on this machine, again and again for about as long
// as a start takes: a busy machine seldom leaves a whole start undisturbed, and a shorter yardstick often.
//   node test/bench/startup.mjs [--runs 9] [--check]
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import https from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { freePort } from '../../scripts/free-port.ts';

/** The bar of a start is 700 ms; a fifth more is left for noise, which is larger than most changes. */
const limits = { milliseconds: 850, megabytes: 160 };
/** The processes of a yardstick, and the time that they take on the machine for which the limit is. */
const yardstick = { processes: 8, milliseconds: 600 };
const mostRuns = 30;
const root = resolve(fileURLToPath(import.meta.url), '../../..');
const { values } = parseArgs({ options: { runs: { type: 'string', default: '9' }, check: { type: 'boolean', default: false } } });

async function measure() {
  const folder = mkdtempSync(join(tmpdir(), 'kubenest-bench-'));
  const port = await freePort();
  const began = performance.now();
  // The limits apply to one thread; on more than two cores, serving workers would add 12 MB each.
  const flags = [`--data-dir=${folder}/data`, `--secure-port=${port}`, '--serving-workers=0'];
  const server = spawn(join(root, 'bin/kubenest'), ['serve', ...flags], { stdio: ['ignore', 'ignore', 'ignore'] });
  try {
    while (!(await listens(port)) || !(await isReady(port))) {
      if (server.exitCode !== null) throw new Error(`the server ended with exit code ${server.exitCode}`);
      await sleep(2);
    }
    const milliseconds = performance.now() - began;
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1];
    return { milliseconds, megabytes: Number(kilobytes) / 1024 };
  } finally {
    server.kill('SIGTERM');
    if (server.exitCode === null) await once(server, 'exit');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the milliseconds that Node takes to load its own modules in several processes, a measure of the machine's current speed. */
function measureYardstick() {
  const began = performance.now();
  const load = 'for (const name of require("node:module").builtinModules) require(name)';
  for (let i = 0; i < yardstick.processes; i += 1) spawnSync(process.execPath, ['--no-warnings', '-e', load]);
  return performance.now() - began;
}

/** Checks the port, which costs less than hundreds of refused requests on the server's threads. */
async function listens(port) {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

function isReady(port) {
  const { promise, resolve } = Promise.withResolvers();
  const request = https.get({ host: '127.0.0.1', port, path: '/readyz', rejectUnauthorized: false, agent: false }, (response) => {
    response.resume();
    resolve(response.statusCode === 200);
  });
  request.on('error', () => resolve(false));
  return promise;
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
}

const runs = [];
const yardsticks = [];
/** Other load only adds to a duration, so the minimum is the best estimate. */
const fastest = (times) => Math.min(...times);
const limitNow = () => limits.milliseconds * Math.max(1, fastest(yardsticks) / yardstick.milliseconds);
const isFast = () => fastest(runs.map((run) => run.milliseconds)) <= limitNow();
while (runs.length < Number(values.runs) || (values.check && !isFast() && runs.length < mostRuns)) {
  yardsticks.push(measureYardstick());
  runs.push(await measure());
}
const milliseconds = Math.round(median(runs.map((run) => run.milliseconds)));
const megabytes = Math.round(median(runs.map((run) => run.megabytes)));
console.log(
  `start to /readyz ok: median ${milliseconds} ms of ${runs.map((run) => Math.round(run.milliseconds)).join(', ')} (limit ${limits.milliseconds})`,
);
console.log(
  `Node loads its own modules ${yardstick.processes} times in ${Math.round(fastest(yardsticks))} ms, median ${Math.round(median(yardsticks))}: limit of the fastest start ${Math.round(limitNow())} ms`,
);
console.log(`resident memory then: median ${megabytes} MB (limit ${limits.megabytes})`);
if (values.check && (!isFast() || megabytes > limits.megabytes)) process.exitCode = 1;
