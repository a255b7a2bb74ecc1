import { defineResource, type StrategyContext } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { describe, stringColumn, wide } from '#kubernetes/apis/columns';
import {
  persistentVolumeClaimWarnings,
  validatePersistentVolumeClaim,
  validatePersistentVolumeClaimStatusUpdate,
  validatePersistentVolumeClaimUpdate,
} from '#kubernetes/apis/core/validation/persistent-volume-claim';
import { accessModesText, betaStorageClass } from '#kubernetes/apis/core/volumes';
import { statusSubresource, withoutStatus } from '#kubernetes/apis/strategy';
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '#kubernetes/schema/core_v1.gen';
import { defaultPersistentVolumeClaim } from './defaults.ts';

const noSource = {};

/**
 * Drops a data source of another namespace (gate CrossNamespaceVolumeDataSource). Upstream: DropDisabledFields in
 * pkg/api/persistentvolumeclaim/util.go.
 */
function dropDisabledDataSource(
  spec: PersistentVolumeClaimSpec,
  old: PersistentVolumeClaimSpec | undefined,
  { isEnabled }: StrategyContext,
): void {
  if (isEnabled?.('CrossNamespaceVolumeDataSource')) return;
  if (spec.dataSourceRef?.namespace && !old?.dataSourceRef) delete spec.dataSourceRef;
}

/** Drops the `dataSource` of a new claim if it refers to neither a claim nor a snapshot. */
function enforceDataSourceBackwardsCompatibility(spec: PersistentVolumeClaimSpec, old: PersistentVolumeClaimSpec = noSource): void {
  if (old.dataSource || old.dataSourceRef || spec.dataSourceRef || !spec.dataSource) return;
  const { apiGroup = '', kind } = spec.dataSource;
  const known =
    (kind === 'PersistentVolumeClaim' && apiGroup === '') || (kind === 'VolumeSnapshot' && apiGroup === 'snapshot.storage.k8s.io');
  if (!known) delete spec.dataSource;
}

/** Copies `dataSource` to `dataSourceRef` and back, unless the client set both or the source is of another namespace. */
function normalizeDataSources(spec: PersistentVolumeClaimSpec): void {
  if (spec.dataSource && !spec.dataSourceRef) spec.dataSourceRef = { ...spec.dataSource };
  else if (spec.dataSourceRef && !spec.dataSource && !spec.dataSourceRef.namespace) {
    const { namespace: _, ...source } = spec.dataSourceRef;
    spec.dataSource = source;
  }
}

export default defineResource<PersistentVolumeClaim>({
  group: '',
  version: 'v1',
  kind: 'PersistentVolumeClaim',
  resource: 'persistentvolumeclaims',
  shortNames: ['pvc'],
  storageVersionHash: 'QWTyNDq0dC4=',
  schema: 'core_v1.PersistentVolumeClaim',
  storagePath: 'persistentvolumeclaims',
  defaults: defaultPersistentVolumeClaim,
  strategy: withoutStatus({
    returnsDeletedObject: true,
    prepareForCreate(claim, context) {
      claim.status = { phase: 'Pending' };
      const { spec } = claim;
      if (!spec) return;
      dropDisabledDataSource(spec, undefined, context);
      enforceDataSourceBackwardsCompatibility(spec);
      normalizeDataSources(spec);
    },
    prepareForUpdate({ spec }, old, context) {
      if (!spec) return;
      dropDisabledDataSource(spec, old.spec, context);
      enforceDataSourceBackwardsCompatibility(spec, old.spec);
      normalizeDataSources(spec);
    },
    validate: validatePersistentVolumeClaim,
    validateUpdate: validatePersistentVolumeClaimUpdate,
    warningsOnCreate: persistentVolumeClaimWarnings,
    warningsOnUpdate: persistentVolumeClaimWarnings,
  }),
  columns: [
    nameColumn,
    stringColumn('Status', describe('core_v1.PersistentVolumeClaimStatus', 'phase'), ({ metadata, status }) =>
      metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? ''),
    ),
    stringColumn('Volume', describe('core_v1.PersistentVolumeClaimSpec', 'volumeName'), ({ spec }) => spec?.volumeName ?? ''),
    stringColumn('Capacity', describe('core_v1.PersistentVolumeClaimStatus', 'capacity'), ({ spec, status }) =>
      spec?.volumeName ? (status?.capacity?.storage ?? '0') : '',
    ),
    stringColumn('Access Modes', describe('core_v1.PersistentVolumeClaimStatus', 'accessModes'), ({ spec, status }) =>
      spec?.volumeName ? accessModesText(status?.accessModes) : '',
    ),
    stringColumn(
      'StorageClass',
      'StorageClass of the pvc',
      ({ metadata, spec }) => metadata.annotations?.[betaStorageClass] ?? spec?.storageClassName ?? '',
    ),
    stringColumn('VolumeAttributesClass', 'VolumeAttributesClass of the pvc', ({ spec }) => spec?.volumeAttributesClassName ?? '<unset>'),
    ageColumn,
    stringColumn(
      'VolumeMode',
      describe('core_v1.PersistentVolumeClaimSpec', 'volumeMode'),
      ({ spec }) => spec?.volumeMode ?? '<unset>',
      wide,
    ),
  ],
  subresources: {
    status: statusSubresource({ strategy: { validateUpdate: validatePersistentVolumeClaimStatusUpdate } }),
  },
});
