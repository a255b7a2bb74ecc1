import type { ControllerRevision, StatefulSet } from 'kubenest/types/apps_v1';
import { startTestCluster, type TestCluster } from 'kubenest/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Workloads } from '../common/testing/workload-cluster.ts';

const collection = 'apps/v1/statefulsets';
let cluster: TestCluster;
let workloads: Workloads;
beforeAll(async () => {
  cluster = await startTestCluster({ controllers: ['statefulset-controller'] });
  workloads = new Workloads(cluster);
});
afterAll(() => cluster[Symbol.asyncDispose]());

const create = (name: string, spec: object = {}): Promise<StatefulSet> =>
  workloads.create(collection, {
    metadata: { name },
    spec: {
      replicas: 2,
      serviceName: name,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      ...spec,
    },
  });
/** Plays the kubelet until all pods are updated and ready. */
const complete = (name: string): Promise<void> =>
  vi.waitFor(async () => {
    await workloads.runAll(`app=${name}`);
    const { metadata, spec, status } = await workloads.get<StatefulSet>(collection, name);
    const replicas = spec?.replicas;
    expect(status).toMatchObject({ observedGeneration: metadata.generation, updatedReplicas: replicas, availableReplicas: replicas });
    expect(status?.currentRevision).toBe(status?.updateRevision);
  });
const names = async (collection: string, label: string): Promise<string[]> =>
  (await workloads.list(collection, label)).map(({ metadata }) => metadata.name as string);

it('creates pods in order, with claims', async () => {
  await create('db', {
    volumeClaimTemplates: [
      { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    ],
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' },
  });
  await vi.waitFor(async () => expect(await names('pods', 'app=db')).toEqual(['db-0']));
  await complete('db');
  expect(await names('pods', 'app=db')).toEqual(['db-0', 'db-1']);
  expect(await names('persistentvolumeclaims', 'app=db')).toEqual(['data-db-0', 'data-db-1']);
  await vi.waitFor(async () => {
    const claims = await workloads.list('persistentvolumeclaims', 'app=db');
    expect(claims.map(({ metadata }) => metadata.ownerReferences?.[0]?.name)).toEqual(['db', 'db']);
  });
  await vi.waitFor(async () =>
    expect(await workloads.events('db')).toEqual([
      'Normal SuccessfulCreate: Create Claim data-db-0 Pod db-0 in StatefulSet db success',
      'Normal SuccessfulCreate: Create Pod db-0 in StatefulSet db successful',
      'Normal SuccessfulCreate: Create Claim data-db-1 Pod db-1 in StatefulSet db success',
      'Normal SuccessfulCreate: Create Pod db-1 in StatefulSet db successful',
    ]),
  );
});

it('updates pods from the last to the first, and keeps the earlier template', async () => {
  await create('web');
  await complete('web');
  await workloads.patch(collection, 'web', { spec: { template: { spec: { containers: [{ name: 'c', image: 'j' }] } } } });
  await complete('web');
  expect((await workloads.pods('app=web')).map(({ spec }) => spec?.containers?.[0]?.image)).toEqual(['j', 'j']);
  const revisions = await workloads.list<ControllerRevision>('apps/v1/controllerrevisions', 'app=web');
  expect(revisions.map(({ revision }) => revision).sort()).toEqual([1, 2]);
  const deletions = (await workloads.events('web')).filter((event) => event.includes('Delete'));
  expect(deletions).toEqual(['web-1', 'web-0'].map((pod) => `Normal SuccessfulDelete: Delete Pod ${pod} in StatefulSet web successful`));
});

it('creates all pods at the same time in parallel, and scales down', async () => {
  await create('par', { podManagementPolicy: 'Parallel', replicas: 3 });
  await vi.waitFor(async () => expect(await names('pods', 'app=par')).toEqual(['par-0', 'par-1', 'par-2']));
  await complete('par');
  await workloads.patch(collection, 'par', { spec: { replicas: 1 } });
  await vi.waitFor(async () => expect(await names('pods', 'app=par')).toEqual(['par-0']));
});
