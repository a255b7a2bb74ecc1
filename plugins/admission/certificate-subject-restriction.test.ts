import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { cryptoProvider, Pkcs10CertificateRequestGenerator } from '@peculiar/x509';
import { admissionTable } from 'kubenest/sdk/testing';
import { CertificateSubjectRestriction } from './certificate-subject-restriction.ts';
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
