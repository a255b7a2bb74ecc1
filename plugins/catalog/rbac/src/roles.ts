import { type AdmissionMatch, type Attributes, deepEqual } from 'kubenest/sdk';
import type { ClusterRole, ClusterRoleBinding, PolicyRule } from 'kubenest/types/rbac_v1';

const group = 'rbac.authorization.k8s.io';

/** Requests that create or change roles. */
export const roles: readonly AdmissionMatch[] = [
  { groups: [group], resources: ['clusterroles', 'roles'], operations: ['CREATE', 'UPDATE'] },
];

/** Requests that create or change bindings. */
export const bindings: readonly AdmissionMatch[] = [
  { groups: [group], resources: ['clusterrolebindings', 'rolebindings'], operations: ['CREATE', 'UPDATE'] },
];

/** A rule of a role, with its path. */
export interface PlacedRule {
  readonly rule: PolicyRule;
  readonly path: string;
}

/** Copies rules of ClusterRoles, which were admitted when they were written, into roles that aggregate them. */
const aggregation = 'system:serviceaccount:kube-system:clusterrole-aggregation-controller';

/** Returns the rules that a request adds to a role or changes; none for the controller that aggregates roles. */
export function changedRules({ object, oldObject, user }: Attributes<ClusterRole>): PlacedRule[] {
  if (user.name === aggregation) return [];
  const before = oldObject?.rules ?? [];
  return (object.rules ?? [])
    .map((rule, index) => ({ rule, path: `rules[${index}]` }))
    .filter(({ rule }) => !before.some((old) => deepEqual(old, rule)));
}

/** A subject, formatted for messages: `Group system:masters`. */
export interface NamedSubject {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
}

/** Returns the subjects that a request adds to a binding. */
export function addedSubjects({ object, oldObject }: Attributes<ClusterRoleBinding>): NamedSubject[] {
  const before = oldObject?.subjects ?? [];
  return (object.subjects ?? [])
    .filter((subject) => !before.some((old) => deepEqual(old, subject)))
    .map(({ kind = '', name = '', namespace = '' }) => ({ kind, name, namespace }));
}

/** Returns the name of a subject as a user or group has it: `system:serviceaccount:shop:web`. */
export function userNameOf({ kind, name, namespace }: NamedSubject): string {
  return kind === 'ServiceAccount' ? `system:serviceaccount:${namespace}:${name}` : name;
}
