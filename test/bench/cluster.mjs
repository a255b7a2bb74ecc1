// Compares the controllers, scheduler and simulated nodes of kubenest (built) with kube-controller-manager, kube-scheduler and kwok on a
// real kube-apiserver, in turn on this machine, with the same objects. Prints for each task the time of both in milliseconds, their
// ratio, and the 99th percentile of another client's reads meanwhile.
//   node test/bench/cluster.mjs [--scale 1] [--only kubenest|reference] [task,task...]
// The reference needs the tools of ../shared/reference (build.sh). `--scale 0.1` makes a tenth of the objects.
import { Buffer } from 'node:buffer';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { freePort } from '../../scripts/free-port.ts';

const root = resolve(import.meta.dirname, '../..');
const reference = resolve(root, '../shared/reference');
const execute = promisify(execFile);
const { values, positionals } = parseArgs({
  options: { scale: { type: 'string', default: '1' }, only: { type: 'string' } },
  allowPositionals: true,
});
const scaled = (count) => Math.max(1, Math.round(count * Number(values.scale)));
const token = 'admin-token';
/** Nodes of both, each for 110 pods. */
const nodes = 12;
const pollMs = 20;
const patienceMs = 900_000;

/** Returns a client of the server at the port. */
function clientOf(port) {
  const agent = new https.Agent({ keepAlive: true, maxSockets: 16, rejectUnauthorized: false });
  return (method, path, body, contentType = 'application/json') => {
    const { promise, resolve: answer, reject } = Promise.withResolvers();
    const headers = { authorization: `Bearer ${token}`, 'content-type': contentType };
    const request = https.request({ host: '127.0.0.1', port, path, method, agent, headers }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part)).on('error', reject);
      response.on('end', () => answer({ status: response.statusCode, body: JSON.parse(Buffer.concat(parts).toString()) }));
    });
    request.on('error', reject).end(body && JSON.stringify(body));
    return promise;
  };
}

async function until(isDone) {
  for (const end = performance.now() + patienceMs; !(await isDone()); await sleep(pollMs))
    if (performance.now() > end) throw new Error(`not done after ${patienceMs} ms`);
}

async function inParallel(count, work) {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

const containers = [{ name: 'c', image: 'registry.example/app:1' }];
const deployment = (name, replicas) => ({
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers } },
    strategy: { rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
  },
});

/** Each task prepares, and returns the work that is measured. */
const tasks = {
  async '1,000 pods of 20 Deployments are ready'(ask, namespace) {
    const replicas = scaled(50);
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    return async () => {
      await inParallel(20, (i) => ask('POST', path, deployment(`d${i}`, replicas)));
      await until(async () => (await ask('GET', path)).body.items.every(({ status }) => status.readyReplicas === replicas));
    };
  },
  async 'a rollout of 200 replicas'(ask, namespace) {
    const replicas = scaled(200);
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    await ask('POST', path, deployment('web', replicas));
    await until(async () => (await ask('GET', `${path}/web`)).body.status.availableReplicas === replicas);
    return async () => {
      const patch = { spec: { template: { metadata: { annotations: { version: '2' } } } } };
      await ask('PATCH', `${path}/web`, patch, 'application/merge-patch+json');
      await until(async () => {
        const { status, metadata } = (await ask('GET', `${path}/web`)).body;
        const isSeen = status.observedGeneration === metadata.generation;
        return isSeen && status.updatedReplicas === replicas && status.availableReplicas === replicas && status.replicas === replicas;
      });
    };
  },
  async 'a namespace of 500 objects is deleted'(ask, namespace) {
    await inParallel(scaled(500), (i) => ask('POST', `/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name: `c${i}` } }));
    return async () => {
      await ask('DELETE', `/api/v1/namespaces/${namespace}`);
      await until(async () => (await ask('GET', `/api/v1/namespaces/${namespace}`)).status === 404);
    };
  },
  async '300 Jobs are complete'(ask, namespace) {
    const count = scaled(300);
    const path = `/apis/batch/v1/namespaces/${namespace}/jobs`;
    const template = { spec: { containers, restartPolicy: 'Never' } };
    return async () => {
      await inParallel(count, (i) => ask('POST', path, { metadata: { name: `j${i}` }, spec: { template } }));
      await until(async () => (await ask('GET', path)).body.items.every(({ status }) => status.completionTime !== undefined));
    };
  },
  async '5,000 objects are collected'(ask, namespace) {
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const { uid } = (await ask('POST', path, { metadata: { name: 'owner' } })).body.metadata;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }];
    await inParallel(scaled(5_000), (i) => ask('POST', path, { metadata: { name: `o${i}`, labels: { owned: 'yes' }, ownerReferences } }));
    return async () => {
      await ask('DELETE', `${path}/owner`);
      await until(async () => (await ask('GET', `${path}?labelSelector=owned&limit=1`)).body.items.length === 0);
    };
  },
};

/** Measures another client's reads until it is stopped; resolves to the 99th percentile in milliseconds. */
function reads(ask) {
  const times = [];
  let isOver = false;
  const reading = (async () => {
    while (!isOver) {
      const began = performance.now();
      await ask('GET', '/api/v1/namespaces/default');
      times.push(performance.now() - began);
      await sleep(10);
    }
  })();
  return async () => {
    isOver = true;
    await reading;
    return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)];
  };
}

async function play(side, port) {
  const ask = clientOf(port);
  const results = {};
  const idle = reads(clientOf(port));
  await sleep(3_000);
  results.idle = { p99: await idle() };
  for (const [i, [name, prepare]] of Object.entries(tasks).entries()) {
    if (positionals.length > 0 && !positionals.some((part) => name.includes(part))) continue;
    const namespace = `bench-${i}`;
    await ask('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    await until(async () => (await ask('GET', `/api/v1/namespaces/${namespace}/serviceaccounts/default`)).status === 200);
    const work = await prepare(ask, namespace);
    await sleep(1_000);
    const stop = reads(clientOf(port));
    const began = performance.now();
    await work();
    results[name] = { ms: performance.now() - began, p99: await stop() };
    console.error(`${side}: ${name}: ${results[name].ms.toFixed(0)} ms, p99 ${results[name].p99.toFixed(1)} ms`);
    if ((await ask('GET', `/api/v1/namespaces/${namespace}`)).status === 404) continue;
    await ask('DELETE', `/api/v1/namespaces/${namespace}`);
    await until(async () => (await ask('GET', `/api/v1/namespaces/${namespace}`)).status === 404);
  }
  return results;
}

async function withKubenest() {
  const folder = mkdtempSync(join(tmpdir(), 'kubenest-cluster-'));
  const port = await freePort();
  writeFileSync(join(folder, 'tokens.csv'), `${token},admin,admin,"system:masters"\n`);
  const flags = [`--secure-port=${port}`, `--data-dir=${folder}/data`, `--token-auth-file=${folder}/tokens.csv`, `--nodes=${nodes}`];
  const child = spawn(join(root, 'bin/kubenest'), ['serve', ...flags], { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    await once(child.stdout, 'data');
    child.stdout.resume();
    const ask = clientOf(port);
    await until(async () => (await ask('GET', '/api/v1/nodes')).body.items.filter(isReady).length === nodes);
    return await play('kubenest', port);
  } finally {
    child.kill();
    await once(child, 'exit');
    rmSync(folder, { recursive: true, force: true });
  }
}

const isReady = ({ status }) => status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True');

async function withReference() {
  const folder = mkdtempSync(join(tmpdir(), 'kubenest-reference-'));
  const [port, etcd, kcm, scheduler, kwok] = await Promise.all(Array.from({ length: 5 }, () => freePort()));
  const environment = { PORT: port, ETCD_PORT: etcd, KCM_PORT: kcm, SCHED_PORT: scheduler, KWOK_PORT: kwok };
  const env = { ...process.env, ...Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, `${value}`])) };
  const script = (name, ...args) => execute(join(reference, name), args, { env });
  try {
    await script('up.sh', folder);
    await script('cluster.sh', 'up', folder, `https://127.0.0.1:${port}`);
    const ask = clientOf(port);
    const first = (await ask('GET', '/api/v1/nodes')).body.items[0];
    const { labels, annotations } = first.metadata;
    const resources = { capacity: first.status.capacity, allocatable: first.status.allocatable };
    for (let i = 3; i < nodes; i++)
      await ask('POST', '/api/v1/nodes', { metadata: { name: `kwok-${i}`, labels, annotations }, status: resources });
    await until(async () => (await ask('GET', '/api/v1/nodes')).body.items.filter(isReady).length === nodes);
    return await play('reference', port);
  } finally {
    await script('cluster.sh', 'down', folder);
    await script('down.sh', folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

const ours = values.only === 'reference' ? {} : await withKubenest();
const theirs = values.only === 'kubenest' ? {} : await withReference();
console.log(`| task | kubenest | reference | ratio | p99 of others, kubenest | reference |`);
console.log('|---|---|---|---|---|---|');
for (const name of ['idle', ...Object.keys(tasks)]) {
  const [a, b] = [ours[name], theirs[name]];
  if (!a && !b) continue;
  const ms = (value) => (value === undefined ? '' : `${value.toFixed(value < 100 ? 1 : 0)} ms`);
  const ratio = a?.ms && b?.ms ? `${(b.ms / a.ms).toFixed(1)} x` : '';
  console.log(`| ${name} | ${ms(a?.ms)} | ${ms(b?.ms)} | ${ratio} | ${ms(a?.p99)} | ${ms(b?.p99)} |`);
}
