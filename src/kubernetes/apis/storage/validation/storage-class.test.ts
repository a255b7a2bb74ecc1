import { expect, it } from 'vitest';
import type { StorageClass } from '#kubernetes/schema/storage_v1.gen';
import { validateStorageClass, validateStorageClassUpdate } from './storage-class.ts';

const storageClass = (fields: Partial<StorageClass> = {}): StorageClass => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 's' },
  provisioner: 'x.io/y',
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'Immediate',
  ...fields,
});
const zone = (...values: string[]) => ({ matchLabelExpressions: [{ key: 'zone', values }] });

it.each([
  { name: 'a class', object: storageClass(), errors: [] },
  {
    name: 'an unknown reclaim policy',
    object: storageClass({ reclaimPolicy: 'X' }),
    errors: ['reclaimPolicy: Unsupported value: "X": supported values: "Delete", "Retain"'],
  },
  { name: 'no provisioner', object: storageClass({ provisioner: '' }), errors: ['provisioner: Required value'] },
  { name: 'topologies', object: storageClass({ allowedTopologies: [zone('a'), zone('b')] }), errors: [] },
  {
    name: 'a topology without values',
    object: storageClass({ allowedTopologies: [zone()] }),
    errors: ['allowedTopologies[0].matchLabelExpressions[0].values: Required value'],
  },
  {
    name: 'an empty topology term',
    object: storageClass({ allowedTopologies: [{}] }),
    errors: ['allowedTopologies[0].matchLabelExpressions: Duplicate value: ""'],
  },
  {
    name: 'a repeated topology term',
    object: storageClass({ allowedTopologies: [zone('a', 'b'), zone('b', 'a')] }),
    errors: ['allowedTopologies[1].matchLabelExpressions: Duplicate value: ""'],
  },
])('$name', ({ object, errors }) => {
  expect(validateStorageClass(object).map(String)).toEqual(errors);
});

it('rejects a change of the parameters', () => {
  expect(validateStorageClassUpdate(storageClass({ parameters: { a: 'b' } }), storageClass()).map(String)).toEqual([
    'parameters: Invalid value: {"a":"b"}: field is immutable',
  ]);
});
