import { expect, it } from 'vitest';
import type { Authenticator } from '#apiserver/authentication/authenticator';
import { AuthenticationFailedError, UnionAuthenticator } from '#apiserver/authentication/union';
import type { Authorizer, AuthorizationResult } from '#apiserver/authorization/authorizer';
import { UnionAuthorizer } from '#apiserver/authorization/union';
import { guardAuthenticator, guardAuthorizer, type Guarded } from './guard-access.ts';
import { defaultGuard } from './guard-admission.ts';
import { PluginFailures } from './plugin-failures.ts';

const hangs = (): Promise<never> => new Promise(() => {});
const jane = { name: 'jane', groups: [] };
const knows: Authenticator = { name: 'Knows', authenticate: () => jane };
const allows: Authorizer = { name: 'Allows', authorize: () => ({ decision: 'Allow', reason: '' }) };
const attributes = { user: { name: 'jane', groups: ['a'] }, verb: 'get' } as never;

/** Reasons of the recorded failures. */
let recorded: string[];
function guarded<T>(guard: (made: T, contribution: Guarded, failures: PluginFailures) => T, made: object, options: object = {}): T {
  recorded = [];
  const metrics = { counter: () => ({ inc: ({ reason }: { reason: string }) => void recorded.push(reason) }) };
  const contribution = {
    described: { kind: 'AuthorizerPlugin', options: { name: 'Mine', ...options } },
    guard: { ...defaultGuard, timeoutMs: 10 },
    origin: { package: '@acme/mine' },
  } as Guarded;
  return guard(made as T, contribution, new PluginFailures({ error() {} } as never, metrics as never));
}

it('a hanging authenticator does not prevent authentication by others', async () => {
  const hanging = guarded(guardAuthenticator, { authenticate: hangs });
  expect(await new UnionAuthenticator([hanging, knows]).authenticate({} as never)).toEqual(jane);
  await expect(new UnionAuthenticator([hanging]).authenticate({} as never)).rejects.toThrow(AuthenticationFailedError);
  expect(recorded).toEqual(['timeout', 'timeout']);
});

const malformed =
  'authenticator "Mine" of package @acme/mine returned a malformed user: expected { name, groups, uid?, extra?, audiences? }';
it.each<{ name: string; user: unknown; message: string }>([
  { name: 'a text', user: 'jane', message: 'authenticator "Mine" of package @acme/mine returned a user that is not an object' },
  { name: 'true', user: true, message: 'authenticator "Mine" of package @acme/mine returned a user that is not an object' },
  { name: 'no name', user: { groups: [] }, message: malformed },
  { name: 'an empty name', user: { name: '', groups: [] }, message: malformed },
  { name: 'no groups', user: { name: 'jane' }, message: malformed },
  { name: 'a text as groups', user: { name: 'jane', groups: 'system:masters' }, message: malformed },
  { name: 'a number as uid', user: { name: 'jane', groups: [], uid: 1 }, message: malformed },
  { name: 'a text in extra', user: { name: 'jane', groups: [], extra: { a: 'b' } }, message: malformed },
])('$name instead of a user is an authentication failure', async ({ user, message }) => {
  for (const answer of [user, Promise.resolve(user)]) {
    const authenticator = guarded<Authenticator>(guardAuthenticator, { authenticate: () => answer });
    const run = async (): Promise<unknown> => authenticator.authenticate({ headers: {} } as never);
    await expect(run()).rejects.toThrow(message);
    expect(recorded).toEqual(['return']);
    expect(await new UnionAuthenticator([authenticator, knows]).authenticate({ headers: {} } as never)).toBe(jane);
  }
});

it('rejected credentials are no failure of the authenticator', () => {
  const authenticator = guarded<Authenticator>(guardAuthenticator, {
    authenticate() {
      throw new Error('unknown key');
    },
  });
  expect(() => authenticator.authenticate({} as never)).toThrow(/^unknown key$/);
  expect(recorded).toEqual([]);
});

const thrown = (): never => {
  throw new TypeError('undefined is not a function');
};
const shape = "returned no decision: expected { decision: 'Allow' | 'Deny' | 'NoOpinion', reason }";
const subject = 'authorizer "Mine" of package @acme/mine';
it.each<{ name: string; authorize: () => unknown; why: string; counted: string }>([
  { name: 'hangs', authorize: hangs, why: 'gave no answer within 10 ms', counted: 'timeout' },
  { name: 'throws', authorize: thrown, why: 'failed', counted: 'error' },
  { name: 'rejects', authorize: async () => thrown(), why: 'failed', counted: 'error' },
  { name: 'returns nothing', authorize: () => undefined, why: shape, counted: 'return' },
  { name: 'returns true', authorize: () => true, why: shape, counted: 'return' },
  { name: 'resolves to true', authorize: async () => true, why: shape, counted: 'return' },
  { name: 'returns an unknown decision', authorize: () => ({ decision: 'allow', reason: '' }), why: shape, counted: 'return' },
])('an authorizer that $name has no opinion, or denies if it fails closed', async ({ authorize, why, counted }) => {
  const open = guarded<Authorizer>(guardAuthorizer, { authorize });
  expect(await new UnionAuthorizer([open, allows]).authorize(attributes)).toMatchObject({ decision: 'Allow' });
  expect(await new UnionAuthorizer([open]).authorize(attributes)).toEqual({ decision: 'NoOpinion', reason: `${subject} ${why}` });
  expect(recorded).toEqual([counted, counted]);
  const closed = guarded<Authorizer>(guardAuthorizer, { authorize }, { failurePolicy: 'Deny' });
  expect(await new UnionAuthorizer([closed, allows]).authorize(attributes)).toEqual({ decision: 'Deny', reason: `${subject} ${why}` });
});

it('an authorizer cannot change the user', async () => {
  const authorize = ({ user }: { user: { groups: string[] } }): AuthorizationResult => {
    user.groups.push('system:masters');
    return { decision: 'NoOpinion', reason: '' };
  };
  await guarded<Authorizer>(guardAuthorizer, { authorize }).authorize(attributes);
  expect(attributes).toMatchObject({ user: { groups: ['a'] } });
});

const noRules = { resourceRules: [], nonResourceRules: [], incomplete: false, errors: [] };

it.each<{ name: string; rulesFor: () => unknown; why: string }>([
  { name: 'hangs', rulesFor: hangs, why: 'gave no answer within 10 ms' },
  { name: 'throws', rulesFor: thrown, why: 'failed' },
  ...[
    { name: 'returns rules of another form', rules: { ...noRules, resourceRules: [{ verbs: '*' }] } },
    { name: 'returns rules without verbs', rules: { ...noRules, resourceRules: [{}] } },
    { name: 'returns a text as `incomplete`', rules: { ...noRules, incomplete: 'no' } },
  ].map(({ name, rules }) => ({
    name,
    rulesFor: () => rules,
    why: 'returned malformed rules: expected { resourceRules, nonResourceRules, incomplete, errors }',
  })),
])('an authorizer that $name when it lists rules leaves the list incomplete', async ({ rulesFor, why }) => {
  const rules = await new UnionAuthorizer([guarded<Authorizer>(guardAuthorizer, { rulesFor })]).rulesFor(jane, 'default');
  expect(rules).toEqual({ resourceRules: [], nonResourceRules: [], incomplete: true, errors: [`${subject} ${why}`] });
});

it('reads the rules of an authorizer once', async () => {
  let reads = 0;
  const rulesFor = (): unknown => ({
    ...noRules,
    get resourceRules(): unknown {
      reads += 1;
      return reads === 1 ? [{ verbs: ['get'] }] : [{ verbs: [1n] }];
    },
  });
  const guard = guarded<Authorizer>(guardAuthorizer, { rulesFor } as never);
  expect(await guard.rulesFor?.(jane, 'default')).toEqual({ ...noRules, resourceRules: [{ verbs: ['get'] }] });
});

it('copies the user, so that later changes of a plugin have no effect', () => {
  const user = { name: 'jane', groups: ['devs'], extra: { scopes: ['read'] } };
  const answer = guarded<Authenticator>(guardAuthenticator, { authenticate: () => user }).authenticate({} as never);
  user.groups.push('system:masters');
  user.extra.scopes.push('write');
  expect(answer).toEqual({ name: 'jane', groups: ['devs'], extra: { scopes: ['read'] } });
});

it('synchronous answers stay synchronous', () => {
  expect(guarded(guardAuthenticator, knows).authenticate({} as never)).toEqual(jane);
  expect(guarded(guardAuthorizer, allows).authorize(attributes)).toEqual({ decision: 'Allow', reason: '' });
});

it.each([
  { name: 'an authenticated request', authenticate: () => jane, left: { accept: '*/*' } },
  { name: 'an authenticated request, later', authenticate: async () => jane, left: { accept: '*/*' } },
  { name: 'a request of another authenticator', authenticate: () => undefined, left: { accept: '*/*', 'x-api-key': 'k' } },
])('removes credential headers from $name as declared', async ({ authenticate, left }) => {
  const headers = { accept: '*/*', 'x-api-key': 'k' };
  const authenticator = guarded<Authenticator>(guardAuthenticator, { credentialHeaders: ['x-api-key'], authenticate });
  await authenticator.authenticate({ headers } as never);
  expect(headers).toEqual(left);
});
