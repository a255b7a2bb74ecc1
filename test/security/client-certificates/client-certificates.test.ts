/**
 * Compares the authentication of client certificates with the real kube-apiserver: with recorded responses (record.ts), or
 * live if it is installed.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';
import { etcd, startEtcd } from '../../servers/etcd-server.ts';
import { kubeApiserver, startKubeApiserver } from '../../servers/kube-apiserver.ts';
import { type Answer, askEach, flagsFor, servers } from './answers.ts';
import { makeChains } from './chains.ts';

const recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'answers.json'), 'utf8')) as Record<string, Record<string, Answer>>;
const chains = await makeChains();

it('has recorded responses for at least 150 chains', () => {
  const names = chains.chains.map(({ name }) => name);
  expect(names.length).toBeGreaterThanOrEqual(150);
  for (const server of servers) expect(Object.keys(recorded[server] ?? {})).toEqual(names);
});

describe.each(servers)('%s', (name) => {
  const folder = mkdtempSync(join(tmpdir(), 'client-certificates-'));
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startTestCluster({ listen: true, flags: flagsFor(name, folder, chains) });
  });
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  it('responds to every chain like the real server', async () => {
    expect(await askEach(cluster.url as string, chains)).toEqual(recorded[name]);
  });

  it.runIf(kubeApiserver !== undefined && etcd !== undefined)(
    'the recorded responses equal those of the real server',
    async () => {
      await using store = await startEtcd();
      await using server = await startKubeApiserver(store.url, flagsFor(name, folder, chains));
      expect(await askEach(server.url, chains)).toEqual(recorded[name]);
    },
    120_000,
  );
});
