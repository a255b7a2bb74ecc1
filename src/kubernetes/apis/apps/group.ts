import type { ApiGroup } from '#apiserver/registry/api-group';
import controllerrevisions from './v1/controllerrevisions.ts';
import daemonsets from './v1/daemonsets.ts';
import deployments from './v1/deployments.ts';
import replicasets from './v1/replicasets.ts';
import statefulsets from './v1/statefulsets.ts';

/** The API group apps. */
export const appsGroup: ApiGroup = {
  group: 'apps',
  versions: [{ version: 'v1', versionPriority: 15 }],
  groupPriorityMinimum: 17800,
  resources: [controllerrevisions, daemonsets, deployments, replicasets, statefulsets],
};
