import type { ApiGroup } from '#apiserver/registry/api-group';
import podpresets from './v1alpha1/podpresets.ts';

/** The API group settings.k8s.io, which upstream served until 1.20. */
export const settingsGroup: ApiGroup = {
  group: 'settings.k8s.io',
  versions: [{ version: 'v1alpha1', versionPriority: 9 }],
  groupPriorityMinimum: 16900,
  resources: [podpresets],
};
