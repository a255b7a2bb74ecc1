import type { Deployment, ReplicaSet } from 'kubenest/types/apps_v1';
import { startTestCluster, type TestCluster } from 'kubenest/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Workloads } from '../common/testing/workload-cluster.ts';

const collection = 'apps/v1/deployments';
let cluster: TestCluster;
let workloads: Workloads;
beforeAll(async () => {
  cluster = await startTestCluster({ controllers: ['deployment-controller', 'replicaset-controller'] });
  workloads = new Workloads(cluster);
});
afterAll(() => cluster[Symbol.asyncDispose]());

const create = (name: string, spec: object): Promise<Deployment> =>
  workloads.create(collection, {
    metadata: { name },
    spec: {
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'nginx', image: 'nginx' }] } },
      ...spec,
    },
  });
const setImage = (name: string, image: string): Promise<Deployment> =>
  workloads.patch(collection, name, { spec: { template: { spec: { containers: [{ name: 'nginx', image }] } } } });
const get = (name: string): Promise<Deployment> => workloads.get<Deployment>(collection, name);
const sets = (name: string): Promise<ReplicaSet[]> => workloads.list<ReplicaSet>('apps/v1/replicasets', `app=${name}`);
const conditions = async (name: string): Promise<string[]> =>
  ((await get(name)).status?.conditions ?? []).map(({ type, status, reason }) => `${type} ${status} ${reason}`);
/** Plays the kubelet until the rollout is complete. */
const complete = (name: string): Promise<void> =>
  vi.waitFor(async () => {
    await workloads.runAll(`app=${name}`);
    const { metadata, spec, status } = await get(name);
    const replicas = spec?.replicas;
    expect(status).toMatchObject({
      observedGeneration: metadata.generation,
      replicas,
      updatedReplicas: replicas,
      availableReplicas: replicas,
    });
  });

it('creates a ReplicaSet with the hash of its template and reports completion', async () => {
  await create('web', { replicas: 3 });
  await complete('web');
  const [set] = await sets('web');
  expect(set?.metadata.name).toBe(`web-${set?.metadata.labels?.['pod-template-hash']}`);
  expect(set?.metadata.annotations).toEqual({
    'deployment.kubernetes.io/desired-replicas': '3',
    'deployment.kubernetes.io/max-replicas': '4',
    'deployment.kubernetes.io/revision': '1',
  });
  const deployment = await get('web');
  expect(deployment.metadata.annotations).toEqual({ 'deployment.kubernetes.io/revision': '1' });
  expect(await conditions('web')).toEqual(['Available True MinimumReplicasAvailable', 'Progressing True NewReplicaSetAvailable']);
  expect(await workloads.events('web')).toEqual([`Normal ScalingReplicaSet: Scaled up replica set ${set?.metadata.name} from 0 to 3`]);
});

it('replaces pods step by step, and goes back to an earlier set', async () => {
  await create('roll', { replicas: 4 });
  await complete('roll');
  const first = (await sets('roll'))[0]?.metadata.name as string;
  await setImage('roll', 'nginx:2');
  await complete('roll');
  const second = (await sets('roll')).find(({ metadata }) => metadata.name !== first)?.metadata.name as string;
  const events = await workloads.events('roll');
  expect(events.slice(0, 4)).toEqual([
    `Normal ScalingReplicaSet: Scaled up replica set ${first} from 0 to 4`,
    `Normal ScalingReplicaSet: Scaled up replica set ${second} from 0 to 1`,
    `Normal ScalingReplicaSet: Scaled down replica set ${first} from 4 to 3`,
    `Normal ScalingReplicaSet: Scaled up replica set ${second} from 1 to 2`,
  ]);
  expect(events.at(-1)).toBe(`Normal ScalingReplicaSet: Scaled down replica set ${first} from 1 to 0`);
  await setImage('roll', 'nginx');
  await complete('roll');
  const again = await workloads.get<ReplicaSet>('apps/v1/replicasets', first);
  expect(again.metadata.annotations).toMatchObject({
    'deployment.kubernetes.io/revision': '3',
    'deployment.kubernetes.io/revision-history': '1',
  });
  expect((await get('roll')).metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('3');
});

it('removes all old pods before it creates new ones if it recreates', async () => {
  await create('again', { replicas: 2, strategy: { type: 'Recreate' } });
  await complete('again');
  await setImage('again', 'nginx:2');
  await complete('again');
  const [first, second] = (await workloads.events('again')).map((event) => event.split(' ').at(-5));
  expect((await workloads.events('again')).slice(1)).toEqual([
    `Normal ScalingReplicaSet: Scaled down replica set ${first} from 2 to 0`,
    expect.stringMatching(/Scaled up replica set again-.* from 0 to 2$/),
  ]);
  expect(second).toBe(first);
});

it('scales without a rollout, also while it is paused', async () => {
  await create('paused', { replicas: 2, paused: true });
  await vi.waitFor(async () => expect(await conditions('paused')).toContain('Progressing Unknown DeploymentPaused'));
  expect(await sets('paused')).toEqual([]);
  await workloads.patch(collection, 'paused', { spec: { paused: false } });
  await complete('paused');
  await workloads.patch(collection, 'paused', { spec: { paused: true, replicas: 3 } });
  await complete('paused');
  expect(await sets('paused')).toHaveLength(1);
  expect(await conditions('paused')).toContain('Progressing Unknown DeploymentPaused');
});

it('counts collisions of the hash and takes another name', async () => {
  await create('hash', { replicas: 0 });
  await vi.waitFor(async () => expect(await sets('hash')).toHaveLength(1));
  const name = (await sets('hash'))[0]?.metadata.name as string;
  await workloads.remove(collection, 'hash');
  await workloads.patch('apps/v1/replicasets', name, { metadata: { ownerReferences: null, labels: { app: 'other' } } });
  await create('hash', { replicas: 0 });
  await vi.waitFor(async () => expect((await get('hash')).status?.collisionCount).toBe(1));
  await vi.waitFor(async () => expect(await sets('hash')).toHaveLength(1));
  expect((await sets('hash'))[0]?.metadata.name).not.toBe(name);
});

it('keeps as many old sets as its history limit allows', async () => {
  await create('history', { replicas: 1, revisionHistoryLimit: 1 });
  await complete('history');
  for (const image of ['nginx:2', 'nginx:3', 'nginx:4']) {
    await setImage('history', image);
    await complete('history');
  }
  await vi.waitFor(async () => expect(await sets('history')).toHaveLength(2));
});
