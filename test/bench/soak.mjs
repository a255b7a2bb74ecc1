// Detects leaks: starts bin/kubenest serve (built) on an empty data folder, leaves it idle or under a light load for some
// minutes, and samples its memory, heap, file descriptors, timers, sockets and long-running requests. The load consists of
// writes per second over a fixed set of names, a list per second, and watchers that come and go over their own connections
// (HTTP/1.1 and HTTP/2). Before each sample it pauses until the server has collected garbage. Prints the samples and, for
// each column, the growth of a regression line through those after the first third (while caches fill and code is compiled)
// and of their minima (an idle server collects every twenty minutes), compared with the noise; exits with 1 if a growth
// exceeds the noise, or if descriptors, timers, sockets or watches remain at the end.
//   node test/bench/soak.mjs [--minutes 60] [--writes 0] [--watchers 50] [--sample-seconds 120]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import http2 from 'node:http2';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { freePort } from '../../scripts/free-port.ts';

const root = resolve(fileURLToPath(import.meta.url), '../../..');
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    writes: { type: 'string', default: '0' },
    watchers: { type: 'string', default: '50' },
    'sample-seconds': { type: 'string', default: '120' },
  },
});
const minutes = Number(values.minutes);
const writesPerSecond = Number(values.writes);
const sampleSeconds = Number(values['sample-seconds']);
/** Idle time after which the server collects the garbage of a light load. */
const restMs = 33_000;
const names = 1_000;
const configMaps = '/api/v1/namespaces/default/configmaps';
const token = 'soak-token';
const headers = { authorization: `Bearer ${token}` };

/** Sampled columns; a growth below `leastGrowth` is ignored. */
const columns = {
  'memory, MB': { leastGrowth: 2, read: (metrics) => metrics.sum('process_resident_memory_bytes') / 1e6 },
  'heap, MB': { leastGrowth: 1, read: (metrics) => metrics.sum('nodejs_heap_size_used_bytes') / 1e6 },
  'external, MB': { leastGrowth: 1, read: (metrics) => metrics.sum('nodejs_external_memory_bytes') / 1e6 },
  descriptors: { leastGrowth: 1, isCounted: true, read: (metrics) => metrics.sum('process_open_fds') },
  timers: { leastGrowth: 1, isCounted: true, read: (metrics) => metrics.sum('nodejs_active_resources', 'type="Timeout"') },
  sockets: { leastGrowth: 1, isCounted: true, read: (metrics) => metrics.sum('nodejs_active_resources', 'type="TCPSocketWrap"') },
  watches: { leastGrowth: 1, isCounted: true, read: (metrics) => metrics.sum('apiserver_longrunning_requests', 'verb="WATCH"') },
  'processor, s': { isInformation: true, read: (metrics) => metrics.sum('process_cpu_seconds_total') },
};

const folder = mkdtempSync(join(tmpdir(), 'kubenest-soak-'));
const port = await freePort();
const file = join(folder, 'data/kubenest.db');
const agent = new https.Agent({ keepAlive: true, maxSockets: 16 });

function ask(path, method = 'GET', body = undefined, through = agent) {
  const { promise, resolve: answer, reject } = Promise.withResolvers();
  const text = body && JSON.stringify(body);
  const request = https.request(
    {
      ...{ host: '127.0.0.1', port, path, method, agent: through, rejectUnauthorized: false },
      headers: { ...headers, ...(text && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }) },
    },
    (response) => {
      let received = '';
      response.setEncoding('utf8').on('data', (data) => {
        received += data;
      });
      response.on('end', () => answer({ status: response.statusCode, text: received })).on('error', reject);
    },
  );
  request.on('error', (cause) => reject(new Error(`${method} ${path} failed`, { cause }))).end(text);
  return promise;
}

async function start() {
  writeFileSync(join(folder, 'tokens.csv'), `${token},admin,admin,"system:masters"\n`);
  const server = spawn(
    join(root, 'bin/kubenest'),
    ['serve', `--data-dir=${folder}/data`, `--secure-port=${port}`, `--token-auth-file=${folder}/tokens.csv`],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  process.on('exit', () => server.kill('SIGKILL'));
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
  await Promise.race([once(server.stdout, 'data'), once(server, 'exit')]);
  server.stdout.resume();
  if (server.exitCode !== null) throw new Error(`the server ended with exit code ${server.exitCode}`);
  return server;
}

async function sample() {
  const { text } = await ask('/metrics', 'GET', undefined, false);
  const lines = text.split('\n');
  const metrics = {
    sum: (name, label = '') =>
      lines
        .filter((line) => (line.startsWith(`${name} `) || line.startsWith(`${name}{`)) && line.includes(label))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0),
  };
  return Object.fromEntries(Object.entries(columns).map(([name, { read }]) => [name, read(metrics)]));
}

/** Writes, lists and watchers until `rest`, which resolves when no request is pending. */
class Load {
  #isResting = true;
  #under = new Set();
  #watches = new Set();
  counts = { writes: 0, refused: 0, lists: 0, watches: 0, events: 0 };

  go() {
    this.#isResting = false;
    this.#track(this.#writeSteadily());
    this.#track(this.#listSteadily());
    for (let i = 0; i < Number(values.watchers); i++) this.#track(this.#watchAgainAndAgain(i));
  }

  /**
   * Writes enough to start everything that the server starts lazily: the thread that copies the write-ahead log runs every 4
   * MiB, which even an idle server eventually writes.
   */
  async begin() {
    for (let n = 0; n < 3_000; n += 20) await Promise.all(Array.from({ length: 20 }, () => this.#write()));
    agent.destroy();
  }

  async rest() {
    this.#isResting = true;
    for (const end of this.#watches) end();
    await Promise.all(this.#under);
    agent.destroy();
  }

  #track(work) {
    this.#under.add(work);
    work.finally(() => this.#under.delete(work));
  }

  async #writeSteadily() {
    const began = performance.now();
    const open = new Set();
    for (let n = 0; !this.#isResting; await sleep(10)) {
      for (const due = ((performance.now() - began) / 1000) * writesPerSecond; n < due && open.size < 32; n++) {
        const write = this.#write().finally(() => open.delete(write));
        open.add(write);
      }
    }
    await Promise.all(open);
  }

  /** Replaces or deletes an existing object, or creates a missing one. */
  async #write() {
    const name = `c${Math.floor(Math.random() * names)}`;
    const body = { metadata: { name, labels: { soak: name.slice(-1) } }, data: { text: 'x'.repeat(Math.floor(Math.random() * 2_000)) } };
    const { status } = Math.random() < 0.2 ? await ask(`${configMaps}/${name}`, 'DELETE') : await ask(`${configMaps}/${name}`, 'PUT', body);
    if (status === 404) await ask(configMaps, 'POST', body);
    this.counts[status < 500 ? 'writes' : 'refused'] += 1;
  }

  async #listSteadily() {
    const lists = [
      `${configMaps}?limit=100`,
      configMaps,
      `${configMaps}?labelSelector=soak%3D1`,
      '/api/v1/pods',
      `${configMaps}?resourceVersion=0`,
    ];
    for (; !this.#isResting; await sleep(1_000)) {
      await ask(lists[this.counts.lists % lists.length]);
      this.counts.lists += 1;
    }
  }

  async #watchAgainAndAgain(i) {
    const selector = i % 3 === 0 ? '' : `&labelSelector=soak%3D${i % 10}`;
    const path = `${configMaps}?watch=1&allowWatchBookmarks=true&resourceVersion=0${selector}`;
    while (!this.#isResting) {
      await (i % 2 === 0 ? this.#watchHttp2(path) : this.#watchHttp1(path));
      this.counts.watches += 1;
      if (!this.#isResting) await sleep(Math.random() * 1_000);
    }
  }

  #see = (data) => {
    for (const byte of data) if (byte === 10) this.counts.events += 1;
  };

  async #watchHttp1(path) {
    const request = https.get({ host: '127.0.0.1', port, path, agent: false, rejectUnauthorized: false, headers });
    request.on('response', (response) => response.on('data', this.#see).on('error', () => {})).on('error', () => {});
    await this.#forAWhile(request, () => request.destroy());
  }

  async #watchHttp2(path) {
    const session = http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    const stream = session.request({ ':path': path, ...headers });
    session.on('error', () => {});
    stream.on('data', this.#see).on('error', () => {});
    await this.#forAWhile(session, () => session.destroy());
  }

  /** Some connections end abruptly, the others at the end. */
  async #forAWhile(connection, end) {
    // `once` would reject for a request that ends with an error.
    const closed = new Promise((resolve) => connection.once('close', resolve));
    const timer = setTimeout(end, 1_000 + Math.random() * 20_000);
    this.#watches.add(end);
    await closed;
    clearTimeout(timer);
    this.#watches.delete(end);
  }
}

/** Returns the rise of the regression line over the points (i, y), and the residuals' noise. */
function trend(ys) {
  const n = ys.length;
  const middle = (n - 1) / 2;
  const mean = ys.reduce((sum, y) => sum + y, 0) / n;
  const spread = ys.reduce((sum, _, i) => sum + (i - middle) ** 2, 0);
  const slope = ys.reduce((sum, y, i) => sum + (i - middle) * (y - mean), 0) / spread;
  const residual = Math.sqrt(ys.reduce((sum, y, i) => sum + (y - mean - slope * (i - middle)) ** 2, 0) / Math.max(1, n - 2));
  // Twice the standard error of the rise.
  return { growth: slope * (n - 1), noise: (2 * residual * (n - 1)) / Math.sqrt(spread) };
}

/**
 * Returns the growth of the minima from the first to the second half, for the whole range: in the sawtooth of an idle
 * server, the regression line may rise without growing minima.
 */
function troughs(ys) {
  const half = ys.length >> 1;
  return 2 * (Math.min(...ys.slice(half)) - Math.min(...ys.slice(0, half)));
}

const row = (cells) => `| ${cells.map((cell) => String(cell).padStart(12)).join(' | ')} |`;
const round = (number) => Math.round(number * 100) / 100;

const server = await start();
const load = new Load();
const samples = [];
try {
  await load.begin();
  await sleep(restMs);
  const first = await sample();
  console.log(row(['minute', ...Object.keys(columns), 'store, MB']));
  const began = performance.now();
  const elapsed = () => (performance.now() - began) / 60_000;
  while (elapsed() < minutes) {
    if (writesPerSecond > 0) load.go();
    await sleep(sampleSeconds * 1_000 - restMs);
    if (writesPerSecond > 0) await load.rest();
    await sleep(restMs);
    samples.push(await sample());
    const size = ['', '-wal'].reduce((sum, end) => sum + (statSync(file + end, { throwIfNoEntry: false })?.size ?? 0), 0);
    console.log(row([round(elapsed()), ...Object.values(samples.at(-1)).map(round), round(size / 1e6)]));
  }
  const settled = samples.slice(Math.floor(samples.length / 3));
  const verdicts = Object.entries(columns).map(([name, { leastGrowth, isCounted, isInformation }]) => {
    const ys = settled.map((each) => each[name]);
    const { growth, noise } = trend(ys);
    const lowest = troughs(ys);
    const left = settled.at(-1)[name] - first[name];
    const grows = !isInformation && Math.min(growth, lowest) > Math.max(noise, leastGrowth);
    const leaks = isCounted === true && left > Math.max(2, noise);
    const verdict = grows ? ': IT GROWS' : '';
    console.log(
      `${name}: growth ${round(growth)} over ${settled.length} samples, of its minima ${round(lowest)}, noise ${round(noise)}${verdict}`,
    );
    if (leaks) console.log(`${name}: LEAK: ${left} more than at the start`);
    return grows || leaks;
  });
  console.log(JSON.stringify(load.counts));
  if (verdicts.includes(true)) process.exitCode = 1;
  else console.log('no growth beyond noise, no leaks');
} finally {
  server.kill('SIGTERM');
  if (server.exitCode === null) await once(server, 'exit');
  rmSync(folder, { recursive: true, force: true });
}
