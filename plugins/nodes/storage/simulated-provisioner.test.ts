import type { KubeObject } from 'kubenest/sdk';
import { reconcileTable } from 'kubenest/sdk/testing';
import { startTestCluster } from 'kubenest/testing';
import type { StatefulSet } from 'kubenest/types/apps_v1';
import type { PersistentVolume, PersistentVolumeClaim } from 'kubenest/types/core_v1';
import { expect, it, vi } from 'vitest';
import { partialObject } from '../../controllers/common/testing/partial-object.ts';
import { Workloads } from '../../controllers/common/testing/workload-cluster.ts';
import { Scheduler } from '../../scheduler/scheduler.ts';
import { NodeShape, SimulatedNodesOptions } from '../options.ts';
import { SimulatedNodes } from '../simulated-nodes.ts';
import { SimulatedProvisioner } from './simulated-provisioner.ts';

const storageClass = (name: string, volumeBindingMode: string): KubeObject =>
  partialObject({ metadata: { name }, provisioner: 'kubenest.dev/simulated', reclaimPolicy: 'Delete', volumeBindingMode });
const claim = (storageClassName: string, annotations: Record<string, string>, more: object = {}): KubeObject =>
  partialObject({
    metadata: { name: 'c', namespace: 'ns', uid: 'u', annotations },
    spec: { storageClassName, accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } },
    ...more,
  });
const volume = (phase: string, policy: string): KubeObject =>
  partialObject({
    metadata: { name: 'pvc-u', annotations: { 'pv.kubernetes.io/provisioned-by': 'kubenest.dev/simulated' } },
    spec: { persistentVolumeReclaimPolicy: policy, capacity: { storage: '1Gi' } },
    status: { phase },
  });
const asked = { 'volume.kubernetes.io/storage-provisioner': 'kubenest.dev/simulated' };
const classes = [storageClass('standard', 'WaitForFirstConsumer'), storageClass('immediate', 'Immediate')];
const objects = (claims: KubeObject[], volumes: KubeObject[] = []): Record<string, KubeObject[]> => ({
  'storageclasses.storage.k8s.io': classes,
  persistentvolumeclaims: claims,
  persistentvolumes: volumes,
});
const provisioned = {
  writes: ['create persistentvolumes pvc-u'],
  events: [
    { type: 'Normal', reason: 'Provisioning', message: 'External provisioner is provisioning volume for claim "ns/c"' },
    { type: 'Normal', reason: 'ProvisioningSucceeded', message: 'Successfully provisioned volume pvc-u' },
  ],
} as const;

reconcileTable(SimulatedProvisioner, [
  { name: 'provisions at once', objects: objects([claim('immediate', asked)]), request: 'ns/c', ...provisioned },
  { name: 'waits for the binder', objects: objects([claim('immediate', {})]), request: 'ns/c' },
  { name: 'waits for the scheduler', objects: objects([claim('standard', asked)]), request: 'ns/c' },
  {
    name: 'provisions after the scheduler has chosen a node',
    objects: objects([claim('standard', { ...asked, 'volume.kubernetes.io/selected-node': 'n' })]),
    request: 'ns/c',
    ...provisioned,
    want: { persistentvolumes: { 'pvc-u': { spec: { storageClassName: 'standard', claimRef: { uid: 'u' } } } } },
  },
  { name: 'provisions once', objects: objects([claim('immediate', asked)], [volume('Available', 'Delete')]), request: 'ns/c' },
  {
    name: 'deletes a released volume',
    objects: objects([], [volume('Released', 'Delete')]),
    request: 'pvc-u',
    writes: ['delete persistentvolumes pvc-u'],
  },
  { name: 'keeps a volume with policy Retain', objects: objects([], [volume('Released', 'Retain')]), request: 'pvc-u' },
  { name: 'keeps a volume in use', objects: objects([], [volume('Bound', 'Delete')]), request: 'pvc-u' },
]);

it('gives volumes to the pods of a StatefulSet, which becomes ready, and deletes them with the claims', async () => {
  const configuration = Object.assign(new SimulatedNodesOptions(), { nodes: [Object.assign(new NodeShape(), { count: 3 })] });
  await using cluster = await startTestCluster({
    controllers: [
      'statefulset-controller',
      'persistentvolume-binder-controller',
      'persistentvolume-protection-controller',
      'persistentvolumeclaim-protection-controller',
    ],
    plugins: [{ plugin: SimulatedNodes, configuration }, SimulatedProvisioner, Scheduler],
  });
  const workloads = new Workloads(cluster);
  await vi.waitFor(async () => expect((await cluster.fetch('/apis/storage.k8s.io/v1/storageclasses/immediate')).status).toBe(200));
  await workloads.create('apps/v1/statefulsets', {
    metadata: { name: 'db' },
    spec: {
      replicas: 2,
      serviceName: 'db',
      selector: { matchLabels: { app: 'db' } },
      template: {
        metadata: { labels: { app: 'db' } },
        spec: { containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'data', mountPath: '/data' }] }] },
      },
      volumeClaimTemplates: [
        { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
      ],
    },
  });
  await vi.waitFor(async () => {
    const { status } = await workloads.get<StatefulSet>('apps/v1/statefulsets', 'db');
    expect(status?.readyReplicas).toBe(2);
  });
  const claims = await workloads.list<PersistentVolumeClaim>('persistentvolumeclaims');
  expect(claims.map(({ metadata, spec, status }) => [metadata.name, spec?.volumeName, status])).toEqual(
    claims.map(({ metadata }, at) => [
      `data-db-${at}`,
      `pvc-${metadata.uid}`,
      { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } },
    ]),
  );
  expect(claims).toHaveLength(2);

  const { metadata } = claims[0] as PersistentVolumeClaim;
  await workloads.patch('persistentvolumeclaims', 'data-db-0', { spec: { resources: { requests: { storage: '3Gi' } } } });
  await vi.waitFor(async () => {
    const { status } = await workloads.get<PersistentVolumeClaim>('persistentvolumeclaims', 'data-db-0');
    expect(status?.capacity).toEqual({ storage: '3Gi' });
  });
  const path = `/api/v1/persistentvolumes/pvc-${metadata.uid}`;
  expect(((await (await cluster.fetch(path)).json()) as PersistentVolume).spec?.capacity).toEqual({ storage: '3Gi' });

  await workloads.remove('apps/v1/statefulsets', 'db');
  for (const { metadata: pod } of await workloads.pods()) await workloads.remove('pods', pod.name ?? '');
  await workloads.remove('persistentvolumeclaims', 'data-db-0');
  await vi.waitFor(async () => expect((await cluster.fetch(path)).status).toBe(404));
}, 60_000);
