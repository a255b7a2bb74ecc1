import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { nowMicro } from '#apimachinery/runtime/time';
import type { Lease } from '#kubernetes/schema/coordination_v1.gen';
import type { LeaseCandidate } from '#kubernetes/schema/coordination_v1beta1.gen';
import { startTestCluster, type TestCluster } from '#testing/index';

const flags = ['--feature-gates=CoordinatedLeaderElection=true', '--runtime-config=coordination.k8s.io/v1beta1=true'];
const candidates = '/apis/coordination.k8s.io/v1beta1/namespaces/kube-system/leasecandidates';
const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';

const get = async <T extends KubeObject>(cluster: TestCluster, path: string): Promise<T | undefined> => {
  const answer = await cluster.fetch(path);
  return answer.ok ? ((await answer.json()) as T) : undefined;
};
const specOf = async (cluster: TestCluster): Promise<Lease['spec']> => (await get<Lease>(cluster, `${leases}/thing`))?.spec;

async function stand(cluster: TestCluster, name: string, emulationVersion: string): Promise<void> {
  const spec = { leaseName: 'thing', strategy: 'OldestEmulationVersion', emulationVersion, binaryVersion: '1.36.0', renewTime: nowMicro() };
  const body = { apiVersion: 'coordination.k8s.io/v1beta1', kind: 'LeaseCandidate', metadata: { name }, spec };
  expect((await cluster.fetch(candidates, { body })).status).toBe(201);
}

/** Acknowledges a ping like client-go's candidates. */
async function answer(cluster: TestCluster, name: string): Promise<boolean> {
  const candidate = await get<LeaseCandidate>(cluster, `${candidates}/${name}`);
  const { pingTime, renewTime = '' } = candidate?.spec ?? {};
  if (pingTime === undefined || renewTime >= pingTime) return false;
  const body = { spec: { renewTime: nowMicro() } };
  const headers = { 'content-type': 'application/merge-patch+json' };
  expect((await cluster.fetch(`${candidates}/${name}`, { method: 'PATCH', headers, body })).status).toBe(200);
  return true;
}

it('elects the candidate with the oldest version, and requests a holder to yield to a better one', { timeout: 60_000 }, async () => {
  await using cluster = await startTestCluster({ flags });
  await stand(cluster, 'host_newer', '1.36.0');
  await expect
    .poll(() => specOf(cluster), { timeout: 20_000 })
    .toMatchObject({ holderIdentity: 'host_newer', strategy: 'OldestEmulationVersion' });
  await sleep(10);
  await stand(cluster, 'host_older', '1.35.0');
  await expect
    .poll(
      async () => {
        await Promise.all(['host_newer', 'host_older'].map((name) => answer(cluster, name)));
        const renewing = {
          method: 'PATCH',
          headers: { 'content-type': 'application/merge-patch+json' },
          body: { spec: { renewTime: nowMicro() } },
        };
        await cluster.fetch(`${leases}/thing`, renewing);
        return specOf(cluster);
      },
      { timeout: 30_000, interval: 200 },
    )
    .toMatchObject({ holderIdentity: 'host_newer', preferredHolder: 'host_older' });
  expect((await get<Lease>(cluster, `${leases}/leader-election-controller`))?.spec).toMatchObject({
    leaseDurationSeconds: 15,
    leaseTransitions: 0,
  });
});

it('elects no candidate and drops the lease fields without the feature gate', async () => {
  await using cluster = await startTestCluster({ flags: flags.slice(1) });
  await stand(cluster, 'one', '1.36.0');
  const body = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'own' },
    spec: { strategy: 'OldestEmulationVersion' },
  };
  expect(((await (await cluster.fetch(leases, { body })).json()) as Lease).spec).toEqual({});
  expect(await specOf(cluster)).toBeUndefined();
});
