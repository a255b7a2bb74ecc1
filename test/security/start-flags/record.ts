/**
 * Records the behaviour of a real kube-apiserver for each command line in outcomes.json beside this file and in
 * docs/reference/start-flags.md:
 *   npm run setup -- run --conditions=kubenest-source --experimental-transform-types test/security/start-flags/record.ts
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../scripts/free-port.ts';
import { startEtcd } from '../../servers/etcd-server.ts';
import { kubeApiserver, noKubeApiserver } from '../../servers/kube-apiserver.ts';
import { documentOf } from './document.ts';
import { flagsOf, type Outcome, type Row, rows, writeFiles } from './rows.ts';

const folder = mkdtempSync(join(tmpdir(), 'start-flags-'));
const outcomes: Record<string, Outcome> = {};
try {
  if (kubeApiserver === undefined) throw new Error(noKubeApiserver);
  await writeFiles(folder);
  await using etcd = await startEtcd();
  for (const row of rows) outcomes[row.name] = await outcomeOf(row, etcd.url);
  writeFileSync(join(import.meta.dirname, 'outcomes.json'), `${JSON.stringify(outcomes, undefined, 2)}\n`);
  writeFileSync(join(import.meta.dirname, '../../../docs/reference/start-flags.md'), documentOf(outcomes));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function outcomeOf(row: Row, etcdUrl: string): Promise<Outcome> {
  const port = await freePort();
  const own = flagsOf(row, folder);
  const named = new Set(own.map((flag) => flag.split('=')[0]));
  const base = [
    ...[`--etcd-servers=${etcdUrl}`, `--secure-port=${port}`, '--bind-address=127.0.0.1', `--cert-dir=${join(folder, 'made')}`],
    ...[`--service-account-key-file=${folder}/sa.key`, `--service-account-signing-key-file=${folder}/sa.key`],
    ...[
      '--service-account-issuer=https://kubernetes.default.svc',
      '--service-cluster-ip-range=10.0.0.0/24',
      '--endpoint-reconciler-type=none',
    ],
  ].filter((flag) => !named.has(flag.split('=')[0]));
  const child = spawn(kubeApiserver as string, [...base, ...own], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (text: Buffer) => (said += text.toString()));
  const ended = once(child, 'exit');
  const outcome = await Promise.race([ended.then((): Outcome => ({ refused: reasonOf(said) })), started(child, port)]);
  child.kill('SIGKILL');
  await ended;
  return outcome;
}

/** Returns the last message of the server without times, paths and versions. */
function reasonOf(said: string): string {
  const line =
    said.split('\n').findLast((one) => one.includes('err=') || /^(?:Error|panic|[EF]\d{4})/.test(one)) ??
    said.trim().split('\n').at(-1) ??
    '';
  const text = /err="((?:[^"\\]|\\.)*)"/.exec(line)?.[1] ?? line.replace(/^[EF]\d{4} \S+\s+\d+ \S+\] /, '');
  return text.replaceAll('\\"', '"').replaceAll(folder, 'FOLDER');
}

async function started(child: ChildProcess, port: number): Promise<Outcome> {
  for (;;) {
    await sleep(200);
    if (child.exitCode !== null) return new Promise(() => {});
    const ready = await statusOf(port, '/readyz');
    // A server that requires credentials for /readyz has started, too.
    if (ready === 200 || ready === 401 || ready === 403) {
      if (ready !== 200) await sleep(4_000);
      return { anonymous: await statusOf(port, '/api/v1/namespaces') };
    }
  }
}

function statusOf(port: number, path: string): Promise<number> {
  return new Promise((resolve) => {
    const sent = request({ host: '127.0.0.1', port, path, rejectUnauthorized: false, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', () => resolve(0));
    sent.end();
  });
}
