import type { ApiGroup } from '#apiserver/registry/api-group';
import customresourcedefinitions from './v1/customresourcedefinitions.ts';

/** The API group apiextensions.k8s.io. */
export const apiExtensionsGroup: ApiGroup = {
  group: 'apiextensions.k8s.io',
  versions: [{ version: 'v1', versionPriority: 15 }],
  groupPriorityMinimum: 16700,
  resources: [customresourcedefinitions],
};
