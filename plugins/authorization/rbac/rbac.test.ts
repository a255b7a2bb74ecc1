import type { AuthorizationAttributes, KubeObject, UserInfo } from 'kubenest/sdk';
import { fakeInformers } from 'kubenest/sdk/testing';
import { expect, it } from 'vitest';
import { attributes, pathAttributes } from '../test-attributes.ts';
import { RBAC } from './rbac.ts';

const pods = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }];
const object = (kind: string, metadata: object, rest: object): KubeObject =>
  ({ apiVersion: 'rbac.authorization.k8s.io/v1', kind, metadata, ...rest }) as KubeObject;
const subject = (kind: string, name: string, rest: object = {}): object => ({ kind, name, ...rest });
const clusterBinding = (role: string, ...subjects: object[]): KubeObject =>
  object('ClusterRoleBinding', { name: 'cb' }, { subjects, roleRef: { kind: 'ClusterRole', name: role } });
const binding = (kind: string, role: string, ...subjects: object[]): KubeObject =>
  object('RoleBinding', { name: 'b', namespace: 'ns' }, { subjects, roleRef: { kind, name: role } });

/** RBAC with the ClusterRoles `reader` and `paths` and the Role `ns/local`. */
const rbac = (clusterBindings: KubeObject[], bindings: KubeObject[] = []): RBAC =>
  new RBAC(
    fakeInformers({
      'clusterroles.rbac.authorization.k8s.io': [
        object('ClusterRole', { name: 'reader' }, { rules: pods }),
        object('ClusterRole', { name: 'paths' }, { rules: [{ verbs: ['get'], nonResourceURLs: ['/logs/*'] }] }),
      ],
      'roles.rbac.authorization.k8s.io': [object('Role', { name: 'local', namespace: 'ns' }, { rules: pods })],
      'clusterrolebindings.rbac.authorization.k8s.io': clusterBindings,
      'rolebindings.rbac.authorization.k8s.io': bindings,
    }),
  );
const jane = subject('User', 'jane');
const robot: UserInfo = { name: 'system:serviceaccount:ns:robot', groups: [] };

it.each<{ name: string; rbac: RBAC; request?: Partial<AuthorizationAttributes>; reason: string | undefined }>([
  {
    name: 'a ClusterRoleBinding of the user',
    rbac: rbac([clusterBinding('reader', jane)]),
    reason: 'RBAC: allowed by ClusterRoleBinding "cb" of ClusterRole "reader" to User "jane"',
  },
  {
    name: 'a ClusterRoleBinding of a group',
    rbac: rbac([clusterBinding('reader', subject('Group', 'devs'))]),
    request: { user: { name: 'joe', groups: ['devs'] } },
    reason: 'RBAC: allowed by ClusterRoleBinding "cb" of ClusterRole "reader" to Group "devs"',
  },
  {
    name: 'a RoleBinding of a Role',
    rbac: rbac([], [binding('Role', 'local', jane)]),
    reason: 'RBAC: allowed by RoleBinding "b/ns" of Role "local" to User "jane"',
  },
  {
    name: 'a RoleBinding of a ClusterRole to a service account of its own namespace',
    rbac: rbac([], [binding('ClusterRole', 'reader', subject('ServiceAccount', 'robot'))]),
    request: { user: robot },
    reason: 'RBAC: allowed by RoleBinding "b/ns" of ClusterRole "reader" to ServiceAccount "robot/"',
  },
  {
    name: 'a RoleBinding in another namespace',
    rbac: rbac([], [binding('Role', 'local', jane)]),
    request: { namespace: 'other' },
    reason: undefined,
  },
  {
    name: 'a RoleBinding and a cluster-scoped request',
    rbac: rbac([], [binding('ClusterRole', 'reader', jane)]),
    request: { namespace: '' },
    reason: undefined,
  },
  { name: 'a user whose name is the name of a group', rbac: rbac([clusterBinding('reader', subject('Group', 'jane'))]), reason: undefined },
  { name: 'another verb', rbac: rbac([clusterBinding('reader', jane)]), request: { verb: 'delete' }, reason: undefined },
])('$name', ({ rbac: authorizer, request, reason }) => {
  expect(authorizer.authorize(attributes(request))).toEqual(
    reason === undefined ? { decision: 'NoOpinion', reason: '' } : { decision: 'Allow', reason },
  );
});

it('allows a path', () => {
  const authorizer = rbac([clusterBinding('paths', jane)]);
  expect(['/logs/a', '/metrics'].map((path) => authorizer.authorize(pathAttributes(path)).decision)).toEqual(['Allow', 'NoOpinion']);
});

it('names missing roles, and goes on to the next binding', () => {
  const missing = clusterBinding('gone', jane);
  expect(rbac([missing]).authorize(attributes())).toEqual({
    decision: 'NoOpinion',
    reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found',
  });
  expect(rbac([missing], [binding('Role', 'gone', jane)]).authorize(attributes()).reason).toBe(
    'RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, role.rbac.authorization.k8s.io "gone" not found]',
  );
  expect(rbac([missing, clusterBinding('reader', jane)]).authorize(attributes()).decision).toBe('Allow');
});

it('lists the rules of a user in a namespace, each binding once', () => {
  const user = { name: 'jane', groups: ['devs'] };
  const rules = rbac(
    [clusterBinding('paths', jane, subject('Group', 'devs')), clusterBinding('gone', jane)],
    [binding('Role', 'local', jane)],
  ).rulesFor(user, 'ns');
  expect(rules).toEqual({
    resourceRules: [{ ...pods[0], resourceNames: undefined }],
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/logs/*'] }],
    incomplete: false,
    errors: ['clusterrole.rbac.authorization.k8s.io "gone" not found'],
  });
});
