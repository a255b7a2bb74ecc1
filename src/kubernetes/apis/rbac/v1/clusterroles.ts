import { isValidPathSegmentName } from '#apimachinery/validation/names';
import { defineResource } from '#apiserver/registry/resource-definition';
import { defaultColumns } from '#apiserver/registry/table-columns';
import { validateClusterRole, validateClusterRoleUpdate } from '#kubernetes/apis/rbac/validation/role';

export default defineResource({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  resource: 'clusterroles',
  namespaced: false,
  storageVersionHash: 'bYE5ZWDrJ44=',
  schema: 'rbac_v1.ClusterRole',
  storagePath: 'clusterroles',
  strategy: {
    allowCreateOnUpdate: true,
    validateName: isValidPathSegmentName,
    validate: validateClusterRole,
    validateUpdate: validateClusterRoleUpdate,
  },
  columns: defaultColumns,
});
