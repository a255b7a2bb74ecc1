import { parseCertificateBundle } from '#sdk/internal';
import { expect, it } from 'vitest';
import { headless } from '#apiserver/authentication/strategy';
import { Authority } from '#cmd/certificates/issue';
import { ClientAuthorities } from './client-authorities.ts';
import { RequestHeader } from './request-header.ts';
import { credentialsOf, peerOf } from './test-credentials.ts';

const authority = await Authority.create('front proxies');
const [proxy, other] = await Promise.all([
  authority.issue({ commonName: 'proxy', usages: ['client'] }),
  authority.issue({ commonName: 'other', usages: ['client'] }),
]);
const names = {
  username: ['x-remote-user', 'x-user'],
  uid: ['x-remote-uid'],
  group: ['x-remote-group'],
  extraPrefixes: ['x-remote-extra-'],
};
const authenticate = (pem: string, headers: Record<string, string>, allowed = ['proxy']): unknown =>
  headless(new RequestHeader(new ClientAuthorities(authority.pair.cert), allowed, names)).authenticate(
    credentialsOf(headers, { peer: peerOf(pem === '' ? [] : parseCertificateBundle(pem)) }),
  );

it.each<{ name: string; pem?: string; headers: Record<string, string>; allowed?: string[]; want?: object }>([
  { name: 'the headers of a client without a certificate are ignored', pem: '', headers: { 'x-remote-user': 'jane' } },
  { name: 'a user', headers: { 'x-remote-user': 'jane' }, want: { name: 'jane', groups: [] } },
  { name: 'the second name of a header', headers: { 'x-remote-user': '', 'x-user': 'jane' }, want: { name: 'jane', groups: [] } },
  {
    name: 'uid, groups and extra values, whose keys are decoded',
    headers: { 'x-remote-user': 'jane', 'x-remote-uid': 'u', 'x-remote-group': 'devs', 'x-remote-extra-a%2fb': 'c' },
    want: { name: 'jane', uid: 'u', groups: ['devs'], extra: { 'a/b': ['c'] } },
  },
  { name: 'headers without a user pass', headers: { 'x-remote-group': 'system:masters' } },
  {
    name: 'any common name without a list',
    pem: other.cert,
    headers: { 'x-remote-user': 'jane' },
    allowed: [],
    want: { name: 'jane', groups: [] },
  },
])('$name', ({ pem = proxy.cert, headers, allowed, want }) => {
  expect(authenticate(pem, headers, allowed)).toEqual(want);
});

it('rejects a certificate with another common name', () => {
  expect(() => authenticate(other.cert, { 'x-remote-user': 'jane' })).toThrow('x509: subject with cn=other is not in the allowed list');
});

it('rejects a certificate of another authority before the headers are read', async () => {
  const { cert } = await (await Authority.create('foreign')).issue({ commonName: 'proxy', usages: ['client'] });
  expect(() => authenticate(cert, {})).toThrow('signed by unknown authority');
});
