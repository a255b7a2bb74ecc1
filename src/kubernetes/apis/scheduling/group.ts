import type { ApiGroup } from '#apiserver/registry/api-group';
import priorityclasses from './v1/priorityclasses.ts';
import podgroupsV1alpha2 from './v1alpha2/podgroups.ts';
import workloadsV1alpha2 from './v1alpha2/workloads.ts';

/** The API group scheduling.k8s.io. */
export const schedulingGroup: ApiGroup = {
  group: 'scheduling.k8s.io',
  versions: [
    { version: 'v1', versionPriority: 15 },
    { version: 'v1alpha2', versionPriority: 2 },
  ],
  groupPriorityMinimum: 16600,
  resources: [priorityclasses, podgroupsV1alpha2, workloadsV1alpha2],
};
