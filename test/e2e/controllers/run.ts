/**
 * Runs one scenario three times: on bin/kubenest alone with its own controllers, scheduler and nodes, and with kube-controller-manager,
 * kube-scheduler and kwok on bin/kubenest and on the real kube-apiserver with etcd. Prints the durations of the steps and the source lines
 * that log errors on only one of the two servers.
 *
 *     node --conditions=kubenest-source --experimental-transform-types test/e2e/controllers/run.ts
 *
 * Requires the tools of ../shared/reference (build.sh) and a built bin/kubenest.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort, freePortPair } from '../../../scripts/free-port.ts';
import { Scenario, type StepTime } from './scenario.ts';

const root = resolve(import.meta.dirname, '../../..');
const reference = resolve(root, '../shared/reference');
const tools = process.env['REFERENCE_BIN'] ?? join(homedir(), '.cache/reference/bin');
const needed = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl', 'kwok', 'helm'];
const execute = promisify(execFile);
const clients = { kubectl: join(tools, 'kubectl'), helm: join(tools, 'helm') };

/** Returns the reason why the scenario cannot run; undefined if it can. */
export function obstacle(): string | undefined {
  if (!existsSync(join(reference, 'cluster.sh'))) return 'there is no ../shared/reference';
  const missing = needed.filter((name) => !existsSync(join(tools, name)));
  return missing.length > 0 ? `../shared/reference/build.sh has not made ${missing.join(', ')}` : undefined;
}

export interface ClusterRun {
  readonly times: readonly StepTime[];
  /** Source positions of logged errors, such as `kcm replica_set.go:642`, with an example line of each. */
  readonly errors: ReadonlyMap<string, string>;
}

/** Number of attempts to start the real server: another process may take one of its ports before it listens. */
const attempts = 3;

/** Runs the scenario on kubenest, then on the real server. Rejects if a step fails. */
export async function runControllers(): Promise<{ readonly kubenest: ClusterRun; readonly real: ClusterRun }> {
  const folder = mkdtempSync(join(tmpdir(), 'kubenest-controllers-'));
  const ours = join(folder, 'kubenest');
  try {
    const { real, url } = await startReal(folder);
    try {
      mkdirSync(ours);
      for (const file of readdirSync(real)) if (/\.(crt|key|csv)$/.test(file)) copyFileSync(join(real, file), join(ours, file));
      return { kubenest: await onKubenest(ours), real: await walk(real, url) };
    } finally {
      await script('down.sh', [real]);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** Starts etcd and kube-apiserver in a subfolder of `folder`; resolves to it and the server's URL when the server is ready. */
async function startReal(folder: string): Promise<{ readonly real: string; readonly url: string }> {
  for (let attempt = 1; ; attempt += 1) {
    const real = join(folder, `real-${attempt}`);
    const port = await freePort();
    try {
      await script('up.sh', [real], { PORT: String(port), ETCD_PORT: String(await freePortPair()) });
      return { real, url: `https://127.0.0.1:${port}` };
    } catch (error) {
      await script('down.sh', [real]);
      if (attempt === attempts) throw error;
    }
  }
}

async function onKubenest(folder: string): Promise<ClusterRun> {
  const port = await freePort();
  const at = (file: string): string => join(folder, file);
  const flags = [
    `--data-dir=${at('data')}`,
    `--secure-port=${port}`,
    `--tls-cert-file=${at('server.crt')}`,
    `--tls-private-key-file=${at('server.key')}`,
    `--client-ca-file=${at('ca.crt')}`,
    `--token-auth-file=${at('tokens.csv')}`,
    `--service-account-key-file=${at('sa.key')}`,
    `--service-account-signing-key-file=${at('sa.key')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    `--requestheader-client-ca-file=${at('ca.crt')}`,
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    '--requestheader-allowed-names=system:auth-proxy',
    // The real ones run.
    '--controllers=-*',
  ];
  const server = spawn(join(root, 'bin/kubenest'), ['serve', ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await Promise.race([
      once(server.stdout, 'data'),
      once(server, 'exit').then(() => Promise.reject(new Error('kubenest does not start'))),
    ]);
    return await walk(folder, `https://127.0.0.1:${port}`);
  } finally {
    server.kill('SIGTERM');
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
  }
}

/**
 * Runs the scenario on kubenest alone: its own controllers, scheduler and three simulated nodes. Rejects if a step fails. `flags`: further
 * flags of the server.
 */
export async function runOwnCluster(flags: readonly string[] = []): Promise<readonly StepTime[]> {
  const folder = mkdtempSync(join(tmpdir(), 'kubenest-cluster-'));
  const own = [`--data-dir=${folder}`, `--secure-port=${await freePort()}`, '--nodes=3', ...flags];
  const server = spawn(join(root, 'bin/kubenest'), ['serve', ...own], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await Promise.race([
      once(server.stdout, 'data'),
      once(server, 'exit').then(() => Promise.reject(new Error('kubenest does not start'))),
    ]);
    const walked = join(folder, 'walk');
    mkdirSync(walked);
    const scenario = new Scenario(clients, join(folder, 'kubeconfig'), walked, ['node-1', 'node-2', 'node-3']);
    await scenario.run();
    return scenario.times;
  } finally {
    server.kill('SIGTERM');
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

async function walk(folder: string, url: string): Promise<ClusterRun> {
  const ports = { KCM_PORT: String(await freePort()), SCHED_PORT: String(await freePort()), KWOK_PORT: String(await freePort()) };
  try {
    await script('cluster.sh', ['up', folder, url], ports);
    const own = join(folder, 'walk');
    mkdirSync(own);
    const scenario = new Scenario(clients, join(folder, 'admin.conf'), own);
    await scenario.run();
    return { times: scenario.times, errors: errorsIn(folder) };
  } finally {
    await script('cluster.sh', ['down', folder]);
  }
}

/** Collects klog's error lines: `E1121 14:45:59.272865   15290 options.go:205] message`. */
function errorsIn(folder: string): Map<string, string> {
  const errors = new Map<string, string>();
  for (const name of ['kcm', 'sched', 'kwok']) {
    for (const line of readFileSync(join(folder, `${name}.log`), 'utf8').split('\n')) {
      const place = /^E\d{4} \S+ +\d+ ([^ \]]+)\]/.exec(line)?.[1];
      if (place !== undefined) errors.set(`${name} ${place}`, line);
    }
  }
  return errors;
}

async function script(name: string, args: readonly string[], env: Record<string, string> = {}): Promise<void> {
  await execute(join(reference, name), args, { env: { ...process.env, REFERENCE_BIN: tools, ...env } });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const own = await runOwnCluster();
  const { kubenest, real } = await runControllers();
  const seconds = (value: number | undefined): string => (value ?? Number.NaN).toFixed(1).padStart(14);
  process.stdout.write(`${'seconds'.padEnd(30)} ${['kubenest alone', 'with real ones', 'kube-apiserver'].join(' ')}\n`);
  const of = (times: readonly StepTime[], step: string): string => seconds(times.find((time) => time.step === step)?.seconds);
  for (const { step } of real.times) {
    process.stdout.write(`${step.padEnd(30)} ${of(own, step)} ${of(kubenest.times, step)} ${of(real.times, step)}\n`);
  }
  for (const [place, line] of kubenest.errors) if (!real.errors.has(place)) process.stdout.write(`only on kubenest: ${place}: ${line}\n`);
  for (const [place, line] of real.errors)
    if (!kubenest.errors.has(place)) process.stdout.write(`only on the real one: ${place}: ${line}\n`);
}
