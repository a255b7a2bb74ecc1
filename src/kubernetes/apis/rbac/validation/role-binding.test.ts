import { expect, it } from 'vitest';
import type { RoleRef, Subject } from '#kubernetes/schema/rbac_v1.gen';
import { validateClusterRoleBinding, validateRoleBinding, validateRoleBindingUpdate } from './role-binding.ts';

const group = 'rbac.authorization.k8s.io';
const binding = (subject: Subject, roleRef: RoleRef = { apiGroup: group, kind: 'ClusterRole', name: 'r' }) => ({
  apiVersion: `${group}/v1`,
  kind: 'RoleBinding',
  metadata: { name: 'b', namespace: 'n', resourceVersion: '1' },
  subjects: [subject],
  roleRef,
});
const user = { kind: 'User', apiGroup: group, name: 'u' };
const account = { kind: 'ServiceAccount', name: 'a' };

it.each([
  { name: 'a user', object: binding(user), errors: [] },
  {
    name: 'a user without an API group',
    object: binding({ kind: 'User', name: 'u' }),
    errors: [`subjects[0].apiGroup: Unsupported value: "": supported values: "${group}"`],
  },
  { name: 'nobody', object: binding({ ...user, name: '' }), errors: ['subjects[0].name: Required value'] },
  {
    name: 'a machine',
    object: binding({ ...user, kind: 'X' }),
    errors: ['subjects[0].kind: Unsupported value: "X": supported values: "ServiceAccount", "User", "Group"'],
  },
  {
    name: 'no role',
    object: binding(user, { apiGroup: group }),
    errors: ['roleRef.kind: Unsupported value: "": supported values: "Role", "ClusterRole"', 'roleRef.name: Required value'],
  },
])('$name', ({ object, errors }) => {
  expect(validateRoleBinding(object).map(String)).toEqual(errors);
});

it("names the namespace of a service account that is not in the binding's namespace", () => {
  expect(validateRoleBinding(binding(account))).toEqual([]);
  expect(validateClusterRoleBinding(binding(account)).map(String)).toEqual(['subjects[0].namespace: Required value']);
});

it('rejects a change of the role', () => {
  const errors = validateRoleBindingUpdate(binding(user, { apiGroup: group, kind: 'ClusterRole', name: 'z' }), binding(user));
  expect(errors.map(String)).toEqual([
    `roleRef: Invalid value: {"APIGroup":"${group}","Kind":"ClusterRole","Name":"z"}: cannot change roleRef`,
  ]);
});
