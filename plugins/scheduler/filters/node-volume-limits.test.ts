import type { PersistentVolume, PersistentVolumeClaim, Pod } from 'kubenest/types/core_v1';
import type { CSINode, StorageClass, VolumeAttachment } from 'kubenest/types/storage_v1';
import { expect, it } from 'vitest';
import type { NodeInfo } from '../framework/node-info.ts';
import { podInfo } from '../framework/pod-info.ts';
import { testCluster, testNode, testPod } from '../test-objects.ts';
import { nodeVolumeLimits } from './node-volume-limits.ts';

const driver = 'csi.example.com';
const using = (name: string, claims: string[], nodeName?: string): Pod =>
  testPod(name, {
    spec: {
      ...(nodeName !== undefined && { nodeName }),
      volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
    },
  });
const claim = (name: string, spec: NonNullable<PersistentVolumeClaim['spec']>): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: 'default' },
  spec,
});
const bound = (name: string): PersistentVolumeClaim => claim(name, { volumeName: `pv-${name}` });
const volume = (name: string): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: `pv-${name}` },
  spec: { csi: { driver, volumeHandle: name } },
});
const csiNode = (count: number): CSINode => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSINode',
  metadata: { name: 'a' },
  spec: { drivers: [{ name: driver, nodeID: 'a', allocatable: { count } }] },
});
const attachment: VolumeAttachment = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'VolumeAttachment',
  metadata: { name: 'v' },
  spec: { attacher: driver, nodeName: 'a', source: { persistentVolumeName: 'pv-z' } },
};
const late: StorageClass = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'late' }, provisioner: driver };

const full = 'node(s) exceed max volume count';
it.each<{ name: string; limit?: number; on?: string[][]; pod: string[]; attachments?: VolumeAttachment[]; want: string | undefined }>([
  { name: 'a volume within the limit', limit: 1, pod: ['x'], want: undefined },
  { name: 'more volumes than the limit', limit: 1, pod: ['x', 'y'], want: full },
  { name: 'a volume beside those of other pods', limit: 1, on: [['y']], pod: ['x'], want: full },
  { name: 'a volume that another pod uses', limit: 1, on: [['x']], pod: ['x'], want: undefined },
  { name: 'a volume beside an attached one', limit: 1, pod: ['x'], attachments: [attachment], want: full },
  { name: 'an attached volume that a pod uses', limit: 2, on: [['z']], pod: ['x'], attachments: [attachment], want: undefined },
  { name: 'a volume that is to be provisioned', limit: 1, on: [['y']], pod: ['new'], want: full },
  { name: 'volumes of a node without a limit', on: [['y']], pod: ['x'], want: undefined },
])('checks $name', ({ limit, on = [], pod, attachments = [], want }) => {
  const cluster = testCluster(
    [testNode('a')],
    on.map((claims, i) => using(`other-${i}`, claims, 'a')),
    {
      claims: [...['x', 'y', 'z'].map(bound), claim('new', { storageClassName: 'late' })],
      volumes: ['x', 'y', 'z'].map(volume),
      storageClasses: [late],
      csiNodes: limit === undefined ? [] : [csiNode(limit)],
      volumeAttachments: attachments,
    },
  );
  const info = podInfo(using('p', pod));
  const prepared = nodeVolumeLimits.prepare(info, cluster);
  if (prepared === 'skip' || 'rejection' in prepared) throw new Error('the filter has to check the nodes');
  expect(nodeVolumeLimits.check(prepared.state, info, cluster.node('a') as NodeInfo)?.reasons[0]).toBe(want);
});

it('has nothing to check for a pod without volumes of CSI drivers', () => {
  expect(nodeVolumeLimits.prepare(podInfo(testPod('p')), testCluster([testNode('a')]))).toBe('skip');
});
