import { expect, it } from 'vitest';
import { AlwaysAllow, AlwaysDeny } from './always.ts';

it('AlwaysAllow allows everything, and its rules list everything', () => {
  const authorizer = new AlwaysAllow();
  expect(authorizer.authorize()).toEqual({ decision: 'Allow', reason: '' });
  expect(authorizer.rulesFor()).toMatchObject({
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  });
});

it('AlwaysDeny has no opinion, with a reason, and no rules', () => {
  const authorizer = new AlwaysDeny();
  expect(authorizer.authorize()).toEqual({ decision: 'NoOpinion', reason: 'Everything is forbidden.' });
  expect(authorizer.rulesFor()).toMatchObject({ resourceRules: [], nonResourceRules: [], incomplete: false });
});
