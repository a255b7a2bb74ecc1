import { defineResource, type StrategyContext } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { booleanColumn, describe, stringColumn } from '#kubernetes/apis/columns';
import { equalAs } from '#kubernetes/apis/equal-as';
import { validateCSIDriver, validateCSIDriverUpdate } from '#kubernetes/apis/storage/validation/csi-driver';
import { bumpGeneration } from '#kubernetes/apis/strategy';
import type { CSIDriver, CSIDriverSpec } from '#kubernetes/schema/storage_v1.gen';
import { defaultCsiDriver } from './defaults.ts';

/** Warns unless tokens are passed in the secrets field, which is not logged. */
function tokenWarnings({ spec }: CSIDriver): string[] {
  return spec?.tokenRequests?.length && spec.serviceAccountTokenInSecrets === undefined
    ? [
        'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes',
      ]
    : [];
}

/** Defaults the field with the gate VolumeLimitScaling, and drops it without. */
function prepareSchedulingPrevention(
  spec: CSIDriverSpec | undefined,
  old: CSIDriverSpec | undefined,
  isEnabled: StrategyContext['isEnabled'],
): void {
  if (!spec) return;
  if (isEnabled?.('VolumeLimitScaling')) spec.preventPodSchedulingIfMissing ??= false;
  else if (old?.preventPodSchedulingIfMissing === undefined) delete spec.preventPodSchedulingIfMissing;
}

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
    warningsOnCreate: tokenWarnings,
    warningsOnUpdate: (driver, old) => {
      const same = equalAs(
        'storage_v1.CSIDriverSpec',
        { tokenRequests: driver.spec?.tokenRequests },
        { tokenRequests: old.spec?.tokenRequests },
      );
      return same ? [] : tokenWarnings(driver);
    },
    // Gate VolumeLimitScaling.
    prepareForCreate({ spec }, { isEnabled }) {
      prepareSchedulingPrevention(spec, undefined, isEnabled);
    },
    prepareForUpdate(driver, old, { isEnabled }) {
      prepareSchedulingPrevention(driver.spec, old.spec, isEnabled);
      bumpGeneration('storage_v1.CSIDriver', driver, old, 'spec');
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
