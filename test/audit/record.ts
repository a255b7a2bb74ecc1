/**
 * Records the audit events of the real kube-apiserver: `node test/audit/record.ts`. Requires the binaries of
 * ../shared/reference.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEtcd } from '../servers/etcd-server.ts';
import { startKubeApiserver } from '../servers/kube-apiserver.ts';
import { normalized, policy, requests, tokens, userAgent } from './requests.ts';

const folder = mkdtempSync(join(tmpdir(), 'audit-record-'));
const file = (name: string): string => join(folder, name);
writeFileSync(file('policy.json'), JSON.stringify(policy));
writeFileSync(file('tokens.csv'), tokens);
try {
  await using etcd = await startEtcd();
  await using server = await startKubeApiserver(etcd.url, [
    `--audit-policy-file=${file('policy.json')}`,
    `--audit-log-path=${file('audit.log')}`,
    `--token-auth-file=${file('tokens.csv')}`,
    '--disable-admission-plugins=ServiceAccount',
  ]);
  for (const { method, path, token, headers, body } of requests) {
    await server.send(path, {
      method,
      headers: { 'user-agent': userAgent, ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
      body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
    });
  }
  await sleep(1_000);
  const events = normalized(readFileSync(file('audit.log'), 'utf8').split('\n'));
  writeFileSync(new URL('./kube-apiserver.json', import.meta.url), `[\n${events.map((event) => JSON.stringify(event)).join(',\n')}\n]\n`);
  console.log(`${requests.length} requests, ${events.length} events`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
