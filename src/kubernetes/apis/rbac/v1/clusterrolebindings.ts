import { isValidPathSegmentName } from '#apimachinery/validation/names';
import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { stringColumn, wide } from '#kubernetes/apis/columns';
import { describeRoleRef, subjectsText } from '#kubernetes/apis/rbac/subjects';
import { validateClusterRoleBinding, validateClusterRoleBindingUpdate } from '#kubernetes/apis/rbac/validation/role-binding';
import type { ClusterRoleBinding } from '#kubernetes/schema/rbac_v1.gen';
import { defaultRoleBinding } from './defaults.ts';

export default defineResource<ClusterRoleBinding>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRoleBinding',
  resource: 'clusterrolebindings',
  namespaced: false,
  storageVersionHash: '48tpQ8gZHFc=',
  schema: 'rbac_v1.ClusterRoleBinding',
  storagePath: 'clusterrolebindings',
  defaults: defaultRoleBinding,
  strategy: {
    allowCreateOnUpdate: true,
    validateName: isValidPathSegmentName,
    validate: validateClusterRoleBinding,
    validateUpdate: validateClusterRoleBindingUpdate,
  },
  columns: [
    nameColumn,
    stringColumn('Role', describeRoleRef('ClusterRoleBinding'), ({ roleRef }) => `${roleRef?.kind ?? ''}/${roleRef?.name ?? ''}`),
    ageColumn,
    stringColumn('Users', 'Users in the clusterRoleBinding', ({ subjects }) => subjectsText(subjects, 'User'), wide),
    stringColumn('Groups', 'Groups in the clusterRoleBinding', ({ subjects }) => subjectsText(subjects, 'Group'), wide),
    stringColumn(
      'ServiceAccounts',
      'ServiceAccounts in the clusterRoleBinding',
      ({ subjects }) => subjectsText(subjects, 'ServiceAccount'),
      wide,
    ),
  ],
});
