import type { KubeObject } from 'kubenest/sdk';
import { startTestCluster, type TestCluster } from 'kubenest/testing';
import type { Pod } from 'kubenest/types/core_v1';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Workloads } from './common/testing/workload-cluster.ts';
import { targetNode } from './daemonset/daemon-pods.ts';

/** Names, events and statuses that kube-controller-manager v1.36.3 gave the same objects, with kube-scheduler and kwok on three nodes. */
const recorded = {
  replicaSets: ['web-54c5594876', 'web-5fbdff587b'],
  revisions: ['agent-597d786447 2', 'agent-75ccdd774c 1', 'db-64767db9f8 1', 'db-68697bfb4b 2'],
  web: [
    'Normal ScalingReplicaSet: Scaled up replica set web-54c5594876 from 0 to 3',
    'Normal ScalingReplicaSet: Scaled up replica set web-5fbdff587b from 0 to 1',
    'Normal ScalingReplicaSet: Scaled down replica set web-54c5594876 from 3 to 2',
    'Normal ScalingReplicaSet: Scaled up replica set web-5fbdff587b from 1 to 2',
    'Normal ScalingReplicaSet: Scaled down replica set web-54c5594876 from 2 to 1',
    'Normal ScalingReplicaSet: Scaled up replica set web-5fbdff587b from 2 to 3',
    'Normal ScalingReplicaSet: Scaled down replica set web-54c5594876 from 1 to 0',
  ],
  db: [
    'Normal SuccessfulCreate: Create Pod db-0 in StatefulSet db successful',
    'Normal SuccessfulCreate: Create Pod db-1 in StatefulSet db successful',
    'Normal SuccessfulDelete: Delete Pod db-1 in StatefulSet db successful',
    'Normal SuccessfulDelete: Delete Pod db-0 in StatefulSet db successful',
  ],
  agent: [
    ...Array.from({ length: 3 }, () => 'Normal SuccessfulCreate: Created pod: agent-*'),
    ...Array.from({ length: 3 }, () => [
      'Normal SuccessfulDelete: Deleted pod: agent-*',
      'Normal SuccessfulCreate: Created pod: agent-*',
    ]).flat(),
  ],
  statuses: {
    web: { availableReplicas: 3, observedGeneration: 2, readyReplicas: 3, replicas: 3, terminatingReplicas: 0, updatedReplicas: 3 },
    db: {
      availableReplicas: 2,
      collisionCount: 0,
      currentReplicas: 2,
      currentRevision: 'db-68697bfb4b',
      observedGeneration: 2,
      readyReplicas: 2,
      replicas: 2,
      updateRevision: 'db-68697bfb4b',
      updatedReplicas: 2,
    },
    agent: {
      currentNumberScheduled: 3,
      desiredNumberScheduled: 3,
      numberAvailable: 3,
      numberMisscheduled: 0,
      numberReady: 3,
      observedGeneration: 2,
      updatedNumberScheduled: 3,
    },
  },
};

let cluster: TestCluster;
let workloads: Workloads;
beforeAll(async () => {
  const controllers = ['deployment-controller', 'replicaset-controller', 'statefulset-controller', 'daemonset-controller'];
  const node = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
  cluster = await startTestCluster({ controllers, objects: ['kwok-0', 'kwok-1', 'kwok-2'].map(node) });
  workloads = new Workloads(cluster);
  const headers = { 'content-type': 'application/merge-patch+json' };
  for (const name of ['kwok-0', 'kwok-1', 'kwok-2'])
    await cluster.fetch(`/api/v1/nodes/${name}`, { method: 'PATCH', headers, body: { spec: { taints: null } } });
});
afterAll(() => cluster[Symbol.asyncDispose]());

/** Acts as the scheduler and the kubelet, one pod after the other, until the object has the status. */
async function complete(collection: string, name: string, status: object): Promise<void> {
  await vi.waitFor(
    async () => {
      for (const pod of await workloads.pods(`app=${name}`)) await advance(pod);
      expect((await workloads.get<KubeObject & { status: object }>(collection, name)).status).toMatchObject(status);
    },
    { interval: 20 },
  );
}

async function advance(pod: Pod): Promise<void> {
  if (pod.metadata.deletionTimestamp) await workloads.remove('pods', pod.metadata.name as string, { gracePeriodSeconds: 0 });
  else if (!pod.spec?.nodeName) await workloads.bind(pod, targetNode(pod) ?? 'kwok-0');
  else if (pod.status?.phase === 'Pending') await workloads.setPhase(pod, 'Running');
}

const command = ['sh', '-c', 'a && b > c'];
const spec = (app: string, container: object, more: object = {}): object => ({
  selector: { matchLabels: { app } },
  template: { metadata: { labels: { app } }, spec: { containers: [{ name: 'nginx', image: 'nginx', ...container }] } },
  ...more,
});
const deployed = spec(
  'web',
  { command, ports: [{ containerPort: 80 }], resources: { requests: { cpu: '100m', memory: '64Mi' } } },
  { replicas: 3 },
);

it.each([
  { name: 'web', collection: 'apps/v1/deployments', object: { metadata: { name: 'web', annotations: { x: '1' } }, spec: deployed } },
  {
    name: 'db',
    collection: 'apps/v1/statefulsets',
    object: { spec: spec('db', { command, resources: { limits: { memory: '128Mi' } } }, { replicas: 2, serviceName: 'db' }) },
  },
  { name: 'agent', collection: 'apps/v1/daemonsets', object: { spec: spec('agent', {}) } },
] as const)('rolls out $name with the names, events and status of kube-controller-manager', async ({ name, collection, object }) => {
  const final = recorded.statuses[name];
  await workloads.create(collection, { metadata: { name }, ...object });
  const { observedGeneration: _, currentRevision: _current, updateRevision: _update, ...counts } = final as Record<string, unknown>;
  await complete(collection, name, { ...counts, observedGeneration: 1 });
  const containers = [{ ...containerOf(object.spec), image: 'nginx:2', imagePullPolicy: 'Always' }];
  await workloads.patch(collection, name, { spec: { template: { spec: { containers } } } });
  await complete(collection, name, final);
  await vi.waitFor(async () => expect(await workloads.events(name)).toEqual(recorded[name]));
});

it('gives the objects of the rollouts the recorded names', async () => {
  const sets = await workloads.list('apps/v1/replicasets');
  expect(sets.map(({ metadata }) => metadata.name)).toEqual(recorded.replicaSets);
  const revisions = await workloads.list<KubeObject & { revision: number }>('apps/v1/controllerrevisions');
  expect(revisions.map(({ metadata, revision }) => `${metadata.name} ${revision}`)).toEqual(recorded.revisions);
});

function containerOf(workload: object): object {
  return (workload as { template: { spec: { containers: object[] } } }).template.spec.containers[0] as object;
}
