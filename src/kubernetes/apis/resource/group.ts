import type { ApiGroup } from '#apiserver/registry/api-group';
import deviceclasses from './v1/deviceclasses.ts';
import resourceclaims from './v1/resourceclaims.ts';
import resourceclaimtemplates from './v1/resourceclaimtemplates.ts';
import resourceslices from './v1/resourceslices.ts';

/** What resource.k8s.io serves. */
export const resourceGroup: ApiGroup = {
  group: 'resource.k8s.io',
  versions: [{ version: 'v1', versionPriority: 21 }],
  groupPriorityMinimum: 16200,
  resources: [deviceclasses, resourceclaims, resourceclaimtemplates, resourceslices],
};
