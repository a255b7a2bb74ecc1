// Measures operators' definitions, each created once on a freshly started server: the time to create, until its objects are
// served, until OpenAPI v3 contains the kind, and the latency of a small request meanwhile. Prints the median, the 95th
// percentile and the maximum in milliseconds, and those of kube-apiserver if it and an etcd are installed. Without folders,
// uses the definitions of projects in Go's module cache, and synthetic ones of the same shape.
//   node test/bench/definitions.mjs [FOLDER…] [--each]
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { largeDefinitions } from '../integration/large-definitions.ts';
import { etcd, startEtcd } from '../servers/etcd-server.ts';
import { kubeApiserver, startKubeApiserver } from '../servers/kube-apiserver.ts';
import { Kubenest } from '../servers/kubenest.ts';
import { operatorDefinitions } from '../servers/operator-definitions.ts';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { each: { type: 'boolean', default: false } } });
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

function read(path) {
  return parseAllDocuments(readFileSync(path, 'utf8'))
    .map((document) => document.toJS())
    .filter((value) => value?.kind === 'CustomResourceDefinition');
}

function wanted() {
  if (positionals.length > 0) {
    const files = positionals.flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)));
    return files.filter((file) => /\.ya?ml$/.test(file)).flatMap(read);
  }
  return [...operatorDefinitions().flatMap(({ path }) => read(path)), ...largeDefinitions('bench.dev').map(({ definition }) => definition)];
}

/** Requests the version repeatedly until `stop`. Returns the longest response time. */
function watchDelays(server) {
  let isOver = false;
  let longest = 0;
  const done = (async () => {
    while (!isOver) {
      const began = performance.now();
      await server.fetch('/version');
      longest = Math.max(longest, performance.now() - began);
      await sleep(2);
    }
  })();
  return async () => {
    isOver = true;
    await done;
    return longest;
  };
}

async function measure(server, crd) {
  const { group, names, versions } = crd.spec;
  const version = versions.find(({ served }) => served).name;
  const stop = watchDelays(server);
  const began = performance.now();
  const { status, body } = await server.fetch(definitions, { method: 'POST', body: crd });
  const created = performance.now() - began;
  if (status !== 201) throw new Error(`${crd.metadata.name}: ${status} ${JSON.stringify(body).slice(0, 500)}`);
  while ((await server.fetch(`/apis/${group}/${version}/${names.plural}`)).status !== 200) await sleep(2);
  const served = performance.now() - began;
  for (;;) {
    const { status: code, body: document } = await server.fetch(`/openapi/v3/apis/${group}/${version}`);
    if (code === 200 && document.paths[`/apis/${group}/${version}/${names.plural}`]) break;
    if (code === 200 && Object.keys(document.paths).some((path) => path.endsWith(`/${names.plural}`))) break;
    await sleep(2);
  }
  const described = performance.now() - began;
  await sleep(100);
  return { created, served, 'in OpenAPI': described, 'longest wait': await stop() };
}

const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))].toFixed(0);

async function play(name, server) {
  const all = wanted();
  const times = [];
  for (const crd of all) {
    const time = await measure(server, crd);
    times.push(time);
    const words = Object.entries(time).map(([step, milliseconds]) => `${step} ${milliseconds.toFixed(0)}`);
    if (values.each) console.log(`${name}: ${crd.metadata.name}: ${words.join(', ')}`);
  }
  console.log(`${name}: ${all.length} definitions`.padEnd(36), 'median'.padStart(8), 'p95'.padStart(8), 'largest'.padStart(8));
  for (const step of Object.keys(times[0])) {
    const sorted = times.map((time) => time[step]).toSorted((a, b) => a - b);
    console.log(`  ${step}`.padEnd(36), at(sorted, 0.5).padStart(8), at(sorted, 0.95).padStart(8), at(sorted, 1).padStart(8));
  }
}

const folder = mkdtempSync(join(tmpdir(), 'kubenest-bench-'));
try {
  await using kubenest = await Kubenest.start(folder);
  await play('kubenest', kubenest);
} finally {
  rmSync(folder, { recursive: true });
}
if (etcd !== undefined && kubeApiserver !== undefined) {
  await using store = await startEtcd();
  await using real = await startKubeApiserver(store.url);
  await play('kube-apiserver', real);
}
