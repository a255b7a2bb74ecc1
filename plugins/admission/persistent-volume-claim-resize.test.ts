import { admissionTable, fakeInformers } from 'kubenest/sdk/testing';
import { PersistentVolumeClaimResize } from './persistent-volume-claim-resize.ts';
import { object } from './test-objects.ts';

const claim = (storage: string, storageClassName = 'elastic', phase = 'Bound') =>
  object(
    'v1',
    'PersistentVolumeClaim',
    { spec: { storageClassName, resources: { requests: { storage } } }, status: { phase } },
    { namespace: 'ns' },
  );
const storageClass = (name: string, allowVolumeExpansion: boolean) =>
  object('storage.k8s.io/v1', 'StorageClass', { allowVolumeExpansion }, { name });

admissionTable(
  PersistentVolumeClaimResize,
  [
    { name: 'an unchanged size', object: claim('1Gi', 'fixed'), oldObject: claim('1024Mi', 'fixed') },
    { name: 'an expansion with an expandable class', object: claim('2Gi'), oldObject: claim('1Gi') },
    {
      name: 'an expansion with a fixed class',
      object: claim('2Gi', 'fixed'),
      oldObject: claim('1Gi', 'fixed'),
      denied: /must support resize/,
    },
    {
      name: 'an expansion with a missing class',
      object: claim('2Gi', 'gone'),
      oldObject: claim('1Gi', 'gone'),
      denied: /must support resize/,
    },
    {
      name: 'an expansion before the claim is bound',
      object: claim('2Gi'),
      oldObject: claim('1Gi', 'elastic', 'Pending'),
      denied: /Only bound persistent volume claims can be expanded/,
    },
  ],
  { informers: fakeInformers({ 'storageclasses.storage.k8s.io': [storageClass('elastic', true), storageClass('fixed', false)] }) },
);
