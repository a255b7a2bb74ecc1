import type { ControllerRevision, DaemonSet } from 'kubenest/types/apps_v1';
import type { KubeObject } from 'kubenest/sdk';
import { startTestCluster, type TestCluster } from 'kubenest/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Workloads } from '../common/testing/workload-cluster.ts';
import { targetNode } from './daemon-pods.ts';

const collection = 'apps/v1/daemonsets';
const node = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { pool: 'x' } } });
let cluster: TestCluster;
let workloads: Workloads;
beforeAll(async () => {
  cluster = await startTestCluster({ controllers: ['daemonset-controller'], objects: [node('a'), node('b')] });
  workloads = new Workloads(cluster);
  for (const name of ['a', 'b']) await taint(name, []);
});
afterAll(() => cluster[Symbol.asyncDispose]());

const taint = async (name: string, taints: object[]): Promise<void> => {
  const headers = { 'content-type': 'application/merge-patch+json' };
  await cluster.fetch(`/api/v1/nodes/${name}`, { method: 'PATCH', headers, body: { spec: { taints } } });
};
const create = (name: string, spec: object = {}): Promise<DaemonSet> =>
  workloads.create(collection, {
    metadata: { name },
    spec: {
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      ...spec,
    },
  });
const expectStatus = (name: string, status: object): Promise<void> =>
  vi.waitFor(async () => expect((await workloads.get<DaemonSet>(collection, name)).status).toMatchObject(status));
/** Plays the scheduler and the kubelet until all pods are updated and available. */
const complete = (name: string): Promise<void> =>
  vi.waitFor(async () => {
    for (const pod of await workloads.pods(`app=${name}`)) {
      if (pod.metadata.deletionTimestamp) await workloads.remove('pods', pod.metadata.name as string, { gracePeriodSeconds: 0 });
      else if (!pod.spec?.nodeName) await workloads.bind(pod, targetNode(pod) as string);
    }
    await workloads.runAll(`app=${name}`);
    const { metadata, status } = await workloads.get<DaemonSet>(collection, name);
    expect(status).toMatchObject({ observedGeneration: metadata.generation, updatedNumberScheduled: 2, numberAvailable: 2 });
  });

it('runs a pod on each node and counts them', async () => {
  await create('agent');
  await complete('agent');
  await expectStatus('agent', { currentNumberScheduled: 2, desiredNumberScheduled: 2, numberMisscheduled: 0, numberReady: 2 });
  const pods = await workloads.pods('app=agent');
  expect(pods.map(({ spec }) => spec?.nodeName).sort()).toEqual(['a', 'b']);
  const [revision] = await workloads.list<ControllerRevision>('apps/v1/controllerrevisions', 'app=agent');
  expect(pods[0]?.metadata.labels).toEqual({
    app: 'agent',
    'controller-revision-hash': revision?.metadata.labels?.['controller-revision-hash'],
    'pod-template-generation': '1',
  });
  expect(revision).toMatchObject({
    revision: 1,
    data: { spec: { template: { $patch: 'replace', metadata: { labels: { app: 'agent' } } } } },
  });
  const created = 'Normal SuccessfulCreate: Created pod: agent-*';
  await vi.waitFor(async () => expect(await workloads.events('agent')).toEqual([created, created]));
});

it('updates one node after the other and keeps the earlier template', async () => {
  await create('rolling');
  await complete('rolling');
  await workloads.patch(collection, 'rolling', { spec: { template: { spec: { containers: [{ name: 'c', image: 'j' }] } } } });
  await complete('rolling');
  expect((await workloads.pods('app=rolling')).map(({ spec }) => spec?.containers?.[0]?.image)).toEqual(['j', 'j']);
  const revisions = await workloads.list<ControllerRevision>('apps/v1/controllerrevisions', 'app=rolling');
  expect(revisions.map(({ revision }) => revision).sort()).toEqual([1, 2]);
});

it('leaves old pods until they are deleted with OnDelete', async () => {
  await create('manual', { updateStrategy: { type: 'OnDelete' } });
  await complete('manual');
  await workloads.patch(collection, 'manual', { spec: { template: { spec: { containers: [{ name: 'c', image: 'j' }] } } } });
  await expectStatus('manual', { observedGeneration: 2 });
  expect((await workloads.pods('app=manual')).map(({ spec }) => spec?.containers?.[0]?.image)).toEqual(['i', 'i']);
});

it('leaves a node that gets a taint, and returns', async () => {
  await create('tainted');
  await complete('tainted');
  await taint('b', [{ key: 'k', effect: 'NoExecute' }]);
  await vi.waitFor(async () => {
    const pods = await workloads.pods('app=tainted');
    expect(pods.find(({ spec }) => spec?.nodeName === 'b')?.metadata.deletionTimestamp).toBeTruthy();
  });
  await expectStatus('tainted', { desiredNumberScheduled: 1 });
  await taint('b', []);
  await complete('tainted');
});
