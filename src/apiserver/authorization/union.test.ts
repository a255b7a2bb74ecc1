import { describe, expect, it } from 'vitest';
import type { AuthorizationAttributes, AuthorizationResult, Authorizer, UserRules } from './authorizer.ts';
import { UnionAuthorizer } from './union.ts';

const user = { name: 'alice', groups: [] };
const attributes: AuthorizationAttributes = {
  user,
  verb: 'get',
  isResourceRequest: false,
  apiGroup: '',
  apiVersion: '',
  resource: '',
  subresource: '',
  namespace: '',
  name: '',
  path: '/',
};
const saying = (decision: AuthorizationResult['decision'], reason = ''): Authorizer => ({
  name: decision,
  authorize: () => ({ decision, reason }),
});
const later = (decision: AuthorizationResult['decision'], reason = ''): Authorizer => ({
  name: decision,
  authorize: async () => ({ decision, reason }),
});
const failing: Authorizer = {
  name: 'failing',
  authorize: () => {
    throw new Error('broken');
  },
};
const failingLater: Authorizer = {
  name: 'failing',
  authorize: async () => {
    throw new Error('broken later');
  },
};

describe('authorize', () => {
  it.each([
    {
      name: 'the first opinion decides',
      authorizers: [saying('NoOpinion'), saying('Allow', 'a'), saying('Deny')],
      result: { decision: 'Allow', reason: 'a' },
    },
    { name: 'a denial is final', authorizers: [saying('Deny', 'd'), saying('Allow')], result: { decision: 'Deny', reason: 'd' } },
    {
      name: 'no authorizer has an opinion',
      authorizers: [saying('NoOpinion', 'one'), later('NoOpinion', 'two')],
      result: { decision: 'NoOpinion', reason: 'one\ntwo' },
    },
    { name: 'an error is no opinion', authorizers: [failing, failingLater, later('Allow')], result: { decision: 'Allow', reason: '' } },
    { name: 'errors are reasons', authorizers: [failing, failingLater], result: { decision: 'NoOpinion', reason: 'broken\nbroken later' } },
    { name: 'there are no authorizers', authorizers: [], result: { decision: 'NoOpinion', reason: '' } },
  ])('$name', async ({ authorizers, result }) => {
    expect(await new UnionAuthorizer(authorizers).authorize(attributes)).toEqual(result);
  });

  it('is synchronous if all authorizers are', () => {
    expect(new UnionAuthorizer([saying('NoOpinion'), saying('Allow')]).authorize(attributes)).toEqual({ decision: 'Allow', reason: '' });
  });
});

describe('rulesFor', () => {
  it('concatenates the rules of the authorizers that have some', async () => {
    const having = (rules: Partial<UserRules>): Authorizer => ({
      ...saying('NoOpinion'),
      rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false, errors: [], ...rules }),
    });
    const union = new UnionAuthorizer([
      saying('Allow'),
      having({ resourceRules: [{ verbs: ['get'] }], errors: ['one'] }),
      having({ resourceRules: [{ verbs: ['list'] }], nonResourceRules: [{ verbs: ['get'] }], incomplete: true }),
    ]);
    expect(await union.rulesFor(user, 'default')).toEqual({
      resourceRules: [{ verbs: ['get'] }, { verbs: ['list'] }],
      nonResourceRules: [{ verbs: ['get'] }],
      incomplete: true,
      errors: ['one'],
    });
  });
});
