import type { KubeObject } from 'kubenest/sdk';
import { reconcileTable } from 'kubenest/sdk/testing';
import { partialObject } from '../common/testing/partial-object.ts';
import { PersistentVolumeClaimProtectionController } from './persistentvolumeclaim-protection-controller.ts';

const finalizers = ['kubernetes.io/pvc-protection'];
const claim = (metadata: object): Record<string, KubeObject[]> => ({
  persistentvolumeclaims: [partialObject({ metadata: { name: 'p-v', namespace: 'ns', ...metadata }, spec: {} })],
});
const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers };
const pod = (spec: object, metadata: object = {}): { pods: KubeObject[] } => ({
  pods: [partialObject({ metadata: { name: 'p', namespace: 'ns', uid: 'p', ...metadata }, spec })],
});
const byName = { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'p-v' } }] };
const ephemeral = { nodeName: 'n', volumes: [{ name: 'v', ephemeral: {} }] };
const owned = { ...deleted, ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'p', controller: true }] };
const writes = ['update persistentvolumeclaims ns/p-v'];

reconcileTable(PersistentVolumeClaimProtectionController, [
  {
    name: 'adds the finalizer',
    objects: claim({}),
    request: 'ns/p-v',
    writes,
    want: { persistentvolumeclaims: { 'ns/p-v': { metadata: { finalizers } } } },
  },
  { name: 'leaves a protected claim alone', objects: claim({ finalizers }), request: 'ns/p-v' },
  { name: 'releases an unused claim', objects: claim(deleted), request: 'ns/p-v', writes },
  { name: 'keeps the claim of a pod on a node', objects: { ...claim(deleted), ...pod({ nodeName: 'n', ...byName }) }, request: 'ns/p-v' },
  { name: 'releases the claim of a pod without a node', objects: { ...claim(deleted), ...pod(byName) }, request: 'ns/p-v', writes },
  { name: 'keeps the claim of an ephemeral volume', objects: { ...claim(owned), ...pod(ephemeral) }, request: 'ns/p-v' },
  {
    name: 'releases a claim that only has the name of an ephemeral volume',
    objects: { ...claim(deleted), ...pod(ephemeral) },
    request: 'ns/p-v',
    writes,
  },
  {
    name: 'releases the claim of an ephemeral volume when the kubelet is done with the pod',
    objects: { ...claim(owned), ...pod(ephemeral, { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 }) },
    request: 'ns/p-v',
    writes,
  },
]);
