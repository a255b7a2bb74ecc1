import { describe, expect, it } from 'vitest';
import { matchingRules, matchOfName, type NamedRuleWithOperations, type RuleRequest } from './resource-rules.ts';

const everything: NamedRuleWithOperations = { apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: ['*'] };
const deployments = (version: string, group = 'apps') => ({
  resource: { group, version, resource: 'deployments' },
  kind: { group, version, kind: 'Deployment' },
});
const create: RuleRequest = {
  ...deployments('v1'),
  subresource: '',
  operation: 'CREATE',
  namespace: 'ns',
  forms: { equivalents: [deployments('v1beta1'), deployments('v1beta1', 'extensions')] },
};
const namespaces = { resource: { group: '', version: 'v1', resource: 'namespaces' }, namespace: 'ns' };

describe('matchingRules', () => {
  it.each<{ name: string; rule: Partial<NamedRuleWithOperations>; request?: Partial<RuleRequest>; matches: boolean }>([
    { name: 'everything', rule: {}, matches: true },
    { name: 'another group', rule: { apiGroups: ['batch'] }, matches: false },
    { name: 'another version', rule: { apiVersions: ['v2'] }, matches: false },
    { name: 'another resource', rule: { resources: ['pods'] }, matches: false },
    { name: 'another operation', rule: { operations: ['DELETE'] }, matches: false },
    { name: 'no operations', rule: { operations: [] }, matches: false },
    { name: 'all resources, request for a subresource', rule: { resources: ['*'] }, request: { subresource: 'scale' }, matches: false },
    { name: 'all resources and subresources', rule: { resources: ['*/*'] }, request: { subresource: 'scale' }, matches: true },
    { name: 'all subresources, request for the resource itself', rule: { resources: ['deployments/*'] }, matches: true },
    { name: 'a subresource of all resources', rule: { resources: ['*/scale'] }, request: { subresource: 'scale' }, matches: true },
    { name: 'a subresource, request for the resource itself', rule: { resources: ['deployments/scale'] }, matches: false },
    { name: 'namespaced', rule: { scope: 'Namespaced' }, matches: true },
    { name: 'cluster scope, request in a namespace', rule: { scope: 'Cluster' }, matches: false },
    { name: 'cluster scope, request without a namespace', rule: { scope: 'Cluster' }, request: { namespace: '' }, matches: true },
    { name: 'cluster scope, request for a namespace', rule: { scope: 'Cluster' }, request: namespaces, matches: true },
    { name: 'namespaced scope, request for a namespace', rule: { scope: 'Namespaced' }, request: namespaces, matches: false },
  ])('$name: $matches', ({ rule, request, matches }) => {
    expect(matchingRules([{ ...everything, ...rule }], true, { ...create, ...request })).toHaveLength(matches ? 1 : 0);
  });

  it("returns the match of the request's own resource first, then other versions and groups in the order of the rules", () => {
    const rules = [
      { ...everything, apiGroups: ['extensions'] },
      { ...everything, apiVersions: ['v1beta1'], apiGroups: ['apps'] },
      { ...everything, apiVersions: ['v1'] },
    ];
    const seen = (exact: boolean) => matchingRules(rules, exact, create).map(({ kind }) => `${kind.group}/${kind.version}`);
    expect(seen(true)).toEqual(['apps/v1']);
    expect(seen(false)).toEqual(['apps/v1', 'extensions/v1beta1', 'apps/v1beta1']);
  });
});

it('matchOfName returns the first match for the name or for any name', () => {
  const rules = [{ ...everything, resourceNames: ['a'] }, everything];
  const [named, any] = matchingRules(rules, true, create);
  expect(matchOfName([named!, any!], 'a')).toBe(named);
  expect(matchOfName([named!, any!], 'b')).toBe(any);
  expect(matchOfName([named!], 'b')).toBeUndefined();
});
