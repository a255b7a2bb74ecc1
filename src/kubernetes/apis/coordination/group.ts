import type { ApiGroup } from '#apiserver/registry/api-group';
import leases from './v1/leases.ts';

/** What coordination.k8s.io serves. */
export const coordinationGroup: ApiGroup = {
  group: 'coordination.k8s.io',
  versions: [{ version: 'v1', versionPriority: 15 }],
  groupPriorityMinimum: 16500,
  resources: [leases],
};
