import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import type { AuthorizationAttributes } from '#apiserver/authorization/authorizer';
import type { WriteRequest } from '#apiserver/registry/write';
import { fakeAuthorizer } from '#sdk/testing/fake-services';
import { fakeInformers } from '#sdk/testing/fake-informers';
import { paramAuthorization } from './param-authorization.ts';

const group = 'admissionregistration.k8s.io';
const kinds = { ConfigMap: 'configmaps', Secret: 'secrets' };
type Kind = keyof typeof kinds;

const policyOf = (paramKind?: object, name = 'p'): KubeObject => ({
  apiVersion: `${group}/v1`,
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name },
  spec: { paramKind },
});
const configMap = { apiVersion: 'v1', kind: 'ConfigMap' };
const unknown = { apiVersion: 'x.example.com/v1', kind: 'Nope' };
const stored = [
  policyOf(configMap),
  policyOf(unknown, 'unknown'),
  policyOf({ apiVersion: 'a/b/c', kind: 'X' }, 'unparsable'),
  policyOf(undefined, 'none'),
];
const bindingOf = (policyName: string, paramRef?: object): KubeObject => ({
  ...policyOf(),
  kind: 'ValidatingAdmissionPolicyBinding',
  spec: { policyName, paramRef },
});
const named = { name: 'x', namespace: 'default' };
const user = { name: 'jane', uid: 'u', groups: ['a', 'b'], extra: { scopes: ['s', 't'], a: ['b'] } };
const jane = '&{jane u [a b] map[a:[b] scopes:[s t]]}';

interface Row {
  readonly name: string;
  readonly object: KubeObject;
  readonly old?: KubeObject;
  readonly mutating?: true;
  readonly by?: typeof user;
  /** Expected authorization check, as `verb group/version/resource namespace/name`; undefined if there is none. */
  readonly asked?: string;
  readonly says?: string;
}

const rows: Row[] = [
  { name: 'a policy without parameters', object: policyOf() },
  {
    name: 'a policy',
    object: policyOf(configMap),
    asked: 'get /v1/configmaps */*',
    says: `user ${jane} must have "get" permission on all objects of the referenced paramKind (kind=ConfigMap, apiVersion=v1)`,
  },
  {
    name: 'a policy with an unknown parameter kind',
    object: policyOf(unknown),
    asked: 'get x.example.com/v1/* */*',
    says: `user ${jane} must have "get" permission on all objects of the referenced paramKind (kind=Nope, apiVersion=x.example.com/v1)`,
  },
  { name: 'an update that keeps the parameters', object: policyOf(configMap), old: policyOf(configMap) },
  {
    name: 'an update that changes the parameters',
    object: policyOf({ ...configMap, kind: 'Secret' }),
    old: policyOf(configMap),
    asked: 'get /v1/secrets */*',
    says: `user ${jane} must have "get" permission on all objects of the referenced paramKind (kind=Secret, apiVersion=v1)`,
  },
  { name: 'a policy written by an administrator', object: policyOf(configMap), by: { ...user, groups: ['system:masters'] } },
  { name: 'a binding without parameters', object: bindingOf('p') },
  {
    name: 'a binding',
    object: bindingOf('p', named),
    asked: 'get /v1/configmaps default/x',
    says: `user ${jane} does not have "get" permission on the object referenced by paramRef`,
  },
  {
    name: 'a binding with a selector, of a mutating policy',
    object: bindingOf('p', { selector: {} }),
    mutating: true,
    asked: 'list /v1/configmaps /',
    says: `user list does not have "${jane}" permission on the object referenced by paramRef`,
  },
  {
    name: 'an update that keeps the binding',
    object: bindingOf('p', named),
    old: bindingOf('p', named),
    asked: 'get /v1/configmaps default/x',
    says: `user ${jane} does not have "get" permission on the object referenced by paramRef`,
  },
  {
    name: 'a binding to a missing policy',
    object: bindingOf('q', named),
    asked: 'get */*/* default/x',
    says: `unable to get policy q to determine minimum required permissions and user ${jane} does not have "get" permission for all groups, versions and resources`,
  },
  {
    name: 'a binding with an unknown parameter kind',
    object: bindingOf('unknown', named),
    asked: 'get x.example.com/v1/* default/x',
    says: `unable to resolve paramKind &{x.example.com/v1 Nope} to determine minimum required permissions and user ${jane} does not have "get" permission for all groups, versions and resources`,
  },
  {
    name: 'a binding with a malformed parameter kind',
    object: bindingOf('unparsable', named),
    asked: 'get */*/* default/x',
    says: `unable to parse paramKind &{a/b/c X} to determine minimum required permissions and user ${jane} does not have "get" permission for all groups, versions and resources`,
  },
  {
    name: 'a binding to a policy without parameters',
    object: bindingOf('none', named),
    asked: 'get */*/* default/x',
    says: `user ${jane} does not have "get" permission on the object referenced by paramRef`,
  },
];

describe.each([false, true])('with an authorizer that answers %s', (allows) => {
  it.each(rows)('$name', async ({ object, old, mutating, by = user, asked, says }) => {
    const questions: string[] = [];
    const authorizer = fakeAuthorizer(({ verb, apiGroup, apiVersion, resource, namespace, name }: AuthorizationAttributes) => {
      questions.push(`${verb} ${apiGroup}/${apiVersion}/${resource} ${namespace}/${name}`);
      return allows;
    });
    const sort = mutating ? 'mutating' : 'validating';
    const informers = fakeInformers({ [`${sort}admissionpolicies.${group}`]: stored });
    const mapper = {
      resourcesOf: ({ group: of, version, kind }: { group: string; version: string; kind: string }) =>
        Object.hasOwn(kinds, kind) ? [{ resource: { group: of, version, resource: kinds[kind as Kind] }, namespaced: true }] : [],
    };
    const resource = object.kind.endsWith('Binding') ? `${sort}admissionpolicybindings` : `${sort}admissionpolicies`;
    const hooks = paramAuthorization({ informers, authorizer, mapper }).get(`${group}/${resource}`);
    const errors = await hooks?.review?.(object, old, { user: by } as unknown as WriteRequest, []);
    expect(questions).toEqual(asked === undefined ? [] : [asked]);
    expect(errors?.map(({ detail }) => detail)).toEqual(allows || says === undefined ? [] : [says]);
  });
});
