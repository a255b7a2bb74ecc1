import type { AuthorizationAttributes } from 'kubenest/sdk';
import { describe, expect, it } from 'vitest';
import { ABAC, parsePolicyFile } from './abac.ts';
import { attributes, pathAttributes } from './test-attributes.ts';

const line = (spec: object): string => JSON.stringify({ apiVersion: 'abac.authorization.kubernetes.io/v1beta1', kind: 'Policy', spec });
const all = { apiGroup: '*', resource: '*', namespace: '*' };

describe('ABAC', () => {
  it.each<{ name: string; policy: string; request: AuthorizationAttributes; allows: boolean }>([
    { name: 'the user of the line', policy: line({ user: 'jane', ...all }), request: attributes(), allows: true },
    { name: 'another user', policy: line({ user: 'joe', ...all }), request: attributes(), allows: false },
    { name: 'every user', policy: line({ user: '*', ...all }), request: attributes(), allows: true },
    {
      name: 'a member of the group',
      policy: line({ group: 'devs', ...all }),
      request: attributes({ user: { name: 'jane', groups: ['devs'] } }),
      allows: true,
    },
    { name: 'no member of the group', policy: line({ group: 'devs', ...all }), request: attributes(), allows: false },
    {
      name: 'a user outside of the group of the same line',
      policy: line({ user: 'jane', group: 'devs', ...all }),
      request: attributes(),
      allows: false,
    },
    { name: 'a line without a subject', policy: line(all), request: attributes(), allows: false },
    { name: 'another namespace', policy: line({ user: 'jane', ...all, namespace: 'other' }), request: attributes(), allows: false },
    { name: 'another resource', policy: line({ user: 'jane', ...all, resource: 'secrets' }), request: attributes(), allows: false },
    { name: 'a read of a read-only line', policy: line({ user: 'jane', ...all, readonly: true }), request: attributes(), allows: true },
    {
      name: 'a write of a read-only line',
      policy: line({ user: 'jane', ...all, readonly: true }),
      request: attributes({ verb: 'update' }),
      allows: false,
    },
    { name: 'a path', policy: line({ user: 'jane', nonResourcePath: '/logs/*' }), request: pathAttributes('/logs/a'), allows: true },
    { name: 'another path', policy: line({ user: 'jane', nonResourcePath: '/logs' }), request: pathAttributes('/logs/a'), allows: false },
    { name: 'a path of a resource line', policy: line({ user: 'jane', ...all }), request: pathAttributes('/logs'), allows: false },
    { name: 'an old line without a subject, unauthenticated', policy: '{"resource":"pods"}', request: attributes(), allows: false },
    {
      name: 'an old line without a subject, authenticated',
      policy: '{"resource":"pods"}',
      request: attributes({ user: { name: 'jane', groups: ['system:authenticated'] }, namespace: 'any' }),
      allows: true,
    },
  ])('$name: $allows', ({ policy, request, allows }) => {
    expect(new ABAC(parsePolicyFile(policy)).authorize(request)).toEqual(
      allows ? { decision: 'Allow', reason: '' } : { decision: 'NoOpinion', reason: 'No policy matched.' },
    );
  });

  it('lists the rules of a user in a namespace', () => {
    const policies = [
      line({ user: 'jane', apiGroup: 'apps', resource: 'deployments', namespace: 'ns', readonly: true }),
      line({ user: 'jane', resource: 'pods', namespace: 'other' }),
      line({ user: 'jane', namespace: '*', nonResourcePath: '/logs' }),
    ];
    expect(new ABAC(parsePolicyFile(policies.join('\n'))).rulesFor({ name: 'jane', groups: [] }, 'ns')).toEqual({
      resourceRules: [{ verbs: ['get', 'list', 'watch'], apiGroups: ['apps'], resources: ['deployments'] }],
      nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['/logs'] }],
      incomplete: false,
      errors: [],
    });
  });
});

it.each([
  ['no JSON', '{', /^line 3: /],
  ['no object', '[]', /^line 3: must be a JSON object$/],
  ['another kind', '{"kind":"Role","apiVersion":"v1"}', /^line 3: must be of kind Policy, apiVersion abac/],
  ['no spec', '{"kind":"Policy","apiVersion":"abac.authorization.kubernetes.io/v1beta1"}', /^line 3: spec is missing$/],
  ['a number as a user', line({ user: 1 }), /^line 3: user must be a string$/],
])('a policy file with %s names the line', (_, text, message) => {
  expect(() => parsePolicyFile(`# comment\n\n${text}\n`)).toThrow(message);
});
