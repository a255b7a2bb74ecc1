import { fieldPath } from '#apimachinery/validation/field';
import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, describeMeta } from '#apiserver/registry/table-columns';
import { describe, stringColumn } from '#kubernetes/apis/columns';
import { nodeLabelDeprecation } from '#kubernetes/apis/core/validation/node-labels';
import { validateStorageClass, validateStorageClassUpdate } from '#kubernetes/apis/storage/validation/storage-class';
import type { StorageClass } from '#kubernetes/schema/storage_v1.gen';
import { defaultStorageClass } from './defaults.ts';

const defaultAnnotations = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];

function topologyWarnings({ allowedTopologies = [] }: StorageClass): string[] {
  const path = fieldPath('allowedTopologies');
  return allowedTopologies.flatMap(({ matchLabelExpressions = [] }, i) =>
    matchLabelExpressions.flatMap(({ key = '' }, j) => {
      const text = nodeLabelDeprecation(key);
      return text === undefined ? [] : [`${path.index(i).child('matchLabelExpressions').index(j).child('key').toString()}: ${text}`];
    }),
  );
}

export default defineResource<StorageClass>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'StorageClass',
  resource: 'storageclasses',
  namespaced: false,
  shortNames: ['sc'],
  storageVersionHash: 'K+m6uJwbjGY=',
  schema: 'storage_v1.StorageClass',
  storagePath: 'storageclasses',
  defaults: defaultStorageClass,
  strategy: {
    returnsDeletedObject: true,
    validate: validateStorageClass,
    validateUpdate: validateStorageClassUpdate,
    warningsOnCreate: topologyWarnings,
    warningsOnUpdate: topologyWarnings,
  },
  columns: [
    stringColumn(
      'Name',
      describeMeta('name'),
      ({ metadata }) => {
        const isDefault = defaultAnnotations.some((annotation) => metadata.annotations?.[annotation] === 'true');
        return `${metadata.name}${isDefault ? ' (default)' : ''}`;
      },
      { format: 'name' },
    ),
    stringColumn('Provisioner', describe('storage_v1.StorageClass', 'provisioner'), (storageClass) => storageClass.provisioner ?? ''),
    stringColumn(
      'ReclaimPolicy',
      describe('storage_v1.StorageClass', 'reclaimPolicy'),
      (storageClass) => storageClass.reclaimPolicy ?? 'Delete',
    ),
    stringColumn(
      'VolumeBindingMode',
      describe('storage_v1.StorageClass', 'volumeBindingMode'),
      (storageClass) => storageClass.volumeBindingMode ?? 'Immediate',
    ),
    stringColumn(
      'AllowVolumeExpansion',
      describe('storage_v1.StorageClass', 'allowVolumeExpansion'),
      (storageClass) => storageClass.allowVolumeExpansion ?? false,
    ),
    ageColumn,
  ],
});
