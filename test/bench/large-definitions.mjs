// Measures the largest definitions of operators: the time to create them, until their objects are served, to update them,
// and to apply them (server-side) when missing and again. Uses the definitions of projects in Go's module cache if present,
// else synthetic ones of the same shape; also measures kube-apiserver if it and an etcd are installed. Prints the median of
// some runs in milliseconds.
//   node test/bench/large-definitions.mjs [--runs 4]
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { largeDefinitions } from '../integration/large-definitions.ts';
import { etcd, startEtcd } from '../servers/etcd-server.ts';
import { kubeApiserver, startKubeApiserver } from '../servers/kube-apiserver.ts';
import { Kubenest } from '../servers/kubenest.ts';
import { operatorDefinitions } from '../servers/operator-definitions.ts';

const { values } = parseArgs({ options: { runs: { type: 'string', default: '4' } } });
const runs = Number(values.runs);
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const largest = ['applicationset-crd', 'gateway.networking.k8s.io_httproutes', 'monitoring.coreos.com_prometheuses'];

function wanted() {
  const shipped = operatorDefinitions().filter(({ name }) => largest.includes(name));
  if (shipped.length > 0) return shipped.map(({ path }) => parse(readFileSync(path, 'utf8')));
  return largeDefinitions('bench.dev').map(({ definition }) => definition);
}

async function timed(run) {
  const began = performance.now();
  await run();
  return performance.now() - began;
}

async function expectStatus(server, path, ask, code) {
  const { status, body } = await server.fetch(path, ask);
  if (status !== code) throw new Error(`${path}: ${status} ${JSON.stringify(body).slice(0, 500)}`);
}

async function until(server, path, code) {
  while ((await server.fetch(path)).status !== code) await sleep(5);
}

/** Returns the milliseconds of the first update without a concurrent write of the server itself. */
async function changed(server, path) {
  for (;;) {
    const { body } = await server.fetch(path);
    const labelled = { ...body, metadata: { ...body.metadata, labels: { changed: 'yes' } } };
    let code = 0;
    const milliseconds = await timed(async () => {
      code = (await server.fetch(path, { method: 'PUT', body: labelled })).status;
    });
    if (code === 200) return milliseconds;
    if (code !== 409) throw new Error(`${path}: ${code}`);
  }
}

async function measure(server, crd) {
  const { group, names, versions } = crd.spec;
  const objects = `/apis/${group}/${versions.find(({ served }) => served).name}/${names.plural}`;
  const own = `${definitions}/${crd.metadata.name}`;
  const began = performance.now();
  const create = await timed(() => expectStatus(server, definitions, { method: 'POST', body: crd }, 201));
  await until(server, objects, 200);
  const served = performance.now() - began;
  const update = await changed(server, own);
  await gone(server, own);
  const apply = await timed(() => applied(server, own, crd, 201));
  await until(server, objects, 200);
  const again = await timed(() => applied(server, own, crd, 200));
  await gone(server, own);
  return { create, served, update, apply, again };
}

function applied(server, path, crd, code) {
  const ask = { method: 'PATCH', body: crd, contentType: 'application/apply-patch+yaml' };
  return expectStatus(server, `${path}?fieldManager=bench&force=true`, ask, code);
}

async function gone(server, path) {
  await server.fetch(path, { method: 'DELETE' });
  await until(server, path, 404);
}

const steps = ['create', 'served', 'update', 'apply', 'again'];
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)].toFixed(0);

async function compare(name, server) {
  for (const crd of wanted()) {
    const times = [];
    for (let i = 0; i < runs; i += 1) times.push(await measure(server, crd));
    const [create, served, update, apply, again] = steps.map((step) => median(times.map((time) => time[step])));
    console.log(
      `${name}: ${crd.metadata.name}: created in ${create} ms, served after ${served} ms, updated in ${update} ms, applied in ${apply} ms, once more in ${again} ms`,
    );
  }
}

const folder = mkdtempSync(join(tmpdir(), 'kubenest-bench-'));
try {
  await using kubenest = await Kubenest.start(folder);
  await compare('kubenest', kubenest);
} finally {
  rmSync(folder, { recursive: true });
}
if (etcd !== undefined && kubeApiserver !== undefined) {
  await using store = await startEtcd();
  await using real = await startKubeApiserver(store.url);
  await compare('kube-apiserver', real);
}
