import type { ApiGroup } from '#apiserver/registry/api-group';
import clusterrolebindings from './v1/clusterrolebindings.ts';
import clusterroles from './v1/clusterroles.ts';
import rolebindings from './v1/rolebindings.ts';
import roles from './v1/roles.ts';

/** The API group rbac.authorization.k8s.io. */
export const rbacGroup: ApiGroup = {
  group: 'rbac.authorization.k8s.io',
  versions: [{ version: 'v1', versionPriority: 15 }],
  groupPriorityMinimum: 17000,
  resources: [clusterrolebindings, clusterroles, rolebindings, roles],
};
