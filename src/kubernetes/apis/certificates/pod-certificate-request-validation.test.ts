import 'reflect-metadata';
import { Buffer } from 'node:buffer';
import { constants, generateKeyPairSync, type KeyObject, sign, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { describe, expect, it } from 'vitest';
import type { PodCertificateRequest, PodCertificateRequestSpec } from '#kubernetes/schema/certificates_v1beta1.gen';
import {
  validatePodCertificateRequest,
  validatePodCertificateRequestStatusUpdate,
  validatePodCertificateRequestUpdate,
} from './pod-certificate-request-validation.ts';

x509.cryptoProvider.set(webcrypto as never);
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
const stub = Buffer.from(
  (await x509.Pkcs10CertificateRequestGenerator.create({ name: '', keys: keys as never, signingAlgorithm: algorithm })).rawData,
);
const forged = Buffer.from(stub);
forged[forged.length - 4]! ^= 1;

const now = '2026-11-21T12:00:00Z';
const base: PodCertificateRequestSpec = {
  signerName: 'example.com/signer',
  podName: 'web',
  podUID: 'pod-uid',
  serviceAccountName: 'default',
  serviceAccountUID: 'account-uid',
  nodeName: 'node-1',
  nodeUID: 'node-uid',
  maxExpirationSeconds: 7200,
  stubPKCS10Request: stub.toString('base64'),
};
const request = (spec: PodCertificateRequestSpec, status = {}): PodCertificateRequest => ({
  apiVersion: 'certificates.k8s.io/v1beta1',
  kind: 'PodCertificateRequest',
  metadata: { name: 'a' },
  spec,
  status,
});

/** Creates a request with a bare key, and with the pod's uid signed by that key. */
function withKey({ publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject }, text = 'pod-uid'): PodCertificateRequestSpec {
  const { stubPKCS10Request: _, ...rest } = base;
  const type = privateKey.asymmetricKeyType;
  const key = type === 'rsa' ? { key: privateKey, padding: constants.RSA_PKCS1_PSS_PADDING } : privateKey;
  const proof = type === 'x25519' ? Buffer.from('x') : sign(type === 'ed25519' ? null : 'sha256', Buffer.from(text), key);
  return {
    ...rest,
    pkixPublicKey: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    proofOfPossession: proof.toString('base64'),
  };
}

describe('requests', () => {
  const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve });
  const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength });

  it.each<[string, PodCertificateRequestSpec, string[]]>([
    ['a stub request', base, []],
    ['Ed25519', withKey(generateKeyPairSync('ed25519')), []],
    ['P-521', withKey(ec('secp521r1')), []],
    ['RSA of 3072 bits', withKey(rsa(3072)), []],
    [
      'RSA of 2048 bits',
      withKey(rsa(2048)),
      ['spec.pkixPublicKey: Invalid value: "2048-bit modulus": RSA keys must have modulus size 3072 or 4096'],
    ],
    [
      'P-224',
      withKey(ec('secp224r1')),
      ['spec.pkixPublicKey: Invalid value: "curve P-224": elliptic public keys must use curve P256 or P384'],
    ],
    [
      'a signature of another text',
      withKey(ec('prime256v1'), 'x'),
      ['spec.proofOfPossession: Invalid value: could not verify proof-of-possession signature'],
    ],
    [
      'a request with a wrong signature',
      { ...base, stubPKCS10Request: forged.toString('base64') },
      ['spec.stubPKCS10Request: Invalid value: invalid signature'],
    ],
    ['no request', { ...base, stubPKCS10Request: 'AAAA' }, ['spec.stubPKCS10Request: Invalid value: must be a valid PKCS#10 CSR']],
    [
      'both forms',
      { ...base, pkixPublicKey: 'AAAA' },
      ['spec: Invalid value: exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set'],
    ],
    [
      'a lifetime that is too short',
      { ...base, maxExpirationSeconds: 3599 },
      ['spec.maxExpirationSeconds: Invalid value: 3599: must be in the range [3600, 7862400]'],
    ],
    [
      'a lifetime that is too long for Kubernetes signers',
      { ...base, signerName: 'kubernetes.io/kube-apiserver-client-pod', maxExpirationSeconds: 86_401 },
      ['spec.maxExpirationSeconds: Invalid value: 86401: must be in the range [3600, 86400]'],
    ],
    [
      'missing and overlong uids',
      { ...base, podUID: '', nodeUID: 'x'.repeat(129) },
      ['spec.podUID: Invalid value: "": must not be empty', 'spec.nodeUID: Too long: may not be more than 128 bytes'],
    ],
    [
      'an annotation without a domain',
      { ...base, unverifiedUserAnnotations: { a: 'b' } },
      ['spec.unverifiedUserAnnotations: Invalid value: "a": must be a domain-prefixed key (such as "acme.io/foo")'],
    ],
  ])('%s', (_, spec, errors) => {
    expect(validatePodCertificateRequest(request(spec)).map(String)).toEqual(errors);
  });

  it('rejects every change', () => {
    const errors = validatePodCertificateRequestUpdate(request({ ...base, podName: 'other' }), request(base));
    expect(String(errors[0])).toMatch(
      /^spec: Invalid value: \{"SignerName":"example.com\/signer","PodName":"other".*\}: field is immutable$/,
    );
    expect(validatePodCertificateRequestUpdate(request(base), request(base))).toEqual([]);
  });
});

const later = (seconds: number) => new Date(Date.parse(now) + seconds * 1000);
const text = (time: Date) => time.toISOString().replace('.000', '');

async function certificate({ begin = 0, seconds = 3600, dns = [] as string[] } = {}): Promise<string> {
  const made = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=x',
    keys: keys as never,
    signingAlgorithm: algorithm,
    notBefore: later(begin),
    notAfter: later(begin + seconds),
    extensions: dns.length > 0 ? [new x509.SubjectAlternativeNameExtension(dns.map((value) => ({ type: 'dns' as const, value })))] : [],
  });
  return made.toString('pem');
}

const condition = (type: string, status = 'True') => ({ type, status, reason: 'Because', message: '', lastTransitionTime: now });
const issued = (certificateChain: string, rest = {}) => ({
  conditions: [condition('Issued')],
  certificateChain,
  notBefore: now,
  notAfter: text(later(3600)),
  beginRefreshAt: text(later(1800)),
  ...rest,
});

describe('statuses', () => {
  const chainError = (message: string) =>
    expect.stringMatching(new RegExp(`^status.certificateChain: Invalid value: .*${message}$`, 's')) as string;
  const good = certificate();

  it.each<[string, () => Promise<object> | object, (string | RegExp)[]]>([
    ['nothing', () => ({}), []],
    ['a certificate that matches the request', async () => issued(await good), []],
    ['refused', () => ({ conditions: [condition('Denied')] }), []],
    [
      'a denial with further fields',
      () => ({ conditions: [condition('Failed')], notBefore: now }),
      ['status: Invalid value: non-condition status fields must be empty when denying or failing the PodCertificateRequest'],
    ],
    [
      'another condition',
      () => ({ conditions: [condition('Ready')] }),
      ['status.conditions.[0].type: Unsupported value: "Ready": supported values: "Issued", "Denied", "Failed"'],
    ],
    [
      'a condition that is not true',
      () => ({ conditions: [condition('Denied', 'False')] }),
      ['status.conditions.[0].status: Unsupported value: "False": supported values: "True"'],
    ],
    [
      'two ends',
      () => ({ conditions: [condition('Issued'), condition('Denied')] }),
      ['status.conditions.[1].type: Invalid value: "Denied": There may be at most one condition with type "Issued", "Denied", or "Failed"'],
    ],
    [
      'a certificate without a condition',
      () => ({ certificateChain: 'x' }),
      ['status: Invalid value: status is immutable unless transitioning to "Issued", "Denied", or "Failed"'],
    ],
    ['no certificate', () => issued('x'), [chainError('issued certificate chain must contain at least one certificate')]],
    [
      'trailing data after the certificates',
      async () => issued(`${await good}\n-----BEGIN KEY-----\nAAAA\n-----END KEY-----\n`),
      [chainError('issued certificate chain must consist entirely of CERTFICATE PEM blocks')],
    ],
    [
      'malformed DNS names',
      async () => issued(await certificate({ dns: ['a..b'] })),
      [`status.certificateChain: Invalid value: "a..b": leaf certificate's DNSName should not contain '..'`],
    ],
    [
      'missing times',
      async () => issued(await good, { notBefore: undefined, notAfter: undefined, beginRefreshAt: undefined }),
      [
        'status.notBefore: Required value: must be present and consistent with the issued certificate',
        'status.notAfter: Required value: must be present and consistent with the issued certificate',
        'status.beginRefreshAt: Required value: must be present and in the range [notbefore+10min, notafter-10min]',
      ],
    ],
    [
      'another beginning',
      async () => issued(await good, { notBefore: text(later(1)) }),
      ['status.notBefore: Invalid value: "2026-11-21T12:00:01Z": must be set to the NotBefore time encoded in the leaf certificate'],
    ],
    [
      'long ago',
      async () => issued(await certificate({ begin: -300 }), { notBefore: text(later(-300)) }),
      [`status.notBefore: Invalid value: "2026-11-21T11:55:00Z": must be set to within 5 minutes of kube-apiserver's current time`],
    ],
    [
      'a lifetime that is too short',
      async () => issued(await certificate({ seconds: 3599 }), { notAfter: text(later(3599)) }),
      ['status.certificateChain: Invalid value: 3599000000000: leaf certificate lifetime must be >= 1 hour'],
    ],
    [
      'a lifetime that is too long',
      async () => issued(await certificate({ seconds: 7201 }), { notAfter: text(later(7201)) }),
      ['status.certificateChain: Invalid value: 7201000000000: leaf certificate lifetime must be <= spec.maxExpirationSeconds (7200)'],
    ],
    [
      'a refresh time that is too early',
      async () => issued(await good, { beginRefreshAt: text(later(599)) }),
      ['status.beginRefreshAt: Invalid value: "2026-11-21T12:09:59Z": must be at least 10 minutes after status.notBefore'],
    ],
  ])('%s', async (_, status, errors) => {
    const found = validatePodCertificateRequestStatusUpdate(request(base, await status()), request(base), now);
    expect(found.map(String)).toEqual(errors);
  });

  it('rejects a certificate for another key', async () => {
    const other = withKey(generateKeyPairSync('ec', { namedCurve: 'prime256v1' }));
    const found = validatePodCertificateRequestStatusUpdate(request(other, issued(await good)), request(other), now);
    expect(found.map(String)).toEqual([chainError('leaf certificate was not issued to the requested public key')]);
  });

  it('validates the lifetime', () => {
    const denied = request(base, { conditions: [condition('Denied')] });
    expect(validatePodCertificateRequestStatusUpdate(denied, denied, now)).toEqual([]);
    expect(validatePodCertificateRequestStatusUpdate(request(base), denied, now).map(String)).toEqual([
      'status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed',
    ]);
  });
});
