import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { cryptoProvider, Pkcs10CertificateRequestGenerator } from '@peculiar/x509';
import { admissionTable, fakeAuthorizer } from 'kubenest/sdk/testing';
import { CertificateApproval } from './certificate-approval.ts';
import { CertificateSigning } from './certificate-signing.ts';
import { CertificateSubjectRestriction } from './certificate-subject-restriction.ts';
import { ClusterTrustBundleAttest } from './cluster-trust-bundle-attest.ts';
import { object } from './test-objects.ts';

cryptoProvider.set(webcrypto as never);
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);

async function request(name: string): Promise<string> {
  const made = await Pkcs10CertificateRequestGenerator.create({ name, keys: keys as never, signingAlgorithm: algorithm });
  return Buffer.from(made.toString('pem')).toString('base64');
}

const csr = (signerName: string, rest: Record<string, unknown> = {}, text = '') =>
  object('certificates.k8s.io/v1', 'CertificateSigningRequest', { spec: { signerName, request: text }, ...rest });
const can = (verb: string, name: string) => ({
  authorizer: fakeAuthorizer((asked) => asked.resource === 'signers' && asked.verb === verb && asked.name === name),
});
const mine = csr('example.com/mine');

admissionTable(CertificateApproval, [
  {
    name: 'a user without permission to approve',
    subresource: 'approval',
    object: mine,
    oldObject: mine,
    denied: /not permitted to approve requests with signerName "example.com\/mine"/,
  },
]);
admissionTable(
  CertificateApproval,
  [
    { name: 'a user with permission to approve for the domain', subresource: 'approval', object: mine, oldObject: mine },
    { name: 'the stored signer is checked', subresource: 'approval', object: mine, oldObject: csr('other.com/x'), denied: /other.com/ },
    { name: 'only the subresource is checked', object: csr('other.com/x'), oldObject: csr('other.com/x') },
  ],
  can('approve', 'example.com/*'),
);
admissionTable(
  CertificateSigning,
  [
    {
      name: 'a user with permission to sign',
      subresource: 'status',
      object: csr('example.com/mine', { status: { certificate: 'a' } }),
      oldObject: mine,
    },
    {
      name: 'a user without permission to sign',
      subresource: 'status',
      object: csr('example.com/other', { status: { certificate: 'a' } }),
      oldObject: csr('example.com/other'),
      denied: /not permitted to sign requests with signerName "example.com\/other"/,
    },
    {
      name: 'an update without a certificate',
      subresource: 'status',
      object: csr('example.com/other'),
      oldObject: csr('example.com/other'),
    },
  ],
  can('sign', 'example.com/mine'),
);

const clientSigner = 'kubernetes.io/kube-apiserver-client';
admissionTable(CertificateSubjectRestriction, [
  { name: 'a request for a regular user', object: csr(clientSigner, {}, await request('CN=jane,O=devs')) },
  {
    name: 'a request for a member of system:masters',
    object: csr(clientSigner, {}, await request('CN=jane,O=devs,O=system:masters')),
    denied: /use of kubernetes.io\/kube-apiserver-client signer with system:masters group is not allowed/,
  },
  { name: 'another signer is unrestricted', object: csr('example.com/mine', {}, await request('CN=jane,O=system:masters')) },
  {
    name: 'an invalid certificate request',
    object: csr(clientSigner, {}, 'bm9uZQ=='),
    denied: /failed to parse CSR: PEM block type must be CERTIFICATE REQUEST/,
  },
]);

const bundle = (signerName: string | undefined, metadata = {}) =>
  object('certificates.k8s.io/v1beta1', 'ClusterTrustBundle', { spec: { signerName, trustBundle: 'pem' } }, metadata);
admissionTable(
  ClusterTrustBundleAttest,
  [
    { name: 'without a signer', object: bundle(undefined) },
    { name: 'of a permitted signer', object: bundle('example.com/mine') },
    { name: 'of another signer', object: bundle('other.com/x'), denied: /not permitted to attest for signerName "other.com\/x"/ },
    { name: 'an update of finalizers only', object: bundle('other.com/x', { finalizers: ['a/b'] }), oldObject: bundle('other.com/x') },
    {
      name: 'an update of other fields',
      object: bundle('other.com/x', { labels: { a: 'b' } }),
      oldObject: bundle('other.com/x'),
      denied: /other.com/,
    },
  ],
  can('attest', 'example.com/mine'),
);
admissionTable(ClusterTrustBundleAttest, [{ name: 'with the feature gate disabled', object: bundle('other.com/x') }], {
  featureGates: { enabled: () => false },
});
