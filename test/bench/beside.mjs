// Measures the latency of a client while another sends the most expensive bodies in sequence. Three processes: a server with
// its own data folder (built), the sender, and a reader that GETs a namespace every 10 ms over its own connection. Prints
// for each body and overall the median, 99th and 99.9th percentile and maximum of the reads in milliseconds.
//   node test/bench/beside.mjs [--seconds 10] [name,name...]
import { Buffer } from 'node:buffer';
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { freePort } from '../../scripts/free-port.ts';
import { ask, cases, collections, prepare, present } from './worst-bodies.mjs';

const { values, positionals } = parseArgs({
  options: { seconds: { type: 'string', default: '10' } },
  allowPositionals: true,
});
const token = 'beside-token';

/** Returns a client with the `fetch` of a test cluster: object bodies are sent as JSON. */
function clientOf(port) {
  const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });
  return {
    fetch(path, { body, method = body ? 'POST' : 'GET', headers = {} } = {}) {
      const { promise, resolve: answer, reject } = Promise.withResolvers();
      const text = typeof body === 'object' ? JSON.stringify(body) : body;
      const all = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers };
      const request = https.request({ host: '127.0.0.1', port, path, method, agent, headers: all }, (response) => {
        // Keeps only the end of a successful response.
        const parts = [];
        response.on('data', (part) => response.statusCode >= 400 && parts.push(part)).on('error', reject);
        response.on('end', () => answer({ status: response.statusCode, text: () => Buffer.concat(parts).toString() }));
      });
      request.on('error', reject).end(text);
      return promise;
    },
  };
}

/** The reader process: records latencies until it is stopped. */
async function read(port) {
  const client = clientOf(port);
  const times = [];
  let isOver = false;
  process.once('message', () => {
    isOver = true;
  });
  while (!isOver) {
    const began = performance.now();
    await client.fetch('/api/v1/namespaces/default');
    times.push(performance.now() - began);
    await sleep(10);
  }
  process.send(times, () => process.disconnect());
}

async function start(folder, port) {
  writeFileSync(join(folder, 'tokens.csv'), `${token},admin,admin,"system:masters"\n`);
  const flags = [`--data-dir=${folder}/data`, `--secure-port=${port}`, `--token-auth-file=${folder}/tokens.csv`];
  const root = resolve(fileURLToPath(import.meta.url), '../../..');
  const server = spawn(join(root, 'bin/kubenest'), ['serve', '--controllers=-*', ...flags], { stdio: 'ignore' });
  const client = clientOf(port);
  for (;;) {
    const ready = await client.fetch('/readyz').catch(() => undefined);
    if (ready?.status === 200) return server;
    if (server.exitCode !== null) throw new Error('the server has ended');
    await sleep(50);
  }
}

/** Sends one body repeatedly and resolves to the latencies of the reader. */
async function beside(port, client, [path, request, changed]) {
  const reader = fork(fileURLToPath(import.meta.url), [], { env: { ...process.env, KUBENEST_BESIDE: String(port) } });
  const times = once(reader, 'message');
  const end = performance.now() + Number(values.seconds) * 1_000;
  while (performance.now() < end) {
    if (changed) await present(client, changed);
    await ask(client, path, request);
    for (const collection of collections) await client.fetch(collection, { method: 'DELETE' });
  }
  reader.send('stop');
  return (await times)[0];
}

function print(name, times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => (sorted[Math.ceil(sorted.length * share) - 1] ?? 0).toFixed(0).padStart(6);
  console.log(name.padEnd(36), at(0.5), at(0.99), at(0.999), at(1), String(sorted.length).padStart(8));
}

if (process.env.KUBENEST_BESIDE) await read(Number(process.env.KUBENEST_BESIDE));
else {
  const folder = mkdtempSync(join(tmpdir(), 'kubenest-beside-'));
  const port = await freePort();
  const server = await start(folder, port);
  try {
    const client = clientOf(port);
    await prepare(client);
    console.log('reads, ms'.padEnd(36), 'median', '   99%', ' 99.9%', 'longest', 'reads');
    const all = [];
    for (const name of positionals[0]?.split(',') ?? Object.keys(cases)) {
      const times = await beside(port, client, cases[name]);
      print(name, times);
      all.push(...times);
    }
    print('all', all);
  } finally {
    server.kill();
    await once(server, 'exit');
    rmSync(folder, { recursive: true });
  }
}
