import { expect, it } from 'vitest';
import type { AuthorizationAttributes } from '#apiserver/authorization/authorizer';
import { ImpersonationModes } from './impersonation-modes.ts';

const alice = { name: 'alice', groups: [] };
const request: AuthorizationAttributes = {
  user: alice,
  verb: 'list',
  isResourceRequest: true,
  apiGroup: '',
  apiVersion: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'a',
  name: '',
  path: '',
};

/** Lets alice impersonate bob with the allowed verbs. Returns the verb that permitted it, or the rejection. */
async function impersonate(isConstrained: boolean, ...allowed: string[]): Promise<string> {
  const authorizer = {
    name: 'test',
    authorize: async ({ verb }: AuthorizationAttributes) => ({
      decision: allowed.includes(verb) ? ('Allow' as const) : ('NoOpinion' as const),
      reason: '',
    }),
  };
  return new ImpersonationModes(authorizer, isConstrained).impersonate({ name: 'bob', groups: [] }, request).then(
    ({ user, constraint }) => `${user.name} ${constraint || 'impersonate'}`,
    ({ message }: Error) => message,
  );
}

const both = ['impersonate:user-info', 'impersonate-on:user-info:list'];

it('constrained verbs permit impersonation only with the feature gate', async () => {
  expect(await impersonate(true, ...both)).toBe('bob impersonate:user-info');
  expect(await impersonate(false, ...both)).toMatch(/users "bob" is forbidden: User "alice" cannot impersonate resource "users"/);
});

it('the legacy verb always permits it', async () => {
  expect([await impersonate(true, 'impersonate'), await impersonate(false, 'impersonate')]).toEqual(['bob impersonate', 'bob impersonate']);
});
