import { isValidPathSegmentName } from '#apimachinery/validation/names';
import { defineResource } from '#apiserver/registry/resource-definition';
import { defaultColumns } from '#apiserver/registry/table-columns';
import { validateRole, validateRoleUpdate } from '#kubernetes/apis/rbac/validation/role';

export default defineResource({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'Role',
  resource: 'roles',
  storageVersionHash: '7FuwZcIIItM=',
  schema: 'rbac_v1.Role',
  storagePath: 'roles',
  strategy: {
    allowCreateOnUpdate: true,
    validateName: isValidPathSegmentName,
    validate: validateRole,
    validateUpdate: validateRoleUpdate,
  },
  columns: defaultColumns,
});
