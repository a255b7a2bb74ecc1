import type { ApiGroup } from '#apiserver/registry/api-group';
import customresourcedefinitions from './v1/customresourcedefinitions.ts';

/** What apiextensions.k8s.io serves. */
export const apiExtensionsGroup: ApiGroup = {
  group: 'apiextensions.k8s.io',
  versions: [{ version: 'v1', versionPriority: 15 }],
  groupPriorityMinimum: 16700,
  resources: [customresourcedefinitions],
};
