import { parseCertificateBundle } from '#sdk/internal';
import { expect, it } from 'vitest';
import { headless } from '#apiserver/authentication/strategy';
import { Authority } from '#cmd/certificates/issue';
import { ClientAuthorities } from './client-authorities.ts';
import { ClientCA } from './client-ca.ts';
import { credentialsOf, peerOf } from './test-credentials.ts';

const [authority, other] = await Promise.all([Authority.create('trusted'), Authority.create('other')]);
const [client, server, foreign] = await Promise.all([
  authority.issue({ commonName: 'jane', organizations: ['devs', 'ops'], usages: ['client'] }),
  authority.issue({ commonName: 'jane', usages: ['server'] }),
  other.issue({ commonName: 'jane', usages: ['client'] }),
]);

const seconds: number[] = [];
const authenticator = headless(
  new ClientCA(new ClientAuthorities(authority.pair.cert), { readsUid: true, onCertificate: (left) => void seconds.push(left) }),
);
const presenting = (pem: string) => credentialsOf({}, { peer: peerOf(parseCertificateBundle(pem)) });

it('passes a client without a certificate', () => {
  expect(authenticator.authenticate(credentialsOf())).toBeUndefined();
});

it('takes the user from the subject, once for each connection', () => {
  const credentials = presenting(client.cert);
  const user = authenticator.authenticate(credentials);
  expect(user).toEqual({
    name: 'jane',
    groups: ['devs', 'ops'],
    extra: { 'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^X509SHA256=[0-9a-f]{64}$/)] },
  });
  expect(authenticator.authenticate(credentials)).toBe(user);
});

it('reports the remaining validity of each certificate', async () => {
  seconds.length = 0;
  await authenticator.authenticate(presenting(client.cert));
  expect(seconds).toEqual([expect.any(Number)]);
  expect(seconds[0]).toBeGreaterThan(0);
});

it.each([
  ['another authority', foreign.cert, 'certificate signed by unknown authority'],
  ['a server', server.cert, 'certificate specifies an incompatible key usage'],
])('rejects a certificate of %s', (_, pem, message) => {
  expect(() => authenticator.authenticate(presenting(pem))).toThrow(message);
});
