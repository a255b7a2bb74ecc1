/**
 * Records the responses of a real kube-apiserver to each certificate chain in answers.json beside this file:
 *   npm run setup -- run --conditions=kubenest-source --experimental-transform-types
 *   test/security/client-certificates/record.ts
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEtcd } from '../../servers/etcd-server.ts';
import { startKubeApiserver } from '../../servers/kube-apiserver.ts';
import { type Answer, askEach, flagsFor, servers } from './answers.ts';
import { makeChains } from './chains.ts';

const folder = mkdtempSync(join(tmpdir(), 'client-certificates-'));
try {
  const chains = await makeChains();
  await using etcd = await startEtcd();
  const answers: Record<string, Record<string, Answer>> = {};
  for (const name of servers) {
    await using server = await startKubeApiserver(etcd.url, flagsFor(name, folder, chains));
    answers[name] = await askEach(server.url, chains);
  }
  writeFileSync(join(import.meta.dirname, 'answers.json'), `${JSON.stringify(answers, undefined, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
