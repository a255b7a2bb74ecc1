import type { ApiGroup } from '#apiserver/registry/api-group';
import runtimeclasses from './v1/runtimeclasses.ts';

/** The API group node.k8s.io. */
export const nodeGroup: ApiGroup = {
  group: 'node.k8s.io',
  versions: [{ version: 'v1', versionPriority: 15 }],
  groupPriorityMinimum: 16300,
  resources: [runtimeclasses],
};
