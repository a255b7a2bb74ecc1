import { expect, it } from 'vitest';
import type { AuthorizationAttributes } from '#apiserver/authorization/authorizer';
import { type AuditPolicyRule, PolicyEvaluator } from './policy.ts';

const rule = (more: Partial<AuditPolicyRule>): AuditPolicyRule => ({
  level: 'Metadata',
  users: [],
  userGroups: [],
  verbs: [],
  resources: [],
  namespaces: [],
  nonResourceURLs: [],
  omitStages: [],
  omitManagedFields: undefined,
  ...more,
});
const pod: AuthorizationAttributes = {
  user: { name: 'jane', groups: ['devs'] },
  verb: 'get',
  isResourceRequest: true,
  apiGroup: '',
  apiVersion: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'ns',
  name: 'p',
  path: '/api/v1/namespaces/ns/pods/p',
};
const healthz = { ...pod, isResourceRequest: false, resource: '', namespace: '', name: '', path: '/healthz/ping' };
const of = (...resources: string[]) => ({ resources: [{ group: '', resources, resourceNames: [] }] });

it.each<{ name: string; rule: Partial<AuditPolicyRule>; request?: Partial<AuthorizationAttributes>; fits: boolean }>([
  { name: 'a rule without conditions', rule: {}, fits: true },
  { name: 'the user', rule: { users: ['jane'] }, fits: true },
  { name: 'another user', rule: { users: ['joe'] }, fits: false },
  { name: 'a group', rule: { userGroups: ['devs', 'ops'] }, fits: true },
  { name: 'the verb', rule: { verbs: ['get'] }, fits: true },
  { name: 'another verb', rule: { verbs: ['list'] }, fits: false },
  { name: 'the resource', rule: of('pods'), fits: true },
  { name: 'a subresource is not its resource', rule: of('pods'), request: { subresource: 'log' }, fits: false },
  { name: 'the subresource', rule: of('pods/log'), request: { subresource: 'log' }, fits: true },
  { name: 'one subresource of all resources', rule: of('*/log'), request: { subresource: 'log' }, fits: true },
  { name: 'all subresources of a resource', rule: of('pods/*'), request: { subresource: 'log' }, fits: true },
  { name: 'all resources of another group', rule: { resources: [{ group: 'apps', resources: [], resourceNames: [] }] }, fits: false },
  { name: 'another object', rule: { resources: [{ group: '', resources: ['pods'], resourceNames: ['q'] }] }, fits: false },
  { name: 'another namespace', rule: { namespaces: ['other'] }, fits: false },
  { name: 'a URL', rule: { nonResourceURLs: ['/healthz*'] }, request: healthz, fits: true },
  { name: 'a URL of a resource', rule: { nonResourceURLs: ['*'] }, fits: false },
])('matches rules: $name', ({ rule: conditions, request, fits }) => {
  const policy = new PolicyEvaluator({ rules: [rule(conditions)], omitStages: ['Panic'], omitManagedFields: false });
  expect(policy.evaluate({ ...pod, ...request }).level).toBe(fits ? 'Metadata' : 'None');
});

it('takes the first matching rule and adds the omitted stages of the policy to its own', () => {
  const policy = new PolicyEvaluator({
    rules: [rule({ verbs: ['list'] }), rule({ level: 'Request', omitStages: ['RequestReceived'], omitManagedFields: false }), rule({})],
    omitStages: ['Panic'],
    omitManagedFields: true,
  });
  expect(policy.evaluate(pod)).toEqual({ level: 'Request', omitStages: new Set(['Panic', 'RequestReceived']), omitManagedFields: false });
});
