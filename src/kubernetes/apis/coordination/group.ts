import type { ApiGroup } from '#apiserver/registry/api-group';
import leases from './v1/leases.ts';
import leasecandidatesV1beta1 from './v1beta1/leasecandidates.ts';
import leasecandidatesV1alpha2 from './v1alpha2/leasecandidates.ts';

/** The API group coordination.k8s.io. */
export const coordinationGroup: ApiGroup = {
  group: 'coordination.k8s.io',
  versions: [
    { version: 'v1', versionPriority: 15 },
    { version: 'v1beta1', versionPriority: 13 },
    { version: 'v1alpha2', versionPriority: 12 },
  ],
  groupPriorityMinimum: 16500,
  resources: [leases, leasecandidatesV1beta1, leasecandidatesV1alpha2],
};
