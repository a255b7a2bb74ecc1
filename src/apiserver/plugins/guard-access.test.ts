import { expect, it } from 'vitest';
import type { Authenticator } from '#apiserver/authentication/authenticator';
import { AuthenticationFailedError, UnionAuthenticator } from '#apiserver/authentication/union';
import type { Authorizer } from '#apiserver/authorization/authorizer';
import { UnionAuthorizer } from '#apiserver/authorization/union';
import { guardAuthenticator, guardAuthorizer } from './guard-access.ts';

const hangs = (): Promise<never> => new Promise(() => {});
const jane = { name: 'jane', groups: [] };
const knows: Authenticator = { name: 'Knows', authenticate: () => jane };
const allows: Authorizer = { name: 'Allows', authorize: () => ({ decision: 'Allow', reason: '' }) };
const hangingAuthenticator = guardAuthenticator('Hanging', { name: '', authenticate: hangs }, 10);
const hangingAuthorizer = guardAuthorizer('Hanging', { name: '', authorize: hangs }, 10);

it('a hanging authenticator does not prevent authentication by others', async () => {
  expect(await new UnionAuthenticator([hangingAuthenticator, knows]).authenticate({} as never)).toBe(jane);
  await expect(new UnionAuthenticator([hangingAuthenticator]).authenticate({} as never)).rejects.toThrow(AuthenticationFailedError);
});

it('a hanging authorizer has no opinion', async () => {
  expect(await new UnionAuthorizer([hangingAuthorizer, allows]).authorize({} as never)).toMatchObject({ decision: 'Allow' });
  expect(await new UnionAuthorizer([hangingAuthorizer]).authorize({} as never)).toEqual({
    decision: 'NoOpinion',
    reason: 'no answer within 10 ms',
  });
});

it('synchronous answers stay synchronous', () => {
  expect(guardAuthenticator('Knows', knows, 10).authenticate({} as never)).toBe(jane);
  expect(guardAuthorizer('Allows', allows, 10).authorize({} as never)).toEqual({ decision: 'Allow', reason: '' });
});

it.each([
  { name: 'an authenticated request', authenticate: () => jane, left: { accept: '*/*' } },
  { name: 'an authenticated request, later', authenticate: async () => jane, left: { accept: '*/*' } },
  { name: 'a request of another authenticator', authenticate: () => undefined, left: { accept: '*/*', 'x-api-key': 'k' } },
])('removes credential headers from $name as declared', async ({ authenticate, left }) => {
  const headers = { accept: '*/*', 'x-api-key': 'k' };
  const authenticator = guardAuthenticator('Keys', { name: 'Keys', credentialHeaders: ['x-api-key'], authenticate }, 10);
  await authenticator.authenticate({ headers } as never);
  expect(headers).toEqual(left);
});
