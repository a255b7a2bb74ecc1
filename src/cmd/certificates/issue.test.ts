import 'reflect-metadata';
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { expect, test } from 'vitest';
import { DerReader } from '#apimachinery/x509/der-reader';
import { sequence } from '#apimachinery/x509/der-writer';
import { Authority, newSigningKey } from './issue.ts';
import { lastCertificate, matches } from './key-pair-files.ts';

const names = ['localhost', '*.example.test', '10.0.0.1', '::1', '2001:db8::ff'];
const authority = await Authority.create('test-ca');
const pair = await authority.issue({ commonName: 'alice', organizations: ['devs', 'ops'], names, usages: ['server', 'client'] });
const leaf = new X509Certificate(pair.cert);
const ca = new X509Certificate(authority.pair.cert);

test('an authority signs its own certificate and others', () => {
  expect(ca.ca).toBe(true);
  expect(ca.verify(ca.publicKey)).toBe(true);
  expect(ca.subject).toBe('CN=test-ca');
  expect(leaf.ca).toBe(false);
  expect(leaf.verify(ca.publicKey)).toBe(true);
  expect(leaf.checkIssued(ca)).toBe(true);
  expect(matches(pair)).toBe(true);
  expect(lastCertificate(pair.cert)).toBe(authority.pair.cert);
});

test('a certificate contains its subject and usages', () => {
  expect(leaf.subject).toBe('O=devs\nO=ops\nCN=alice');
  expect(leaf.issuer).toBe('CN=test-ca');
  expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
  expect(leaf.checkHost('a.example.test')).toBe('*.example.test');
  expect(['10.0.0.1', '::1', '2001:db8::ff', '10.0.0.2'].map((ip) => leaf.checkIP(ip))).toEqual([
    '10.0.0.1',
    '::1',
    '2001:db8::ff',
    undefined,
  ]);
  const days = (leaf.validToDate.getTime() - leaf.validFromDate.getTime()) / 86_400_000;
  expect([days, leaf.validFromDate.getTime() < Date.now(), leaf.serialNumber.length]).toEqual([365, true, 32]);
});

test('an independent parser reads the extensions of RFC 5280', () => {
  const read = new x509.X509Certificate(pair.cert.split(/(?<=-----END CERTIFICATE-----)/)[0] as string);
  const readCa = new x509.X509Certificate(authority.pair.cert);
  expect(read.getExtension(x509.BasicConstraintsExtension)).toMatchObject({ ca: false, critical: true });
  expect(readCa.getExtension(x509.BasicConstraintsExtension)).toMatchObject({ ca: true, critical: true });
  const { digitalSignature, keyEncipherment, keyCertSign } = x509.KeyUsageFlags;
  expect(read.getExtension(x509.KeyUsagesExtension)?.usages).toBe(digitalSignature | keyEncipherment);
  expect(readCa.getExtension(x509.KeyUsagesExtension)?.usages).toBe(digitalSignature | keyEncipherment | keyCertSign);
  const keyId = readCa.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId;
  expect(keyId).toMatch(/^[0-9a-f]{40}$/);
  expect(read.getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId).toBe(keyId);
});

test('a loaded authority signs under its own name', async () => {
  const loaded = Authority.load(authority.pair);
  const { cert } = await loaded.issue({ commonName: 'bob', usages: ['client'] });
  const certificate = new X509Certificate(cert);
  expect([certificate.checkIssued(ca), certificate.verify(ca.publicKey), certificate.subjectAltName]).toEqual([true, true, undefined]);
});

test('an authority with a version 1 certificate signs, although its names have other positions', async () => {
  const elementsOf = (der: Buffer): Buffer[] =>
    new DerReader(new DerReader(der).element('no element').content).rest('no elements').map(({ whole }) => whole);
  const [tbs, ...rest] = elementsOf(ca.raw);
  const cert = new X509Certificate(sequence(sequence(...elementsOf(tbs!).slice(1, -1)), ...rest)).toString();
  const issued = await Authority.load({ cert, key: authority.pair.key }).issue({ commonName: 'bob', usages: ['client'] });
  expect(new X509Certificate(issued.cert).issuer).toBe('CN=test-ca');
});

test('rejects authority keys other than P-256', async () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  expect(() => Authority.load({ cert: authority.pair.cert, key })).toThrow('the key of the authority is not a P-256 key');
  expect(createPrivateKey((await newSigningKey()).privateKey).asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
});
