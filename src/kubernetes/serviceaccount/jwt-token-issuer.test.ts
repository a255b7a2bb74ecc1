import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { compactVerify, decodeProtectedHeader } from 'jose';
import { describe, expect, it } from 'vitest';
import type { ServiceAccountClaims } from '#apiserver/authentication/token-issuer';
import { keyIdOf } from '#apiserver/authentication/public-keys';
import { JwtTokenIssuer } from './jwt-token-issuer.ts';

const claims: ServiceAccountClaims = {
  sub: 'system:serviceaccount:ns:sa',
  aud: ['x'],
  exp: 2,
  iat: 1,
  nbf: 1,
  jti: 'id',
  'kubernetes.io': { serviceaccount: { name: 'sa', uid: 'u' }, pod: { name: 'p', uid: 'v' }, node: { name: 'n' }, namespace: 'ns' },
};
const options = { issuer: 'https://issuer', apiAudiences: ['x'], maxExpirationSeconds: undefined, extendsExpiration: true };
const pem = (key: ReturnType<typeof generateKeyPairSync>['privateKey'], type: 'pkcs8' | 'pkcs1' | 'sec1') =>
  key.export({ type, format: 'pem' }) as string;

describe('JwtTokenIssuer', () => {
  it.each([
    { name: 'RSA', alg: 'RS256', key: pem(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey, 'pkcs8') },
    { name: 'RSA as PKCS #1', alg: 'RS256', key: pem(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey, 'pkcs1') },
    { name: 'P-256', alg: 'ES256', key: pem(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey, 'sec1') },
    { name: 'P-384', alg: 'ES384', key: pem(generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey, 'pkcs8') },
    { name: 'P-521', alg: 'ES512', key: pem(generateKeyPairSync('ec', { namedCurve: 'P-521' }).privateKey, 'pkcs8') },
  ])('$name', async ({ alg, key }) => {
    const token = await new JwtTokenIssuer({ ...options, signingKey: key }).issue(claims);
    const publicKey = createPublicKey(key);
    expect(decodeProtectedHeader(token)).toEqual({ alg, kid: keyIdOf(publicKey) });
    const { payload } = await compactVerify(token, publicKey);
    // In the order of upstream's claims.
    expect(new TextDecoder().decode(payload)).toBe(
      '{"aud":["x"],"exp":2,"iat":1,"iss":"https://issuer","jti":"id","kubernetes.io":{"namespace":"ns","node":{"name":"n"},"pod":{"name":"p","uid":"v"},' +
        '"serviceaccount":{"name":"sa","uid":"u"}},"nbf":1,"sub":"system:serviceaccount:ns:sa"}',
    );
  });

  it.each([
    { name: 'a key of an unsupported type', key: pem(generateKeyPairSync('ed25519').privateKey, 'pkcs8'), message: 'must be RSA, or EC' },
    {
      name: 'another curve',
      key: pem(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey, 'pkcs8'),
      message: 'must be RSA, or EC',
    },
    { name: 'no key', key: 'x', message: '' },
  ])('rejects $name', ({ key, message }) => {
    expect(() => new JwtTokenIssuer({ ...options, signingKey: key })).toThrow(message);
  });
});
