import 'reflect-metadata';
import { Buffer } from 'node:buffer';
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as x509 from '@peculiar/x509';
import { afterAll, expect, it } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { VerifyImageSignatures } from '#plugins/catalog/image-signatures/src/verify-image-signatures';
import { admissionTable, fakeInformers } from '#sdk/testing/index';

const folder = mkdtempSync(join(tmpdir(), 'kubenest-signatures-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const digestOf = (hex: string): string => `sha256:${hex.repeat(64)}`;
const issuer = 'https://token.actions.githubusercontent.com';
const repository = 'https://github.com/acme/web/.github/workflows/release.yaml@refs/heads/main';
const cosignStatement = 'https://sigstore.dev/cosign/sign/v1';

const trusted = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const log = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pemOf = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }) as string;
const derOf = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });

/** Returns the signed envelope of a statement about a digest (DSSE, pre-authentication encoding). */
function envelopeOf(digest: string, key: KeyObject, predicateType = cosignStatement) {
  const payloadType = 'application/vnd.in-toto+json';
  const [algorithm = '', value] = digest.split(':');
  const statement = { _type: 'https://in-toto.io/Statement/v1', subject: [{ digest: { [algorithm]: value } }], predicateType };
  const payload = Buffer.from(JSON.stringify(statement));
  const encoded = Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `), payload]);
  return { payload: payload.toString('base64'), payloadType, signatures: [{ sig: sign('sha256', encoded, key).toString('base64') }] };
}

const bundleOf = (dsseEnvelope: object, verificationMaterial: object): string =>
  JSON.stringify({ mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json', verificationMaterial, dsseEnvelope });
const keyBundle = (digest: string, key = trusted.privateKey, predicateType?: string): string =>
  bundleOf(envelopeOf(digest, key, predicateType), { publicKey: { hint: '' } });

/** Returns the line that `cosign download signature` prints. */
function cosignLine(digest: string, key = trusted.privateKey, type = 'cosign container image signature'): string {
  const payload = Buffer.from(JSON.stringify({ critical: { identity: {}, image: { 'docker-manifest-digest': digest }, type } }));
  return JSON.stringify({ Base64Signature: sign('sha256', payload, key).toString('base64'), Payload: payload.toString('base64') });
}

const ecdsa = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const { subtle } = globalThis.crypto;
const newKeys = () => subtle.generateKey(ecdsa, true, ['sign', 'verify']);
const authorityKeys = await newKeys();
const hour = 3_600_000;
const authority = await x509.X509CertificateGenerator.createSelfSigned({
  name: 'CN=authority',
  keys: authorityKeys,
  signingAlgorithm: ecdsa,
  notBefore: new Date(Date.now() - hour),
  notAfter: new Date(Date.now() + hour),
  extensions: [
    new x509.BasicConstraintsExtension(true, 0, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
    await x509.SubjectKeyIdentifierExtension.create(authorityKeys.publicKey),
  ],
});

/** DER of a UTF8String of less than 128 bytes. */
const utf8String = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from([12, text.length, ...Buffer.from(text)]);

/** Returns a bundle that a short-lived certificate of an identity has signed, with an entry of the log. */
async function identityBundle(digest: string, subject = repository, from: string = issuer, integrated = Date.now()): Promise<string> {
  const keys = await newKeys();
  const leaf = await x509.X509CertificateGenerator.create({
    subject: '',
    issuer: authority.subject,
    publicKey: keys.publicKey,
    signingKey: authorityKeys.privateKey,
    signingAlgorithm: ecdsa,
    notBefore: new Date(Date.now() - hour / 6),
    notAfter: new Date(Date.now() + hour / 6),
    extensions: [
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.3']),
      new x509.SubjectAlternativeNameExtension([{ type: 'url', value: subject }], true),
      await x509.AuthorityKeyIdentifierExtension.create(authorityKeys.publicKey),
      new x509.Extension('1.3.6.1.4.1.57264.1.8', false, utf8String(from)),
    ],
  });
  const { KeyObject: Key } = await import('node:crypto');
  const envelope = envelopeOf(digest, Key.from(keys.privateKey));
  const payloadHash = createHash('sha256').update(Buffer.from(envelope.payload, 'base64')).digest('hex');
  const body = Buffer.from(
    JSON.stringify({
      apiVersion: '0.0.1',
      kind: 'dsse',
      spec: { payloadHash: { algorithm: 'sha256', value: payloadHash }, signatures: [{ signature: envelope.signatures[0]?.sig }] },
    }),
  );
  const logId = createHash('sha256').update(derOf(log.publicKey)).digest();
  const integratedTime = Math.floor(integrated / 1_000);
  const promised = JSON.stringify({ body: body.toString('base64'), integratedTime, logID: logId.toString('hex'), logIndex: 7 });
  return JSON.stringify({
    mediaType: 'application/vnd.dev.sigstore.bundle+json;version=0.1',
    verificationMaterial: {
      x509CertificateChain: { certificates: [{ rawBytes: Buffer.from(leaf.rawData).toString('base64') }] },
      tlogEntries: [
        {
          logIndex: '7',
          logId: { keyId: logId.toString('base64') },
          kindVersion: { kind: 'dsse', version: '0.0.1' },
          integratedTime: String(integratedTime),
          inclusionPromise: { signedEntryTimestamp: sign('sha256', Buffer.from(promised), log.privateKey).toString('base64') },
          canonicalizedBody: body.toString('base64'),
        },
      ],
    },
    dsseEnvelope: envelope,
  });
}

const validFor = { start: new Date(Date.now() - hour).toISOString() };
const trustedRoot = join(folder, 'trusted_root.json');
writeFileSync(
  trustedRoot,
  JSON.stringify({
    mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
    tlogs: [
      {
        baseUrl: 'https://log.example.com',
        hashAlgorithm: 'SHA2_256',
        publicKey: { rawBytes: derOf(log.publicKey).toString('base64'), keyDetails: 'PKIX_ECDSA_P256_SHA_256', validFor },
        logId: { keyId: createHash('sha256').update(derOf(log.publicKey)).digest('base64') },
      },
    ],
    certificateAuthorities: [
      {
        subject: { organization: 'acme', commonName: 'authority' },
        uri: 'https://ca.example.com',
        certChain: { certificates: [{ rawBytes: Buffer.from(authority.rawData).toString('base64') }] },
        validFor,
      },
    ],
  }),
);

const withLogTampered = (text: string): string => {
  const bundle = JSON.parse(text) as { verificationMaterial: { tlogEntries: { logIndex: string }[] } };
  (bundle.verificationMaterial.tlogEntries[0] as { logIndex: string }).logIndex = '8';
  return JSON.stringify(bundle);
};
const without = (text: string): string => {
  const bundle = JSON.parse(text) as { verificationMaterial: { tlogEntries: unknown[] } };
  bundle.verificationMaterial.tlogEntries = [];
  return JSON.stringify({ ...bundle, mediaType: 'application/vnd.dev.sigstore.bundle+json;version=0.1' });
};

/** Stored signatures by the digit of the digest. */
const stored: Readonly<Record<string, string>> = {
  0: keyBundle(digestOf('0')),
  1: cosignLine(digestOf('1')),
  2: keyBundle(digestOf('2'), other.privateKey),
  3: keyBundle(digestOf('0')),
  4: cosignLine(digestOf('4'), other.privateKey),
  5: cosignLine(digestOf('1')),
  6: keyBundle(digestOf('6'), trusted.privateKey, 'https://slsa.dev/provenance/v1'),
  7: `${cosignLine(digestOf('7'), other.privateKey)}\n${cosignLine(digestOf('7'))}\n`,
  8: 'no JSON',
  9: cosignLine(digestOf('9'), trusted.privateKey, 'another type'),
  a: await identityBundle(digestOf('a')),
  b: await identityBundle(digestOf('b'), 'https://github.com/evil/web/release.yaml'),
  c: await identityBundle(digestOf('c'), repository, 'https://issuer.example.com'),
  d: withLogTampered(await identityBundle(digestOf('d'))),
  e: await identityBundle(digestOf('e'), repository, issuer, Date.now() - hour / 2),
  f: without(await identityBundle(digestOf('f'))),
};
for (const [hex, text] of Object.entries(stored)) if (hex !== '0') writeFileSync(join(folder, `sha256-${hex.repeat(64)}.json`), text);
const configMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: `sha256-${'0'.repeat(64)}`, namespace: 'signatures' },
  data: { signature: stored[0] },
} as KubeObject;

const pod = (image: string): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { containers: [{ name: 'web', image }] },
  }) as KubeObject;
const web = (hex: string): KubeObject => pod(`ghcr.io/acme/web@${digestOf(hex)}`);

const identity = { issuer, subject: 'https://github.com/acme/*' };
const configuration = {
  rules: [{ images: ['ghcr.io/acme/*'], keys: [pemOf(trusted.publicKey)], identities: [identity] }],
  trustedRoot,
  folder,
  configMapNamespace: 'signatures',
};

admissionTable(
  VerifyImageSignatures,
  [
    { name: 'a bundle by a trusted key, in a ConfigMap', object: web('0') },
    { name: 'a signature of the older format, in a file', object: web('1') },
    {
      name: 'a bundle by another key',
      object: web('2'),
      denied: /spec\.containers\[0\]\.image: sha256:2+ has no valid signature \(no trusted key/,
    },
    { name: 'a bundle about another digest', object: web('3'), denied: /the statement is about another digest/ },
    { name: 'a signature of the older format by another key', object: web('4'), denied: /no trusted key has signed it/ },
    { name: 'a signature of the older format about another digest', object: web('5'), denied: /the signature is about another digest/ },
    { name: 'another signed statement', object: web('6'), denied: /the statement has the type https:\/\/slsa\.dev\/provenance\/v1/ },
    { name: 'one of several signatures is valid', object: web('7') },
    { name: 'a text that is not a signature', object: web('8'), denied: /has no valid signature \(.*JSON/ },
    { name: 'a signed payload of another type', object: web('9'), denied: /not a signature of an image/ },
    { name: 'a certificate of a trusted identity', object: web('a') },
    {
      name: 'a certificate of another subject',
      object: web('b'),
      denied: /https:\/\/github\.com\/evil\/web\/release\.yaml of .* is not trusted/,
    },
    { name: 'a certificate of another issuer', object: web('c'), denied: /of https:\/\/issuer\.example\.com is not trusted/ },
    { name: 'an entry of the log that was changed', object: web('d'), denied: /inclusion promise could not be verified/ },
    { name: 'a certificate that was not valid at the time of signing', object: web('e'), denied: /has no valid signature/ },
    { name: 'a certificate without an entry of the log', object: web('f'), denied: /has no valid signature/ },
    { name: 'no stored signature', object: pod(`ghcr.io/acme/web@sha256:${'01'.repeat(32)}`), denied: /\(none is stored\)/ },
    { name: 'no digest', object: pod('ghcr.io/acme/web:1'), denied: /has no digest, so its signature cannot be verified/ },
    { name: 'an image of no rule', object: pod('nginx') },
  ],
  { configuration, informers: fakeInformers({ configmaps: [configMap] }) },
);

const { folder: _, configMapNamespace: __, ...withoutPlaces } = configuration;
it.each([
  { name: 'no place', configuration: withoutPlaces, problem: /folder or configMapNamespace is required/ },
  {
    name: 'no signers',
    configuration: { ...configuration, rules: [{ images: ['*'] }] },
    problem: /rules\[0\]: keys or identities are required/,
  },
  {
    name: 'a private key',
    configuration: {
      ...configuration,
      rules: [{ images: ['*'], keys: [trusted.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string] }],
    },
    problem: /rules\[0\]\.keys\[0\]: expected a public key in PEM/,
  },
  {
    name: 'identities without a trusted root',
    configuration: { folder, rules: [{ images: ['*'], identities: [identity] }] },
    problem: /rules\[0\]\.identities: trustedRoot is required/,
  },
  {
    name: 'a missing trusted root',
    configuration: { ...configuration, trustedRoot: join(folder, 'none.json') },
    problem: /trustedRoot: ENOENT/,
  },
])('a configuration with $name is rejected', ({ configuration: given, problem }) => {
  const rules = given.rules.map((rule) => ({ keys: [], identities: [], predicateTypes: [cosignStatement], ...rule }));
  expect(() => new VerifyImageSignatures(fakeInformers({}), { ...given, rules })).toThrow(problem);
});
