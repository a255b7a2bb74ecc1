import { defineResource } from '#apiserver/registry/resource-definition';
import { describeMeta } from '#apiserver/registry/table-columns';
import { stringColumn } from '#kubernetes/apis/columns';
import {
  validateStorageVersionMigration,
  validateStorageVersionMigrationStatusUpdate,
  validateStorageVersionMigrationUpdate,
} from '#kubernetes/apis/storagemigration/validation';
import { statusSubresource, withoutStatus } from '#kubernetes/apis/strategy';
import type { StorageVersionMigration } from '#kubernetes/schema/storagemigration_v1beta1.gen';

const shownStates = ['Running', 'Failed', 'Succeeded'];

export default defineResource<StorageVersionMigration>({
  group: 'storagemigration.k8s.io',
  version: 'v1beta1',
  kind: 'StorageVersionMigration',
  resource: 'storageversionmigrations',
  namespaced: false,
  featureGate: 'StorageVersionMigrator',
  storageVersionHash: 'pCjmmKOkLy4=',
  schema: 'storagemigration_v1beta1.StorageVersionMigration',
  storagePath: 'storageversionmigrations',
  strategy: withoutStatus({
    allowUnconditionalUpdate: false,
    validate: validateStorageVersionMigration,
    validateUpdate: validateStorageVersionMigrationUpdate,
  }),
  columns: [
    stringColumn('Name', describeMeta('name'), ({ metadata }) => metadata.name ?? ''),
    stringColumn('Resource', 'GroupResource to migrate', ({ spec }) => {
      const { group, resource = '' } = spec?.resource ?? {};
      return group ? `${resource}.${group}` : resource;
    }),
    stringColumn('Status', 'Status of the migration', ({ status }) => {
      const states = (status?.conditions ?? []).filter((one) => one.status === 'True' && shownStates.includes(one.type ?? ''));
      return states.at(-1)?.type ?? 'Unknown';
    }),
  ],
  subresources: {
    status: statusSubresource({ metadata: 'keep', strategy: { validateUpdate: validateStorageVersionMigrationStatusUpdate } }),
  },
});
