// Measures the cost of custom resources: bin/kubenest serve receives definitions sequentially, each used as soon as it is
// Established, and then many at once. Prints the durations, the memory of each, the cost of discovery and OpenAPI
// afterwards, the latency of another client that GETs a ConfigMap every few milliseconds over its own connection, and the
// start-up time with all definitions; with --check, exits with 1 if a limit is exceeded.
//   node test/bench/custom-resources.mjs [--count 500] [--at-once 1000] [--check]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http2 from 'node:http2';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { freePort } from '../../scripts/free-port.ts';

const limits = { medianMs: 50, servedAfterEstablishedMs: 100, kilobytesEach: 300 };
const root = resolve(fileURLToPath(import.meta.url), '../../..');
const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '500' },
    'at-once': { type: 'string', default: '1000' },
    check: { type: 'boolean', default: false },
  },
});
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const token = 'bench-token';
const agent = new https.Agent({ keepAlive: true, maxSockets: 64 });
const port = isMainThread ? await freePort() : 0;
const origin = `https://127.0.0.1:${port}`;

async function call(path, method, body, accept) {
  const { response, code } = await open(path, method, body, accept);
  const chunks = [];
  for await (const chunk of response) chunks.push(chunk);
  return { code, text: Buffer.concat(chunks).toString() };
}

async function open(path, method = 'GET', body = undefined, accept = 'application/json') {
  const text = body && JSON.stringify(body);
  const request = https.request({
    host: '127.0.0.1',
    port,
    path,
    method,
    agent,
    rejectUnauthorized: false,
    headers: {
      accept,
      authorization: `Bearer ${token}`,
      ...(text && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    },
  });
  request.end(text);
  const [response] = await once(request, 'response');
  return { response, code: response.statusCode };
}

/** Returns a definition like those of operators: dozens of fields, a default, a rule, columns, both subresources. */
function definition(i, group) {
  const text = { type: 'string', maxLength: 64 };
  const fields = Object.fromEntries(
    Array.from({ length: 30 }, (_, n) => [`field${n}`, { type: 'object', properties: { a: text, b: { type: 'integer' } } }]),
  );
  const spec = { type: 'object', properties: { replicas: { type: 'integer', default: 1 }, ...fields } };
  const status = { type: 'object', properties: { replicas: { type: 'integer' } } };
  const rule = { 'x-kubernetes-validations': [{ rule: 'self.replicas >= 0' }] };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things${i}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: `things${i}`, kind: `Thing${i}` },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
          additionalPrinterColumns: [{ name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas' }],
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: { ...spec, ...rule }, status } } },
        },
      ],
    },
  };
}

/** Returns the status of a response over HTTP/2. */
async function statusOver(session, path) {
  const stream = session.request({ ':path': path, authorization: `Bearer ${token}` });
  const [headers] = await once(stream, 'response');
  await once(stream.resume(), 'end');
  return headers[':status'];
}

/**
 * Measures response times in milliseconds until it is stopped, in its own thread, so that the load of the main thread does
 * not count.
 */
async function ping({ url, stopped, waits }) {
  const session = http2.connect(url, { rejectUnauthorized: false });
  while (Atomics.load(stopped, 0) === 0) {
    const began = performance.now();
    await statusOver(session, '/api/v1/namespaces/default/configmaps/none');
    waits[1 + waits[0]++] = performance.now() - began;
    await sleep(5);
  }
  session.close();
}

/** Returns the result of `run` and the latencies of other clients during it. */
async function whileOthersAsk(run) {
  const stopped = new Int32Array(new SharedArrayBuffer(4));
  const waits = new Float64Array(new SharedArrayBuffer(8 * 100_000));
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { url: origin, stopped, waits } });
  while (waits[0] < 10) await sleep(10);
  waits[0] = 0;
  const result = await run();
  Atomics.store(stopped, 0, 1);
  await once(worker, 'exit');
  return { result, waits: [...waits.subarray(1, 1 + waits[0])] };
}

async function until(isDone) {
  for (let left = 60_000; left > 0; left -= 1) {
    if (await isDone()) return;
    await sleep(1);
  }
  throw new Error('timed out');
}

async function isEstablished(name) {
  const { conditions } = JSON.parse((await call(`${definitions}/${name}`)).text).status;
  return (conditions ?? []).some(({ type, status }) => type === 'Established' && status === 'True');
}

/**
 * Creates a definition and an object of it. Returns the milliseconds until it is Established, and from then until its
 * objects are served.
 */
async function define(i, group) {
  const crd = definition(i, group);
  const began = performance.now();
  const created = await call(definitions, 'POST', crd);
  if (created.code !== 201) throw new Error(created.text);
  await until(() => isEstablished(crd.metadata.name));
  const established = performance.now();
  const path = `/apis/${group}/v1/namespaces/default/things${i}`;
  await until(async () => (await call(path)).code === 200);
  const served = performance.now();
  const made = await call(path, 'POST', {
    apiVersion: `${group}/v1`,
    kind: `Thing${i}`,
    metadata: { name: 'a' },
    spec: { field0: { a: 'x' } },
  });
  if (made.code !== 201) throw new Error(made.text);
  return { total: served - began, served: served - established };
}

/**
 * Creates definitions concurrently and requests the objects of each as soon as a watch reports it as Established. Returns
 * the milliseconds of these requests and the number that were not served yet.
 */
async function defineAtOnce(count) {
  const crds = Array.from({ length: count }, (_, i) => definition(i, `at-once${i % 20}.bench.dev`));
  const pending = new Map(crds.map((crd) => [crd.metadata.name, Promise.withResolvers()]));
  const readers = http2.connect(origin, { rejectUnauthorized: false });
  const { response } = await open(`${definitions}?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan`);
  createInterface({ input: response }).on('line', (line) => {
    const { metadata, spec, status } = JSON.parse(line).object;
    const waiting = pending.get(metadata.name);
    if (!waiting || !status.conditions?.some(({ type, status }) => type === 'Established' && status === 'True')) return;
    pending.delete(metadata.name);
    const began = performance.now();
    statusOver(readers, `/apis/${spec.group}/v1/${spec.names.plural}`).then(
      (code) => waiting.resolve({ code, milliseconds: performance.now() - began }),
      waiting.reject,
    );
  });
  const served = [...pending.values()].map(({ promise }) => promise);
  const created = await Promise.all(crds.map((crd) => call(definitions, 'POST', crd)));
  for (const { code, text } of created) if (code !== 201) throw new Error(text);
  const answers = await Promise.all(served);
  response.destroy();
  readers.close();
  return { lags: answers.map(({ milliseconds }) => milliseconds), early: answers.filter(({ code }) => code !== 200).length };
}

const sorted = (numbers) => numbers.toSorted((a, b) => a - b);
const at = (numbers, share) => sorted(numbers)[Math.min(numbers.length - 1, Math.floor(numbers.length * share))];
const summary = (numbers) =>
  numbers.length === 0
    ? 'no answer was due'
    : `median ${at(numbers, 0.5).toFixed(1)} ms, 99 % ${at(numbers, 0.99).toFixed(1)} ms, longest ${at(numbers, 1).toFixed(1)} ms`;

async function timed(run) {
  const began = performance.now();
  const result = await run();
  return { milliseconds: performance.now() - began, result };
}

const kilobytes = (server) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]);

/** Returns the memory after the server has collected garbage. */
async function settled(server) {
  await sleep(8_000);
  return kilobytes(server);
}

function untilReady() {
  return until(() =>
    call('/readyz').then(
      ({ code }) => code === 200,
      () => false,
    ),
  );
}

/** Starts a server with all definitions in its store. */
async function measureStart(folder) {
  const paths = [
    ...Array.from({ length: Number(values.count) }, (_, i) => `/apis/g${i % 20}.bench.dev/v1/things${i}`),
    ...Array.from({ length: Number(values['at-once']) }, (_, i) => `/apis/at-once${i % 20}.bench.dev/v1/things${i}`),
  ];
  const began = performance.now();
  const server = start(folder);
  try {
    await untilReady();
    const ready = performance.now() - began;
    const memory = kilobytes(server);
    for (const path of paths) await until(async () => (await call(path)).code === 200);
    const served = performance.now() - began;
    console.log(
      `started with ${paths.length}: ready after ${ready.toFixed(0)} ms with ${(memory / 1024).toFixed(0)} MB, all requested and served after ${served.toFixed(0)} ms, ${((await settled(server)) / 1024).toFixed(0)} MB then`,
    );
  } finally {
    await stop(server);
  }
}

async function measure(server) {
  await untilReady();
  const count = Number(values.count);
  const atOnce = Number(values['at-once']);
  await define(0, 'warm.bench.dev');
  const before = await settled(server);

  const times = [];
  const inRow = await whileOthersAsk(async () => {
    for (let i = 0; i < count; i += 1) times.push(await define(i, `g${i % 20}.bench.dev`));
  });
  const totals = times.map(({ total }) => total);
  const served = times.map(({ served }) => served);
  const each = ((await settled(server)) - before) / count;
  console.log(`${count} definitions sequentially, created to served: ${summary(totals)} (limit of the median ${limits.medianMs})`);
  console.log(`  from Established to served: ${summary(served)} (limit ${limits.servedAfterEstablishedMs})`);
  console.log(`  memory of each, with an object: ${each.toFixed(0)} kB (limit ${limits.kilobytesEach})`);

  console.log(`  latency of other clients: ${summary(inRow.waits)}`);

  const many = await timed(() => whileOthersAsk(() => defineAtOnce(atOnce)));
  const { lags, early } = many.result.result;
  console.log(
    `${atOnce} more concurrently: ${(many.milliseconds / 1_000).toFixed(1)} s; ${early} not served at the first request after Established`,
  );
  console.log(`  these requests, concurrent with creates: ${summary(lags)}`);
  console.log(`  latency of other clients: ${summary(many.result.waits)}`);
  const all = await settled(server);
  console.log(
    `  memory of each of ${count + atOnce}: ${((all - before) / (count + atOnce)).toFixed(0)} kB, of the server ${(all / 1024).toFixed(0)} MB`,
  );

  for (const path of ['/apis', '/openapi/v2', '/openapi/v3', '/openapi/v3/apis/g1.bench.dev/v1']) {
    const accept = path === '/apis' ? 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' : 'application/json';
    const {
      milliseconds,
      result: { result, waits },
    } = await timed(() => whileOthersAsk(() => call(path, 'GET', undefined, accept)));
    if (result.code !== 200) throw new Error(`${path}: ${result.text.slice(0, 200)}`);
    console.log(
      `  ${path}: ${milliseconds.toFixed(0)} ms, ${(result.text.length / 1e6).toFixed(1)} MB; latency of other clients: ${summary(waits)}`,
    );
  }
  const isFast = at(totals, 0.5) <= limits.medianMs && at(served, 0.99) <= limits.servedAfterEstablishedMs;
  return isFast && early === 0 && each <= limits.kilobytesEach;
}

function start(folder) {
  return spawn(
    join(root, 'bin/kubenest'),
    ['serve', `--data-dir=${folder}/data`, `--secure-port=${port}`, `--token-auth-file=${folder}/tokens.csv`],
    { stdio: ['ignore', 'ignore', 'ignore'] },
  );
}

async function stop(server) {
  server.kill('SIGTERM');
  if (server.exitCode === null) await once(server, 'exit');
}

async function main() {
  const folder = mkdtempSync(join(tmpdir(), 'kubenest-bench-'));
  writeFileSync(join(folder, 'tokens.csv'), `${token},admin,admin,"system:masters"\n`);
  try {
    const server = start(folder);
    try {
      if (!(await measure(server)) && values.check) process.exitCode = 1;
    } finally {
      await stop(server);
    }
    await measureStart(folder);
  } finally {
    agent.destroy();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (isMainThread) await main();
else await ping(workerData);
