import type { ApiGroup } from '#apiserver/registry/api-group';
import priorityclasses from './v1/priorityclasses.ts';

/** What scheduling.k8s.io serves. */
export const schedulingGroup: ApiGroup = {
  group: 'scheduling.k8s.io',
  versions: [{ version: 'v1', versionPriority: 15 }],
  groupPriorityMinimum: 16600,
  resources: [priorityclasses],
};
