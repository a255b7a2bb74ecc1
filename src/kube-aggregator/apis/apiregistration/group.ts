import type { ApiGroup } from '#apiserver/registry/api-group';
import apiservices from './v1/apiservices.ts';

/** The API group apiregistration.k8s.io. */
export const apiRegistrationGroup: ApiGroup = {
  group: 'apiregistration.k8s.io',
  versions: [{ version: 'v1', versionPriority: 10 }],
  groupPriorityMinimum: 20000,
  resources: [apiservices],
};
