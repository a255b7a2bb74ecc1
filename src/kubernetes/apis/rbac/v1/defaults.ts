/** Defaults of role bindings. Upstream: pkg/apis/rbac/v1/defaults.go. */
import type { ClusterRoleBinding, RoleBinding } from '#kubernetes/schema/rbac_v1.gen';

const group = 'rbac.authorization.k8s.io';

/** Defaults of role bindings and cluster role bindings. */
export function defaultRoleBinding(binding: RoleBinding | ClusterRoleBinding): void {
  const roleRef = (binding.roleRef ??= {});
  if (!roleRef.apiGroup) roleRef.apiGroup = group;
  for (const subject of binding.subjects ?? []) {
    if (!subject.apiGroup && (subject.kind === 'User' || subject.kind === 'Group')) subject.apiGroup = group;
  }
}
