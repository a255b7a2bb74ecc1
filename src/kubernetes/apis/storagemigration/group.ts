import type { ApiGroup } from '#apiserver/registry/api-group';
import storageversionmigrations from './v1beta1/storageversionmigrations.ts';

/** The API group storagemigration.k8s.io. */
export const storageMigrationGroup: ApiGroup = {
  group: 'storagemigration.k8s.io',
  versions: [{ version: 'v1beta1', versionPriority: 9 }],
  groupPriorityMinimum: 15800,
  resources: [storageversionmigrations],
};
