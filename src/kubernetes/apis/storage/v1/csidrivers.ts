import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { booleanColumn, describe, stringColumn } from '#kubernetes/apis/columns';
import { validateCSIDriver, validateCSIDriverUpdate } from '#kubernetes/apis/storage/validation/csi-driver';
import { bumpGeneration } from '#kubernetes/apis/strategy';
import type { CSIDriver } from '#kubernetes/schema/storage_v1.gen';
import { defaultCsiDriver } from './defaults.ts';

export default defineResource<CSIDriver>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSIDriver',
  resource: 'csidrivers',
  namespaced: false,
  storageVersionHash: 'hL6j/rwBV5w=',
  schema: 'storage_v1.CSIDriver',
  storagePath: 'csidrivers',
  defaults: defaultCsiDriver,
  strategy: {
    returnsDeletedObject: true,
    allowUnconditionalUpdate: false,
    validate: validateCSIDriver,
    validateUpdate: validateCSIDriverUpdate,
    prepareForUpdate(driver, old) {
      bumpGeneration(driver, old, 'spec');
    },
  },
  columns: [
    nameColumn,
    booleanColumn('AttachRequired', describe('storage_v1.CSIDriverSpec', 'attachRequired'), ({ spec }) => spec?.attachRequired ?? true),
    booleanColumn('PodInfoOnMount', describe('storage_v1.CSIDriverSpec', 'podInfoOnMount'), ({ spec }) => spec?.podInfoOnMount ?? false),
    booleanColumn('StorageCapacity', describe('storage_v1.CSIDriverSpec', 'storageCapacity'), ({ spec }) => spec?.storageCapacity ?? false),
    stringColumn(
      'TokenRequests',
      describe('storage_v1.CSIDriverSpec', 'tokenRequests'),
      ({ spec }) => spec?.tokenRequests?.map((request) => request.audience ?? '').join(',') ?? '<unset>',
    ),
    booleanColumn(
      'RequiresRepublish',
      describe('storage_v1.CSIDriverSpec', 'requiresRepublish'),
      ({ spec }) => spec?.requiresRepublish ?? false,
    ),
    stringColumn(
      'Modes',
      describe('storage_v1.CSIDriverSpec', 'volumeLifecycleModes'),
      ({ spec }) => spec?.volumeLifecycleModes?.join(',') || '<none>',
    ),
    ageColumn,
  ],
});
