import { describe, expect, it } from 'vitest';
import type { Credentials } from 'kubenest/sdk';
import { headless } from '#apiserver/authentication/strategy';
import { BearerToken } from './bearer-token.ts';
import { parseTokenFile, type TokenTable, TokenAuth } from './token-auth.ts';

const authenticator = (users: TokenTable) => headless(new BearerToken(new TokenAuth(users)));

const as = (authorization?: string): Credentials => ({
  headers: authorization === undefined ? {} : { authorization },
  headerValues: () => [],
  path: '/',
  peer: { remoteAddress: '', certificates: [], memo: new Map() },
});

describe('parseTokenFile', () => {
  it('parses users, empty uids and quoted groups', () => {
    const auth = authenticator(parseTokenFile('secret,jane,,"devs,ops"\n\nother,joe,uid-2\n'));
    expect(auth.authenticate(as('Bearer secret'))).toEqual({ name: 'jane', uid: '', groups: ['devs', 'ops'] });
    expect(auth.authenticate(as('bearer other'))).toEqual({ name: 'joe', uid: 'uid-2', groups: [] });
  });

  it('reports the number of an invalid line', () => {
    expect(() => parseTokenFile('a,b,c\nd,e\n')).toThrow(/line 2: .* got 2 columns/);
  });
});

describe('TokenAuth', () => {
  const auth = authenticator(parseTokenFile('secret,jane,uid'));
  it.each([undefined, 'Basic secret', 'Bearer ', 'Bearer  secret', 'Bearer wrong'])('has no opinion of %j', (authorization) => {
    expect(auth.authenticate(as(authorization))).toBeUndefined();
  });
});
