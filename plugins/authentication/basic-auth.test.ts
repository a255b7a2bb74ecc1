import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { headless } from '#apiserver/authentication/strategy';
import { BasicAuth, parsePasswordFile } from './basic-auth.ts';
import { credentialsOf } from './test-credentials.ts';

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
const authenticator = headless(new BasicAuth(parsePasswordFile('pass:word,jane,uid-1,"devs,ops"\n\n,joe,\n')));
const authenticate = (authorization?: string): unknown =>
  authenticator.authenticate(credentialsOf(authorization === undefined ? {} : { authorization }));

describe('BasicAuth', () => {
  it.each([
    ['a password with a colon', basic('jane:pass:word'), { name: 'jane', uid: 'uid-1', groups: ['devs', 'ops'] }],
    ['an empty password of the file', basic('joe:'), { name: 'joe', uid: '', groups: [] }],
    ['a lower-case scheme', basic('jane:pass:word').replace('Basic', 'basic'), { name: 'jane', uid: 'uid-1', groups: ['devs', 'ops'] }],
    ['no header', undefined, undefined],
    ['another scheme', 'Bearer x', undefined],
    ['a scheme without credentials', 'Basic', undefined],
  ])('accepts or passes %s', (_, authorization, want) => {
    expect(authenticate(authorization)).toEqual(want);
  });

  it.each([
    ['a wrong password', basic('jane:word')],
    ['an unknown user', basic('jim:pass:word')],
    ['a text without a colon', basic('jane')],
  ])('fails for %s', (_, authorization) => {
    expect(() => authenticate(authorization)).toThrow('invalid username/password combination');
  });
});

it('reports the number of an invalid line of a password file', () => {
  expect(() => parsePasswordFile('a,b,c\na,b\n')).toThrow(
    'password file: line 2: expected at least password, user name and uid, got 2 columns',
  );
});
