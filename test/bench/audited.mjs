// Benchmarks GETs with RBAC, priority and fairness, and an audit policy that logs the metadata of each request to a file, on
// kubenest and kube-apiserver in turn. Starts both and an etcd on free ports, and stops them. Requires ../shared/bench (with
// kload built) and the binaries of ../shared/reference. Exits with 1 if a ratio is below its bar.
//   npm run build && node test/bench/audited.mjs [--rounds 3] [--seconds 5] [--only get_h]
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startEtcd } from '../servers/etcd-server.ts';
import { startKubeApiserver } from '../servers/kube-apiserver.ts';
import { Kubenest } from '../servers/kubenest.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    only: { type: 'string', default: '^get_h' },
  },
});
const compare = resolve(import.meta.dirname, '../../../shared/bench/compare.mjs');
if (!existsSync(compare)) throw new Error(`${compare} does not exist`);

const folder = mkdtempSync(join(tmpdir(), 'kubenest-audited-'));
const policy = join(folder, 'policy.yaml');
const bars = join(folder, 'bars.txt');
writeFileSync(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]\n');
writeFileSync(bars, 'get_h1 3.5\nget_h2 2\n');
const audit = (name) => [`--audit-policy-file=${policy}`, `--audit-log-path=${join(folder, `${name}.log`)}`];

try {
  await using store = await startEtcd();
  await using real = await startKubeApiserver(store.url, audit('kube-apiserver'));
  await using kubenest = await Kubenest.start(join(folder, 'kubenest'), ['--authorization-mode=RBAC', ...audit('kubenest')]);
  const { rounds, seconds, only } = values;
  const args = ['--a', kubenest.url, '--b', real.url, '--rounds', rounds, '--seconds', seconds, '--only', only, '--bars', bars];
  process.exitCode = spawnSync(process.execPath, [compare, ...args], { stdio: 'inherit' }).status ?? 1;
} finally {
  rmSync(folder, { recursive: true });
}
