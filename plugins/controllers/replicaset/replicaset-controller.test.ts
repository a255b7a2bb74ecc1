import type { ReplicaSet } from 'kubenest/types/apps_v1';
import { startTestCluster, type TestCluster } from 'kubenest/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Workloads } from '../common/testing/workload-cluster.ts';

let cluster: TestCluster;
let workloads: Workloads;
beforeAll(async () => {
  cluster = await startTestCluster({ controllers: ['replicaset-controller', 'replicationcontroller-controller'] });
  workloads = new Workloads(cluster);
});
afterAll(() => cluster[Symbol.asyncDispose]());

const template = (app: string): object => ({ metadata: { labels: { app } }, spec: { containers: [{ name: 'c', image: 'i' }] } });
const kinds = [
  { kind: 'ReplicaSet', collection: 'apps/v1/replicasets', selector: (app: string) => ({ matchLabels: { app } }), hasTerminating: true },
  { kind: 'ReplicationController', collection: 'replicationcontrollers', selector: (app: string) => ({ app }), hasTerminating: false },
];

describe.each(kinds)('$kind', ({ kind, collection, selector, hasTerminating }) => {
  const prefix = kind.toLowerCase().slice(0, 8);
  const create = (name: string, replicas: number, more: object = {}): Promise<ReplicaSet> =>
    workloads.create(collection, { metadata: { name }, spec: { replicas, selector: selector(name), template: template(name), ...more } });
  const expectStatus = (name: string, status: object): Promise<void> =>
    vi.waitFor(async () => expect((await workloads.get<ReplicaSet>(collection, name)).status).toEqual(status));
  const terminatingReplicas = hasTerminating ? { terminatingReplicas: 0 } : {};

  it('creates pods, counts them and reports them in events', async () => {
    const name = `${prefix}-a`;
    await create(name, 3);
    await expectStatus(name, { replicas: 3, fullyLabeledReplicas: 3, observedGeneration: 1, ...terminatingReplicas });
    const pods = await workloads.pods(`app=${name}`);
    expect(pods.map(({ metadata }) => metadata.generateName)).toEqual([`${name}-`, `${name}-`, `${name}-`]);
    expect(pods[0]?.metadata.ownerReferences).toEqual([
      expect.objectContaining({ kind, name, controller: true, blockOwnerDeletion: true }),
    ]);
    await workloads.runAll(`app=${name}`);
    await expectStatus(name, {
      replicas: 3,
      fullyLabeledReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      observedGeneration: 1,
      ...terminatingReplicas,
    });
    const created = `Normal SuccessfulCreate: Created pod: ${name}-*`;
    await vi.waitFor(async () => expect(await workloads.events(name)).toEqual([created, created, created]));
  });

  it('deletes surplus pods and replaces failed ones', async () => {
    const name = `${prefix}-b`;
    await create(name, 3);
    await expectStatus(name, expect.objectContaining({ replicas: 3 }));
    await workloads.patch(collection, name, { spec: { replicas: 1 } });
    await expectStatus(name, expect.objectContaining({ replicas: 1, observedGeneration: 2 }));
    const [pod] = await workloads.pods(`app=${name}`);
    await workloads.setPhase(pod!, 'Failed');
    await vi.waitFor(async () => expect(await workloads.pods(`app=${name}`)).toHaveLength(2));
    await vi.waitFor(async () =>
      expect(new Set(await workloads.events(name))).toEqual(
        new Set([`Normal SuccessfulCreate: Created pod: ${name}-*`, `Normal SuccessfulDelete: Deleted pod: ${name}-*`]),
      ),
    );
  });

  it('adopts matching orphans and releases pods that no longer match', async () => {
    const name = `${prefix}-c`;
    await workloads.create('pods', {
      metadata: { name: `${name}-orphan`, labels: { app: name } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    await create(name, 1);
    await vi.waitFor(async () => expect((await workloads.get('pods', `${name}-orphan`)).metadata.ownerReferences?.[0]?.name).toBe(name));
    await workloads.patch('pods', `${name}-orphan`, { metadata: { labels: { app: 'other' } } });
    await vi.waitFor(async () => {
      expect((await workloads.get('pods', `${name}-orphan`)).metadata.ownerReferences).toBeUndefined();
      expect(await workloads.pods(`app=${name}`)).toHaveLength(1);
    });
  });

  it('reports the failure to create pods in a condition', async () => {
    const name = `${prefix}-d`;
    await workloads.create('resourcequotas', { metadata: { name }, spec: { hard: { 'limits.cpu': '1' } } });
    await workloads.patch('resourcequotas', name, { status: { hard: { 'limits.cpu': '1' }, used: { 'limits.cpu': '0' } } }, 'status');
    await create(name, 2);
    const message = expect.stringContaining('forbidden: failed quota');
    await expectStatus(
      name,
      expect.objectContaining({
        replicas: 0,
        conditions: [expect.objectContaining({ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message })],
      }),
    );
    await workloads.remove('resourcequotas', name);
    await vi.waitFor(async () => expect((await workloads.get<ReplicaSet>(collection, name)).status?.conditions).toBeUndefined());
    expect((await workloads.events(name))[0]).toMatch(/^Warning FailedCreate: Error creating: pods ".*" is forbidden/);
  });

  it('counts ready pods as available after minReadySeconds', async () => {
    const name = `${prefix}-e`;
    await create(name, 1, { minReadySeconds: 3 });
    await expectStatus(name, expect.objectContaining({ replicas: 1 }));
    await workloads.runAll(`app=${name}`);
    await expectStatus(name, expect.objectContaining({ readyReplicas: 1 }));
    await vi.waitFor(async () => expect((await workloads.get<ReplicaSet>(collection, name)).status?.availableReplicas).toBe(1));
  });
});
