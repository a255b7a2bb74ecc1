/**
 * Records the responses of a real kube-apiserver to each token in answers.json beside this file:
 *   npm run setup -- run --conditions=kubenest-source --experimental-transform-types test/security/json-web-tokens/record.ts
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEtcd } from '../../servers/etcd-server.ts';
import { startKubeApiserver } from '../../servers/kube-apiserver.ts';
import { askEach } from './answers.ts';
import { realServer } from './real-server.ts';
import { flagsFor } from './tokens.ts';

const folder = mkdtempSync(join(tmpdir(), 'json-web-tokens-'));
try {
  await using etcd = await startEtcd();
  await using server = await startKubeApiserver(etcd.url, flagsFor(folder));
  const answers = await askEach(realServer(server));
  writeFileSync(join(import.meta.dirname, 'answers.json'), `${JSON.stringify(answers, undefined, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
