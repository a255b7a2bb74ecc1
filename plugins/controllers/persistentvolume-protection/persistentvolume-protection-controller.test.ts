import type { KubeObject } from 'kubenest/sdk';
import { reconcileTable } from 'kubenest/sdk/testing';
import { partialObject } from '../common/testing/partial-object.ts';
import { PersistentVolumeProtectionController } from './persistentvolume-protection-controller.ts';

const finalizers = ['kubernetes.io/pv-protection'];
const volume = (metadata: object, phase = 'Available'): Record<string, KubeObject[]> => ({
  persistentvolumes: [partialObject({ metadata: { name: 'v', ...metadata }, status: { phase } })],
});
const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers };
const writes = ['update persistentvolumes v'];

reconcileTable(PersistentVolumeProtectionController, [
  {
    name: 'adds the finalizer',
    objects: volume({}),
    request: 'v',
    writes,
    want: { persistentvolumes: { v: { metadata: { finalizers } } } },
  },
  { name: 'leaves a protected volume alone', objects: volume({ finalizers }), request: 'v' },
  { name: 'keeps a bound volume', objects: volume(deleted, 'Bound'), request: 'v' },
  { name: 'releases an unbound volume', objects: volume(deleted, 'Released'), request: 'v', writes },
]);
