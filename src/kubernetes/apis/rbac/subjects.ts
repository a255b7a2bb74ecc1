import { describe } from '#kubernetes/apis/columns';
import type { Subject } from '#kubernetes/schema/rbac_v1.gen';

/** The names of the subjects of a kind, service accounts with their namespace: `system:nodes, devs`. */
export function subjectsText(subjects: readonly Subject[] | undefined, kind: 'User' | 'Group' | 'ServiceAccount'): string {
  return (subjects ?? [])
    .filter((subject) => subject.kind === kind)
    .map(({ name = '', namespace = '' }) => (kind === 'ServiceAccount' ? `${namespace}/${name}` : name))
    .join(', ');
}

/** The description of `roleRef`. Upstream takes that of v1beta1, which does not say yet that the field is immutable. */
export function describeRoleRef(type: 'ClusterRoleBinding' | 'RoleBinding'): () => string {
  const text = describe(`rbac_v1.${type}`, 'roleRef');
  return () => text().replace(' This field is immutable.', '');
}
