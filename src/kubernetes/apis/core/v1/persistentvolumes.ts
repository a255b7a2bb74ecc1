import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { describe, stringColumn, wide } from '#kubernetes/apis/columns';
import {
  persistentVolumeWarnings,
  validatePersistentVolume,
  validatePersistentVolumeUpdate,
} from '#kubernetes/apis/core/validation/persistent-volume';
import { accessModesText, betaStorageClass } from '#kubernetes/apis/core/volumes';
import { statusSubresource, withoutStatus } from '#kubernetes/apis/strategy';
import type { PersistentVolume } from '#kubernetes/schema/core_v1.gen';
import { defaultPersistentVolume } from './defaults.ts';

export default defineResource<PersistentVolume>({
  group: '',
  version: 'v1',
  kind: 'PersistentVolume',
  resource: 'persistentvolumes',
  namespaced: false,
  shortNames: ['pv'],
  storageVersionHash: 'HN/zwEC+JgM=',
  schema: 'core_v1.PersistentVolume',
  storagePath: 'persistentvolumes',
  defaults: defaultPersistentVolume,
  strategy: withoutStatus({
    returnsDeletedObject: true,
    genericMeta: 'update',
    prepareForCreate(volume, { now }) {
      volume.status = { phase: 'Pending', lastPhaseTransitionTime: now };
    },
    validate: validatePersistentVolume,
    validateUpdate: validatePersistentVolumeUpdate,
    warningsOnCreate: persistentVolumeWarnings,
    warningsOnUpdate: persistentVolumeWarnings,
  }),
  columns: [
    nameColumn,
    stringColumn('Capacity', describe('core_v1.PersistentVolumeSpec', 'capacity'), ({ spec }) => spec?.capacity?.storage ?? '0'),
    stringColumn('Access Modes', describe('core_v1.PersistentVolumeSpec', 'accessModes'), ({ spec }) => accessModesText(spec?.accessModes)),
    stringColumn(
      'Reclaim Policy',
      describe('core_v1.PersistentVolumeSpec', 'persistentVolumeReclaimPolicy'),
      ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? '',
    ),
    stringColumn('Status', describe('core_v1.PersistentVolumeStatus', 'phase'), ({ metadata, status }) =>
      metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? ''),
    ),
    stringColumn('Claim', describe('core_v1.PersistentVolumeSpec', 'claimRef'), ({ spec }) =>
      spec?.claimRef ? `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}` : '',
    ),
    stringColumn(
      'StorageClass',
      'StorageClass of the pv',
      ({ metadata, spec }) => metadata.annotations?.[betaStorageClass] ?? spec?.storageClassName ?? '',
    ),
    stringColumn('VolumeAttributesClass', 'VolumeAttributesClass of the pv', ({ spec }) => spec?.volumeAttributesClassName ?? '<unset>'),
    stringColumn('Reason', describe('core_v1.PersistentVolumeStatus', 'reason'), ({ status }) => status?.reason ?? ''),
    ageColumn,
    stringColumn('VolumeMode', describe('core_v1.PersistentVolumeSpec', 'volumeMode'), ({ spec }) => spec?.volumeMode ?? '<unset>', wide),
  ],
  subresources: {
    status: statusSubresource({
      strategy: {
        genericMeta: 'create',
        prepareForUpdate({ status }, old, { now }) {
          const before = old.status?.lastPhaseTransitionTime;
          const given = status?.lastPhaseTransitionTime;
          if (!status) return;
          if (status.phase !== old.status?.phase) {
            if (given === undefined || given === before) status.lastPhaseTransitionTime = now;
          } else if (given === undefined && before !== undefined) status.lastPhaseTransitionTime = before;
        },
      },
    }),
  },
});
