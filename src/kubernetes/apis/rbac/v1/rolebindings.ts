import { isValidPathSegmentName } from '#apimachinery/validation/names';
import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { stringColumn, wide } from '#kubernetes/apis/columns';
import { describeRoleRef, subjectsText } from '#kubernetes/apis/rbac/subjects';
import { validateRoleBinding, validateRoleBindingUpdate } from '#kubernetes/apis/rbac/validation/role-binding';
import type { RoleBinding } from '#kubernetes/schema/rbac_v1.gen';
import { defaultRoleBinding } from './defaults.ts';

export default defineResource<RoleBinding>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'RoleBinding',
  resource: 'rolebindings',
  storageVersionHash: 'eGsCzGH6b1g=',
  schema: 'rbac_v1.RoleBinding',
  storagePath: 'rolebindings',
  defaults: defaultRoleBinding,
  strategy: {
    allowCreateOnUpdate: true,
    validateName: isValidPathSegmentName,
    validate: validateRoleBinding,
    validateUpdate: validateRoleBindingUpdate,
  },
  columns: [
    nameColumn,
    stringColumn('Role', describeRoleRef('RoleBinding'), ({ roleRef }) => `${roleRef?.kind ?? ''}/${roleRef?.name ?? ''}`),
    ageColumn,
    stringColumn('Users', 'Users in the roleBinding', ({ subjects }) => subjectsText(subjects, 'User'), wide),
    stringColumn('Groups', 'Groups in the roleBinding', ({ subjects }) => subjectsText(subjects, 'Group'), wide),
    stringColumn('ServiceAccounts', 'ServiceAccounts in the roleBinding', ({ subjects }) => subjectsText(subjects, 'ServiceAccount'), wide),
  ],
});
