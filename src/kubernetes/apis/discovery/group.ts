import type { ApiGroup } from '#apiserver/registry/api-group';
import endpointslices from './v1/endpointslices.ts';

/** What discovery.k8s.io serves. */
export const discoveryGroup: ApiGroup = {
  group: 'discovery.k8s.io',
  versions: [{ version: 'v1', versionPriority: 15 }],
  groupPriorityMinimum: 16200,
  resources: [endpointslices],
};
