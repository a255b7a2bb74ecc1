// Plays the recorded scenarios of ../shared/conformance against bin/kubenest and checks the share of equal responses of each
// area against threshold.json, then the recorded rejections and defaults of ../shared/facts. known.md lists the known
// differences and their reasons.
//   node test/conformance/run.mjs [--only AREA]… [--backend redis|etcd] [--serving-workers N] [--http2-server own|node] [--
//   OPTIONS OF conform.mjs]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { freePort } from '../../scripts/free-port.ts';
import { backendOf, startBackend } from '../servers/backends.ts';

const root = resolve(fileURLToPath(import.meta.url), '../../..');
const scenarios = resolve(root, '../shared/conformance');
const thresholds = JSON.parse(readFileSync(join(root, 'test/conformance/threshold.json'), 'utf8'));
/** Addresses that services/external-name and services/cluster-ips request and that are rejected. */
const refusedAddresses = ['10.0.0.78', '10.0.0.79', '10.0.0.80', '10.0.0.91'];
/**
 * Steps that request a specific address or port, which may have been allocated to another Service at random (once in 240 and
 * 700 runs); the scenario is then repeated alone.
 */
const namingSteps = { 'services/cluster-ips': [2], 'services/node-ports': [2, 6, 7] };
const { values, positionals } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    backend: { type: 'string', default: 'embedded' },
    'serving-workers': { type: 'string', default: '0' },
    'http2-server': { type: 'string', default: 'own' },
  },
  allowPositionals: true,
});
const areas = values.only ?? Object.keys(thresholds).filter((name) => name !== 'all');

const folder = mkdtempSync(join(tmpdir(), 'kubenest-conformance-'));
const tokens = join(folder, 'tokens.csv');
const report = join(folder, 'report.json');
writeFileSync(tokens, 'admin-token,admin,admin-uid,"system:masters"\nalice-token,alice,alice-uid,"devs"\n');
const port = await freePort();
const backend = await startBackend(backendOf(values.backend));
const flags = [
  `--data-dir=${folder}/data`,
  `--secure-port=${port}`,
  `--token-auth-file=${tokens}`,
  '--service-cluster-ip-range=10.0.0.0/24',
  '--authorization-mode=Node,RBAC',
  '--enable-admission-plugins=ServiceAccount,NodeRestriction',
  `--serving-workers=${values['serving-workers']}`,
  `--http2-server=${values['http2-server']}`,
  ...backend.flags,
];
const server = spawn(join(root, 'bin/kubenest'), ['serve', '--controllers=-*', ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });

let results;
try {
  await Promise.race([
    once(server.stdout, 'data'),
    once(server, 'exit').then(() => Promise.reject(new Error('the server does not start'))),
  ]);
  server.stdout.resume();
  await holdAddresses(port);
  results = await play(areas);
  if (!values.only) await playFacts(`https://127.0.0.1:${port}`);
} finally {
  server.kill('SIGTERM');
  if (server.exitCode === null) await once(server, 'exit');
  await backend[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
}

const total = { passed: 0, failed: 0 };
for (const area of areas) {
  total.passed += results[area].passed;
  total.failed += results[area].failed;
  hold(area, results[area]);
}
if (!values.only) hold('all', total);

/**
 * Allocates the addresses to other Services, so that they cannot be allocated at random to a Service of the scenarios and
 * then be mistaken for a requested one.
 */
async function holdAddresses(port) {
  const create = async (path, object) => {
    const headers = { authorization: 'Bearer admin-token', 'content-type': 'application/json' };
    const asked = request({ host: '127.0.0.1', port, path, method: 'POST', headers, rejectUnauthorized: false });
    const [response] = await once(asked.end(JSON.stringify(object)), 'response');
    response.resume();
    if (response.statusCode !== 201) throw new Error(`${path}: ${response.statusCode}`);
  };
  await create('/api/v1/namespaces', { metadata: { name: 'held' } });
  for (const clusterIP of refusedAddresses) {
    const metadata = { name: `held-${clusterIP.replaceAll('.', '-')}` };
    await create('/api/v1/namespaces/held/services', { metadata, spec: { clusterIP, ports: [{ port: 80 }] } });
  }
}

/** Plays areas and returns their numbers of passed and failed steps. */
async function play(names) {
  const { totals, failures } = await check(names);
  const { services } = totals.areas;
  for (const [scenario, steps] of Object.entries(namingSteps)) {
    const failed = failures.filter((failure) => failure.scenario === scenario);
    const isTaken = failed.some(
      ({ step, differences }) => steps.includes(step) && differences.some(({ path, got }) => path === 'status' && got === 422),
    );
    if (!isTaken) continue;
    console.log(`${scenario}: a requested address or port was already allocated; retrying`);
    const again = (await check([`${scenario}.mjs`])).totals.areas.services;
    services.passed += failed.length - again.failed;
    services.failed += again.failed - failed.length;
  }
  return totals.areas;
}

/** Plays areas or scenarios. Returns the report of conform.mjs. */
async function check(names) {
  const files = names.map((name) => join(scenarios, 'scenarios', name));
  const server = ['--server', `https://127.0.0.1:${port}`, '--insecure'];
  const child = spawn(process.execPath, [join(scenarios, 'conform.mjs'), 'check', ...server, '--json', report, ...positionals, ...files], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  await once(child, 'exit');
  return JSON.parse(readFileSync(report, 'utf8'));
}

/** Plays the recorded rejections and defaults of every kind. */
async function playFacts(url) {
  const facts = spawn(process.execPath, [join(root, 'test/conformance/validation-facts.mjs'), '--server', url], { stdio: 'inherit' });
  const [code] = await once(facts, 'exit');
  console.log(`${code === 0 ? 'ok  ' : 'FAIL'} facts: recorded rejections and defaults`);
  if (code !== 0) process.exitCode = 1;
}

function hold(name, { passed, failed }) {
  const share = (100 * passed) / (passed + failed);
  const enough = share >= thresholds[name];
  console.log(
    `${enough ? 'ok  ' : 'FAIL'} ${name}: ${passed} of ${passed + failed} steps, ${share.toFixed(1)} % (at least ${thresholds[name]} %)`,
  );
  if (!enough) process.exitCode = 1;
}
