import type { ApiGroup } from '#apiserver/registry/api-group';
import endpointslices from './v1/endpointslices.ts';

/** The API group discovery.k8s.io. */
export const discoveryGroup: ApiGroup = {
  group: 'discovery.k8s.io',
  versions: [{ version: 'v1', versionPriority: 15 }],
  groupPriorityMinimum: 16200,
  resources: [endpointslices],
};
