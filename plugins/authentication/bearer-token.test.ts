import { Buffer } from 'node:buffer';
import type { TokenAuthenticator, UserInfo } from 'kubenest/sdk';
import { describe, expect, it } from 'vitest';
import { headless } from '#apiserver/authentication/strategy';
import { BearerToken, UnknownToken } from './bearer-token.ts';
import { credentialsOf } from './test-credentials.ts';

const jane: UserInfo = { name: 'jane', groups: [] };
const tokens = (answer: TokenAuthenticator['authenticateToken']): TokenAuthenticator => ({ name: 'Fake', authenticateToken: answer });
const known = (token: string): UserInfo | undefined => (token === 'good' ? jane : undefined);
const protocol = (token: string): string => `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`;
const webSocket = (...protocols: string[]): Record<string, string> => ({
  upgrade: 'websocket',
  'sec-websocket-protocol': protocols.join(', '),
});

describe('BearerToken', () => {
  it.each<{ name: string; headers: Record<string, string>; want: UserInfo | undefined }>([
    { name: 'a token', headers: { authorization: 'Bearer good' }, want: jane },
    { name: 'a lower-case scheme and spaces around', headers: { authorization: ' bearer good ' }, want: jane },
    { name: 'text after the token', headers: { authorization: 'Bearer good other' }, want: jane },
    { name: 'an unknown token', headers: { authorization: 'Bearer bad' }, want: undefined },
    { name: 'another scheme', headers: { authorization: 'Basic good' }, want: undefined },
    { name: 'a token of a WebSocket', headers: webSocket('v4.channel.k8s.io', protocol('good')), want: jane },
    { name: 'a token without another subprotocol', headers: webSocket(protocol('good')), want: undefined },
    { name: 'two tokens of a WebSocket', headers: webSocket('a', protocol('good'), protocol('good')), want: undefined },
    { name: 'a subprotocol without an upgrade', headers: { 'sec-websocket-protocol': `a, ${protocol('good')}` }, want: undefined },
  ])('$name', async ({ headers, want }) => {
    for (const answer of [known, async (token: string) => known(token)])
      expect(await headless(new BearerToken(tokens(answer))).authenticate(credentialsOf(headers))).toEqual(want);
  });

  it('warns about a space before the token', () => {
    const warnings: string[] = [];
    const credentials = credentialsOf({ authorization: 'Bearer  good' }, { warn: (text) => void warnings.push(text) });
    expect(headless(new BearerToken(tokens(known))).authenticate(credentials)).toBeUndefined();
    expect(warnings).toEqual(['the provided Authorization header contains extra space before the bearer token, and is ignored']);
  });

  it('fails with the reason of the token authenticator, after that of an invalid token', async () => {
    const expired = (): never => {
      throw new Error('expired');
    };
    for (const answer of [expired, async () => expired()]) {
      const authenticate = async (): Promise<unknown> =>
        headless(new BearerToken(tokens(answer))).authenticate(credentialsOf({ authorization: 'Bearer x' }));
      await expect(authenticate()).rejects.toThrow('[invalid bearer token, expired]');
    }
  });
});

describe('UnknownToken', () => {
  it.each<{ name: string; headers: Record<string, string>; fails?: string }>([
    { name: 'a request without a token passes', headers: {} },
    { name: 'another scheme passes', headers: { authorization: 'Basic x' } },
    { name: 'a token fails', headers: { authorization: 'Bearer x' }, fails: 'invalid bearer token' },
    { name: 'a token of a WebSocket fails', headers: webSocket('a', protocol('x')), fails: 'invalid bearer token' },
    { name: 'a token without another subprotocol fails', headers: webSocket(protocol('x')), fails: 'missing additional subprotocol' },
    {
      name: 'two tokens of a WebSocket fail',
      headers: webSocket('a', protocol('x'), protocol('y')),
      fails: 'multiple base64.bearer.authorization tokens specified',
    },
  ])('$name', ({ headers, fails }) => {
    const authenticate = (): unknown => headless(new UnknownToken()).authenticate(credentialsOf(headers));
    if (fails === undefined) expect(authenticate()).toBeUndefined();
    else expect(authenticate).toThrow(fails);
  });
});
