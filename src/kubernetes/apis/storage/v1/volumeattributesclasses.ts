import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { describe, stringColumn } from '#kubernetes/apis/columns';
import {
  validateVolumeAttributesClass,
  validateVolumeAttributesClassUpdate,
} from '#kubernetes/apis/storage/validation/volume-attributes-class';
import type { VolumeAttributesClass } from '#kubernetes/schema/storage_v1.gen';

export default defineResource<VolumeAttributesClass>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'VolumeAttributesClass',
  resource: 'volumeattributesclasses',
  namespaced: false,
  shortNames: ['vac'],
  storageVersionHash: 'tIjydgKBC5w=',
  schema: 'storage_v1.VolumeAttributesClass',
  storagePath: 'volumeattributesclasses',
  strategy: { returnsDeletedObject: true, validate: validateVolumeAttributesClass, validateUpdate: validateVolumeAttributesClassUpdate },
  columns: [
    nameColumn,
    stringColumn(
      'DriverName',
      describe('storage_v1.VolumeAttributesClass', 'driverName'),
      (volumeAttributesClass) => volumeAttributesClass.driverName ?? '',
    ),
    ageColumn,
  ],
});
