import type { PodDisruptionBudget } from 'kubenest/types/policy_v1';
import { startTestCluster, type TestCluster } from 'kubenest/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Workloads } from '../common/testing/workload-cluster.ts';

const collection = 'policy/v1/poddisruptionbudgets';
let cluster: TestCluster;
let workloads: Workloads;
beforeAll(async () => {
  cluster = await startTestCluster({ controllers: ['disruption-controller', 'replicaset-controller', 'deployment-controller'] });
  workloads = new Workloads(cluster);
});
afterAll(() => cluster[Symbol.asyncDispose]());

const create = (name: string, spec: object): Promise<unknown> =>
  workloads.create(collection, { metadata: { name }, spec: { selector: { matchLabels: { app: name } }, ...spec } });
const expectStatus = (name: string, status: object): Promise<void> =>
  vi.waitFor(async () => expect((await workloads.get<PodDisruptionBudget>(collection, name)).status).toMatchObject(status));

it('allows evictions of the pods of a Deployment as far as enough remain', async () => {
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  await workloads.create('apps/v1/deployments', {
    metadata: { name: 'web' },
    spec: { replicas: 4, selector: { matchLabels: { app: 'web' } }, template },
  });
  await create('web', { maxUnavailable: '25%' });
  await expectStatus('web', { expectedPods: 4, desiredHealthy: 3, currentHealthy: 0, disruptionsAllowed: 0 });
  await vi.waitFor(async () => expect(await workloads.pods('app=web')).toHaveLength(4));
  await workloads.runAll('app=web');
  await expectStatus('web', { currentHealthy: 4, disruptionsAllowed: 1, conditions: [{ status: 'True', reason: 'SufficientPods' }] });
  const [first, second] = await workloads.pods('app=web');
  const evict = (name: string): Promise<Response> =>
    cluster.fetch(`/api/v1/namespaces/default/pods/${name}/eviction`, {
      body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } },
    });
  expect((await evict(first?.metadata.name as string)).status).toBe(201);
  expect((await evict(second?.metadata.name as string)).status).toBe(429);
  await expectStatus('web', { currentHealthy: 3, disruptionsAllowed: 0 });
});

it('reports a budget without pods, and pods without a controller', async () => {
  await create('empty', { minAvailable: 1 });
  await expectStatus('empty', { expectedPods: 0, disruptionsAllowed: 0 });
  await vi.waitFor(async () => expect(await workloads.events('empty')).toEqual(['Normal NoPods: No matching pods found']));
  await workloads.create('pods', {
    metadata: { name: 'bare', labels: { app: 'bare' } },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  });
  await create('bare', { minAvailable: '50%' });
  await vi.waitFor(async () => expect((await workloads.events('bare'))[0]).toMatch(/^Warning UnmanagedPods: Pods selected by this/));
});
