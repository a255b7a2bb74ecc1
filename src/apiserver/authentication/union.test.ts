import { describe, expect, it } from 'vitest';
import type { Authenticator, Credentials } from './authenticator.ts';
import type { UserInfo } from '#apiserver/request/user-info';
import { AuthenticationFailedError, UnionAuthenticator, withAuthenticatedGroup } from './union.ts';

const jane: UserInfo = { name: 'jane', groups: [] };
const says = (answer: UserInfo | undefined | Error, later = false): Authenticator => ({
  name: 'fake',
  authenticate() {
    if (answer instanceof Error && !later) throw answer;
    return later ? (answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)) : (answer as UserInfo | undefined);
  },
});
const nothing = {} as Credentials;

describe('UnionAuthenticator', () => {
  it.each([
    { name: 'the first success', asked: [says(undefined), says(jane)], want: jane },
    { name: 'a success after an error', asked: [says(new Error('bad')), says(jane)], want: jane },
    { name: 'a late success', asked: [says(undefined, true), says(jane, true)], want: jane },
    { name: 'nobody', asked: [says(undefined), says(undefined, true)], want: undefined },
  ])('uses $name', async ({ asked, want }) => {
    expect(await new UnionAuthenticator(asked).authenticate(nothing)).toEqual(want);
  });

  it('keeps the errors if no authenticator succeeds', async () => {
    const union = new UnionAuthenticator([says(new Error('bad token'), true), says(undefined)]);
    await expect(async () => union.authenticate(nothing)).rejects.toThrow(AuthenticationFailedError);
    await expect(async () => union.authenticate(nothing)).rejects.toThrow(/bad token/);
  });

  it('fails on the first error with failOnError', async () => {
    const union = new UnionAuthenticator([says(new Error('bad token')), says(jane)], true);
    await expect(async () => union.authenticate(nothing)).rejects.toThrow(/bad token/);
  });
});

it('adds system:authenticated to all users but system:anonymous', () => {
  expect(withAuthenticatedGroup(jane).groups).toEqual(['system:authenticated']);
  expect(withAuthenticatedGroup({ name: 'system:anonymous', groups: ['system:unauthenticated'] }).groups).toEqual([
    'system:unauthenticated',
  ]);
});
