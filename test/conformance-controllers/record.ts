/**
 * Records what kube-controller-manager, kube-scheduler and kwok on a real kube-apiserver make of the scenarios, all of them or the named:
 *
 *     node --conditions=kubenest-source --experimental-transform-types test/conformance-controllers/record.ts [SCENARIO]…
 *
 * Requires the tools of ../shared/reference (build.sh). `FIRST_PORT` sets the first of ten ports (default 27400).
 */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Outcome } from './normalise.ts';
import { readOutcomes, writeOutcomes } from './outcomes.ts';
import { Player, type Send } from './play.ts';
import { bySettings, readScenarios, type Scenario, type Settings } from './scenario.ts';

const reference = resolve(import.meta.dirname, '../../../shared/reference');
const execute = promisify(execFile);
const first = Number(process.env['FIRST_PORT'] ?? 27_400);
const port = (offset: number): string => String(first + offset);
const ports = { PORT: port(0), ETCD_PORT: port(1), KCM_PORT: port(3), SCHED_PORT: port(4), KWOK_PORT: port(5) };
/** Scenarios that run at the same time. */
const width = 6;
const site = { node: 'kwok-0', poll: 200, patience: 60_000 };
/** The two checks of a settled outcome are further apart than the delays of the controllers, such as the batches of endpoints. */
const settleMs = 2_500;

const named = process.argv.slice(2);
const scenarios = readScenarios().filter(({ name }) => named.length === 0 || named.includes(name));
for (const group of bySettings(scenarios)) await recordGroup(group.scenarios, group.settings);

async function recordGroup(group: readonly Scenario[], settings: Settings): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'kubenest-scenarios-'));
  const env = environment(folder, settings);
  const script = (name: string, ...args: string[]): Promise<unknown> => execute(join(reference, name), args, { env });
  try {
    await script('up.sh', folder);
    await script('cluster.sh', 'up', folder, `https://127.0.0.1:${ports.PORT}`);
    await record(group);
  } finally {
    await script('cluster.sh', 'down', folder);
    await script('down.sh', folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** Environment of the scripts. Wrappers pass feature gates to the controllers and the scheduler, and the other settings to the former. */
function environment(folder: string, { featureGates, runtimeConfig, clusterCidr, withoutController }: Settings): NodeJS.ProcessEnv {
  const extra = [featureGates && `--feature-gates=${featureGates}`, runtimeConfig && `--runtime-config=${runtimeConfig}`].filter(Boolean);
  const env = { ...process.env, ...ports, EXTRA: extra.join(' ') };
  if (featureGates === undefined && clusterCidr === undefined && withoutController === undefined) return env;
  const programs = process.env['REFERENCE_BIN'] ?? join(homedir(), '.cache/reference/bin');
  const wrappers = join(folder, 'bin');
  mkdirSync(wrappers);
  for (const name of ['etcd', 'kube-apiserver', 'kubectl', 'kwok']) symlinkSync(join(programs, name), join(wrappers, name));
  const gates = featureGates === undefined ? '' : ` --feature-gates=${featureGates}`;
  const range = clusterCidr === undefined ? '' : ` --cluster-cidr=${clusterCidr}`;
  // A second flag adds to the list of the first.
  const others = withoutController === undefined ? '' : ` --controllers=-${withoutController}`;
  for (const [name, flags] of Object.entries({ 'kube-controller-manager': gates + range + others, 'kube-scheduler': gates })) {
    writeFileSync(join(wrappers, name), `#!/bin/sh\nexec '${join(programs, name)}' "$@"${flags}\n`);
    chmodSync(join(wrappers, name), 0o755);
  }
  return { ...env, REFERENCE_BIN: wrappers };
}

async function record(all: readonly Scenario[]): Promise<void> {
  const outcomes = new Map<Scenario, Outcome>();
  const queue = all.filter(({ alone }) => !alone);
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await recordOne(next, outcomes);
  };
  await Promise.all(Array.from({ length: width }, work));
  for (const scenario of all.filter(({ alone }) => alone)) await recordOne(scenario, outcomes);
  for (const area of new Set(all.map((scenario) => scenario.area))) {
    const made = [...outcomes].filter(([scenario]) => scenario.area === area).map(([{ name }, outcome]) => [name, outcome] as const);
    writeOutcomes(area, { ...readOutcomes(area), ...Object.fromEntries(made) });
  }
}

async function recordOne(scenario: Scenario, outcomes: Map<Scenario, Outcome>): Promise<void> {
  const player = new Player(send, scenario, site);
  try {
    await player.run();
    outcomes.set(scenario, await player.settled(settleMs));
    if (scenario.alone) await player.clear();
    console.log(`recorded ${scenario.name}`);
  } catch (error) {
    process.exitCode = 1;
    console.error(`not recorded: ${String(error)}`);
  }
}

function send(...[path, { method = 'GET', body, contentType = 'application/json' } = {}]: Parameters<Send>): ReturnType<Send> {
  const text = body === undefined ? '' : JSON.stringify(body);
  const headers = { authorization: 'Bearer admin-token', 'content-type': contentType, 'content-length': String(Buffer.byteLength(text)) };
  const target = { host: '127.0.0.1', port: ports.PORT, path, method, headers, rejectUnauthorized: false };
  return new Promise((resolveAnswer, reject) => {
    const sent = request(target, (response) => {
      let answer = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (answer += chunk));
      response.on('end', () => resolveAnswer({ status: response.statusCode ?? 0, body: JSON.parse(answer) }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(text);
  });
}
