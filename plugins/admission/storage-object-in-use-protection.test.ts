import { admissionTable } from 'kubenest/sdk/testing';
import { object } from './test-objects.ts';
import { StorageObjectInUseProtection } from './storage-object-in-use-protection.ts';

admissionTable(StorageObjectInUseProtection, [
  {
    name: 'a claim is protected',
    object: object('v1', 'PersistentVolumeClaim', {}, { namespace: 'ns' }),
    want: { metadata: { name: 'x', namespace: 'ns', finalizers: ['kubernetes.io/pvc-protection'] } },
  },
  {
    name: 'a volume is protected',
    object: object('v1', 'PersistentVolume'),
    want: { metadata: { name: 'x', finalizers: ['kubernetes.io/pv-protection'] } },
  },
  { name: 'once', object: object('v1', 'PersistentVolume', {}, { finalizers: ['kubernetes.io/pv-protection'] }) },
]);
