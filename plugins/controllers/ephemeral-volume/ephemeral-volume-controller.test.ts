import { reconcileTable } from 'kubenest/sdk/testing';
import { partialObject } from '../common/testing/partial-object.ts';
import { EphemeralVolumeController } from './ephemeral-volume-controller.ts';

const spec = { accessModes: ['ReadWriteOnce'] };
const template = { metadata: { labels: { a: 'b' } }, spec };
const pod = (metadata: object = {}): object => ({
  metadata: { name: 'p', namespace: 'ns', uid: 'p', ...metadata },
  spec: {
    volumes: [
      { name: 'host', hostPath: {} },
      { name: 'v', ephemeral: { volumeClaimTemplate: template } },
    ],
  },
});
const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'p', controller: true, blockOwnerDeletion: true }];
const claim = (metadata: object): object => ({ metadata: { name: 'p-v', namespace: 'ns', ...metadata } });
const notOwner = 'ephemeral volume v: PVC ns/p-v was not created for pod ns/p (pod is not owner)';

reconcileTable(EphemeralVolumeController, [
  {
    name: 'creates the claim of a volume',
    objects: { pods: [partialObject(pod())] },
    request: 'ns/p',
    writes: ['create persistentvolumeclaims ns/p-v'],
    want: { persistentvolumeclaims: { 'ns/p-v': { metadata: { ownerReferences, labels: { a: 'b' } }, spec } } },
  },
  {
    name: 'creates it once',
    objects: { pods: [partialObject(pod())], persistentvolumeclaims: [partialObject(claim({ ownerReferences }))] },
    request: 'ns/p',
  },
  {
    name: 'reports a claim of somebody else',
    objects: { pods: [partialObject(pod())], persistentvolumeclaims: [partialObject(claim({}))] },
    request: 'ns/p',
    events: [{ type: 'Warning', reason: 'FailedBinding', message: notOwner }],
    fails: /pod is not owner/,
  },
  {
    name: 'leaves a pod that is being deleted alone',
    objects: { pods: [partialObject(pod({ deletionTimestamp: '2026-01-01T00:00:00Z' }))] },
    request: 'ns/p',
  },
]);
