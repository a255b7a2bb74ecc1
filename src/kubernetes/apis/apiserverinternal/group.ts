import type { ApiGroup } from '#apiserver/registry/api-group';
import storageversions from './v1alpha1/storageversions.ts';

/** The API group internal.apiserver.k8s.io. */
export const apiServerInternalGroup: ApiGroup = {
  group: 'internal.apiserver.k8s.io',
  versions: [{ version: 'v1alpha1', versionPriority: 9 }],
  groupPriorityMinimum: 16000,
  resources: [storageversions],
};
