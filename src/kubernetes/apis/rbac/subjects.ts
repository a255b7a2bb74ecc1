import { describe } from '#kubernetes/apis/columns';
import type { Subject } from '#kubernetes/schema/rbac_v1.gen';

/** Formats the names of the subjects of a kind, service accounts with their namespace: `system:nodes, devs`. */
export function subjectsText(subjects: readonly Subject[] | undefined, kind: 'User' | 'Group' | 'ServiceAccount'): string {
  return (subjects ?? [])
    .filter((subject) => subject.kind === kind)
    .map(({ name = '', namespace = '' }) => (kind === 'ServiceAccount' ? `${namespace}/${name}` : name))
    .join(', ');
}

/** Returns the description of `roleRef`. As upstream, it is that of v1beta1, which does not mention that the field is immutable. */
export function describeRoleRef(type: 'ClusterRoleBinding' | 'RoleBinding'): () => string {
  const text = describe(`rbac_v1.${type}`, 'roleRef');
  return () => text().replace(' This field is immutable.', '');
}
