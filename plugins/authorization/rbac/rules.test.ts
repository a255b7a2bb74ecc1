import { expect, it } from 'vitest';
import type { AuthorizationAttributes } from 'kubenest/sdk';
import { attributes } from '../test-attributes.ts';
import { type PolicyRule, ruleAllows } from './rules.ts';

const pods: PolicyRule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };

it.each<{ name: string; rule: PolicyRule; request: Partial<AuthorizationAttributes>; want: boolean }>([
  { name: 'the specified verb, group and resource', rule: pods, request: {}, want: true },
  { name: 'another verb', rule: pods, request: { verb: 'list' }, want: false },
  { name: 'another group', rule: pods, request: { apiGroup: 'apps' }, want: false },
  { name: 'a subresource of the specified resource', rule: pods, request: { subresource: 'log' }, want: false },
  { name: 'the specified subresource', rule: { ...pods, resources: ['pods/log'] }, request: { subresource: 'log' }, want: true },
  {
    name: 'the specified subresource of all resources',
    rule: { ...pods, resources: ['*/log'] },
    request: { subresource: 'log' },
    want: true,
  },
  { name: 'everything', rule: { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, request: { subresource: 'log' }, want: true },
  { name: 'the specified object', rule: { ...pods, resourceNames: ['p'] }, request: {}, want: true },
  { name: 'another object', rule: { ...pods, resourceNames: ['q'] }, request: {}, want: false },
  {
    name: 'a URL with the prefix of a star',
    rule: { verbs: ['get'], nonResourceURLs: ['/healthz/*'] },
    request: { isResourceRequest: false, path: '/healthz/ping' },
    want: true,
  },
  {
    name: 'a URL without the prefix of a star',
    rule: { verbs: ['get'], nonResourceURLs: ['/healthz/*'] },
    request: { isResourceRequest: false, path: '/metrics' },
    want: false,
  },
  { name: 'a resource with a URL rule', rule: { verbs: ['get'], nonResourceURLs: ['*'] }, request: {}, want: false },
])('decides: $name', ({ rule, request: more, want }) => {
  expect(ruleAllows(rule, attributes(more))).toBe(want);
});
