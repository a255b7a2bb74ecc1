import type { KubeObject } from 'kubenest/sdk';
import { admissionTable, fakeInformers } from 'kubenest/sdk/testing';
import { object } from './test-objects.ts';
import { DefaultStorageClass } from './default-storage-class.ts';

const storageClass = (name: string, creationTimestamp: string): KubeObject =>
  object(
    'storage.k8s.io/v1',
    'StorageClass',
    {},
    { name, creationTimestamp, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  );
const claim = (spec: Record<string, unknown>): KubeObject => object('v1', 'PersistentVolumeClaim', { spec }, { namespace: 'ns' });
admissionTable(
  DefaultStorageClass,
  [
    { name: 'the newest default class is used', object: claim({}), want: { spec: { storageClassName: 'new' } } },
    { name: 'an explicit class stays', object: claim({ storageClassName: 'mine' }) },
    { name: 'an explicitly empty class stays', object: claim({ storageClassName: '' }) },
  ],
  {
    informers: fakeInformers({
      'storageclasses.storage.k8s.io': [storageClass('old', '2020-01-01T00:00:00Z'), storageClass('new', '2021-01-01T00:00:00Z')],
    }),
  },
);
