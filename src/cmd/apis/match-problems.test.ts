import { expect, it } from 'vitest';
import { ResourceConfig } from '#apiserver/server/resource-config';
import { admissionPlugins } from '#cmd/builtin-plugins';
import { admissionPluginOptions } from '#apiserver/admission/admission-plugin';
import { defaultFeatureGates } from '#cmd/options/feature-options';
import { matchProblems, matchTargets } from './match-problems.ts';
import { ServedApis } from './served-apis.ts';

const shop = { name: 'Shop', group: 'shop.example.com', resources: [{ kind: 'Order', resource: 'orders', versions: [], status: true }] };
const targets = matchTargets(new ServedApis(new ResourceConfig(), defaultFeatureGates(), []).scheme, [shop]);

it.each<{ name: string; match: unknown; problems: string[] }>([
  { name: 'nothing', match: undefined, problems: ['has no `match`, so it would never be called'] },
  { name: 'an empty list', match: [], problems: ['has no `match`, so it would never be called'] },
  { name: 'no object', match: ['pods'], problems: ['match[0] is not an object'] },
  {
    name: 'no resources and operations',
    match: [{ groups: [''] }],
    problems: ['match[0].resources must be a list of one or more strings', 'match[0].operations must be a list of one or more strings'],
  },
  {
    name: 'a misspelt resource',
    match: [
      { resources: ['pods'], operations: ['CREATE'] },
      { groups: ['apps'], resources: ['deployment'], operations: ['CREATE'] },
    ],
    problems: ['match[1].resources: unknown resource "deployment" (did you mean "deployments"?)'],
  },
  {
    name: 'a resource of no group',
    match: [{ resources: ['widgets'], operations: ['CREATE'] }],
    problems: ['match[0].resources: unknown resource "widgets"; `groups` must name the group of a custom resource'],
  },
  {
    name: 'a resource of another group',
    match: [{ groups: [''], resources: ['deployments'], operations: ['CREATE'] }],
    problems: [expect.stringMatching(/^match\[0\].resources: unknown resource "deployments"/) as unknown as string],
  },
  {
    name: 'a misspelt group',
    match: [{ groups: ['app'], resources: ['deployments'], operations: ['CREATE'] }],
    problems: ['match[0].groups: unknown group "app" (did you mean "apps"?)'],
  },
  {
    name: 'an unknown subresource',
    match: [{ resources: ['pods'], subresources: ['stats'], operations: ['UPDATE'] }],
    problems: ['match[0].subresources: unknown subresource "stats" (did you mean "status"?)'],
  },
  {
    name: 'an unknown operation',
    match: [{ resources: ['pods'], operations: ['create'] }],
    problems: ['match[0].operations: unknown operation "create" (did you mean "CREATE"?)'],
  },
  {
    name: 'an operation that the resource does not have',
    match: [{ resources: ['pods'], operations: ['CREATE', 'CONNECT'] }],
    problems: ['match[0].operations: no selected resource or subresource has the operation CONNECT'],
  },
  {
    name: 'an operation that the subresource does not have',
    match: [{ resources: ['pods'], subresources: ['exec'], operations: ['UPDATE'] }],
    problems: ['match[0].operations: no selected resource or subresource has the operation UPDATE'],
  },
  {
    name: "a resource that a package's group does not have",
    match: [{ groups: ['shop.example.com'], resources: ['items'], operations: ['CREATE'] }],
    problems: ['match[0].resources: unknown resource "items"'],
  },
  { name: 'a subresource', match: [{ resources: ['pods'], subresources: ['exec', 'attach'], operations: ['CONNECT'] }], problems: [] },
  { name: 'an eviction', match: [{ resources: ['pods'], subresources: ['eviction'], operations: ['CREATE'] }], problems: [] },
  { name: 'a scale', match: [{ groups: ['apps'], resources: ['*'], subresources: ['scale'], operations: ['UPDATE'] }], problems: [] },
  {
    name: 'a status of a package',
    match: [{ groups: ['shop.example.com'], resources: ['orders'], subresources: ['status'], operations: ['UPDATE'] }],
    problems: [],
  },
  { name: 'a custom resource', match: [{ groups: ['example.com'], resources: ['widgets'], operations: ['CREATE'] }], problems: [] },
  {
    name: 'everything',
    match: [{ groups: ['*'], resources: ['*'], subresources: ['*'], operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] }],
    problems: [],
  },
])('matchProblems: $name', ({ match, problems }) => {
  expect(matchProblems(match, targets)).toEqual(problems);
});

it.each([...admissionPlugins])('the built-in plugin %s selects requests', (_, plugin) => {
  expect(matchProblems(admissionPluginOptions(plugin).match, targets)).toEqual([]);
});
