/**
 * Compares the authentication of service account tokens with the real kube-apiserver: with recorded responses (record.ts),
 * or live if it is installed.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { startTestCluster } from '#testing/index';
import { etcd, startEtcd } from '../../servers/etcd-server.ts';
import { kubeApiserver, startKubeApiserver } from '../../servers/kube-apiserver.ts';
import { type Answer, askEach } from './answers.ts';
import { realServer } from './real-server.ts';
import { flagsFor, issuer } from './tokens.ts';

const recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'answers.json'), 'utf8')) as Record<string, Answer>;
const folder = mkdtempSync(join(tmpdir(), 'json-web-tokens-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('responds to every token like the real server', async () => {
  await using cluster = await startTestCluster({ flags: [...flagsFor(folder), `--service-account-issuer=${issuer}`] });
  const answers = await askEach({
    async asAdmin(method, path, body) {
      const answer = await cluster.fetch(path, { method, ...(body && { body }) });
      return { status: answer.status, body: await answer.json() };
    },
    async withToken(token, path, body) {
      const answer = await cluster.fetch(path, { as: null, body, headers: { authorization: `Bearer ${token}` } });
      return { status: answer.status, body: await answer.json() };
    },
  });
  expect(answers).toEqual(recorded);
});

it.runIf(kubeApiserver !== undefined && etcd !== undefined)(
  'the recorded responses equal those of the real server',
  async () => {
    await using store = await startEtcd();
    await using server = await startKubeApiserver(store.url, flagsFor(folder));
    expect(await askEach(realServer(server))).toEqual(recorded);
  },
  120_000,
);
