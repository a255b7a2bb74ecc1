import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { SignJWT } from 'jose';
import { afterAll, expect, it } from 'vitest';
import { Authority } from '#cmd/certificates/issue';
import { Oidc, type OidcOptions } from './oidc.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const seconds = now / 1_000;
const authority = await Authority.create('provider');
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'k', use: 'sig' };

/** An OpenID provider: discovery document, keys, and a distributed claim. */
const provider = createServer(
  await authority.issue({ commonName: 'localhost', names: ['127.0.0.1'], usages: ['server'] }),
  (request, response) => {
    const answers: Record<string, () => object | Promise<string>> = {
      '/.well-known/openid-configuration': () => ({ issuer, jwks_uri: `${issuer}/keys` }),
      '/keys': () => ({ keys: [jwk] }),
      '/groups': () => sign({ groups: ['far'] }),
    };
    void Promise.resolve(answers[request.url ?? '']?.()).then((answer) =>
      response.end(typeof answer === 'string' ? answer : JSON.stringify(answer)),
    );
  },
);
provider.listen(0, '127.0.0.1');
await once(provider, 'listening');
const issuer = `https://127.0.0.1:${(provider.address() as AddressInfo).port}`;
afterAll(() => {
  provider.closeAllConnections();
  provider.close();
});

function sign(claims: object = {}, key = privateKey): Promise<string> {
  return new SignJWT({ iss: issuer, aud: 'client', sub: 'jane', exp: seconds + 1, ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: 'k' })
    .sign(key);
}

const options: OidcOptions = {
  issuer,
  discoveryUrl: undefined,
  certificateAuthority: authority.pair.cert,
  audiences: ['client', 'other'],
  signingAlgorithms: ['ES256'],
  username: { claim: 'sub', prefix: 'oidc:' },
  groups: { claim: 'groups', prefix: 'g:' },
  uid: undefined,
  extra: [],
  requiredClaims: new Map(),
  claimRules: [],
  userRules: [],
  apiAudiences: [],
  now: () => now,
};
const rule = <T>(expression: (value: T) => unknown, message?: string) => ({ expression, text: 'expr', message });

interface Row {
  readonly name: string;
  readonly claims?: object;
  readonly options?: Partial<OidcOptions>;
  readonly want?: object | undefined;
  readonly fails?: string;
}

it.each<Row>([
  { name: 'the user of a claim', want: { name: 'oidc:jane', groups: [] } },
  { name: 'groups of a list', claims: { groups: ['a', ''] }, want: { name: 'oidc:jane', groups: ['g:a'] } },
  { name: 'a group of a text', claims: { groups: 'a' }, want: { name: 'oidc:jane', groups: ['g:a'] } },
  { name: 'groups of another type', claims: { groups: [1] }, fails: 'must be a string or a list of strings' },
  {
    name: 'groups of a distributed claim',
    claims: { _claim_names: { groups: 's' }, _claim_sources: { s: { endpoint: `${issuer}/groups` } } },
    want: { name: 'oidc:jane', groups: ['g:far'] },
  },
  { name: 'a token of another issuer is not judged', claims: { iss: 'https://other' }, want: undefined },
  { name: 'another audience', claims: { aud: ['x'] }, fails: 'oidc: expected audience in ["client","other"] got ["x"]' },
  { name: 'an expired token', claims: { exp: seconds - 1 }, fails: 'oidc: token is expired' },
  { name: 'a token without an expiry', claims: { exp: undefined }, fails: 'oidc: token is expired' },
  { name: 'a token that is valid in a minute', claims: { nbf: seconds + 60 }, want: { name: 'oidc:jane', groups: [] } },
  { name: 'a token that is valid later', claims: { nbf: seconds + 61 }, fails: 'current time is before the nbf (not before) time' },
  { name: 'another algorithm', options: { signingAlgorithms: ['RS256'] }, fails: 'failed to verify id token signature' },
  { name: 'an empty user name', claims: { sub: '' }, fails: 'username is empty' },
  {
    name: 'an unverified email address',
    claims: { email: 'a@b', email_verified: false },
    options: { username: { claim: 'email' } },
    fails: 'email not verified',
  },
  {
    name: 'a verified email address',
    claims: { email: 'a@b', email_verified: true },
    options: { username: { claim: 'email' } },
    want: { name: 'a@b', groups: [] },
  },
  {
    name: 'a missing required claim',
    options: { requiredClaims: new Map([['hd', 'x']]) },
    fails: 'required claim hd not present in ID token',
  },
  {
    name: 'another value of a required claim',
    claims: { hd: 'y' },
    options: { requiredClaims: new Map([['hd', 'x']]) },
    fails: 'required claim hd value does not match. Got = "y", want = x',
  },
  {
    name: 'a claim rule that fails',
    options: { claimRules: [rule(() => false, 'no')] },
    fails: "claim validation expression: validation expression 'expr' failed: no",
  },
  {
    name: 'a user rule that fails',
    options: { userRules: [rule(({ name }: { name: string }) => name !== 'oidc:jane')] },
    fails: "user info validation rule: validation expression 'expr' failed",
  },
  {
    name: 'uid, extra values and audiences',
    claims: { id: 'u', teams: ['a', 'b'], none: '' },
    options: {
      uid: { claim: 'id' },
      extra: [
        { key: 'x/teams', value: ({ teams }) => teams },
        { key: 'x/none', value: ({ none }) => none },
      ],
      apiAudiences: ['api'],
    },
    want: { name: 'oidc:jane', groups: [], uid: 'u', extra: { 'x/teams': ['a', 'b'] }, audiences: ['api'] },
  },
])('$name', async ({ claims, options: changed, want, fails }) => {
  const token = await sign(claims);
  const authenticate = async (): Promise<unknown> => new Oidc({ ...options, ...changed }).authenticateToken(token, {});
  if (fails !== undefined) await expect(authenticate()).rejects.toThrow(fails);
  else expect(await authenticate()).toEqual(want);
});

it('has no opinion of a token for other audiences of the API', async () => {
  const oidc = new Oidc({ ...options, apiAudiences: ['api'] });
  expect(await oidc.authenticateToken(await sign(), { audiences: ['elsewhere'] })).toBeUndefined();
});

it('rejects a signature of another key', async () => {
  const token = await sign({}, generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);
  await expect(new Oidc(options).authenticateToken(token, {})).rejects.toThrow('failed to verify id token signature');
});

it('fails while the provider cannot be trusted', async () => {
  const { cert } = (await Authority.create('another')).pair;
  await expect(new Oidc({ ...options, certificateAuthority: cert }).authenticateToken(await sign(), {})).rejects.toThrow(
    'oidc: authenticator not initialized',
  );
});

it('reports each token that it judged, and the key set', async () => {
  const events: unknown[] = [];
  const oidc = new Oidc({
    ...options,
    onToken: (result) => events.push(result),
    onKeySet: (text) => events.push(text),
  });
  await oidc.authenticateToken(await sign(), {});
  await expect(oidc.authenticateToken(await sign({ aud: 'x' }), {})).rejects.toThrow();
  await oidc.authenticateToken(await sign({ iss: 'https://other' }), {});
  expect(events).toEqual([JSON.stringify({ keys: [jwk] }), 'success', 'failure']);
});
