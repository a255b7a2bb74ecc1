import 'reflect-metadata';
import { admissionTable, fakeAuthorizer } from 'kubenest/sdk/testing';
import { CertificateSigning } from './certificate-signing.ts';
import { object } from './test-objects.ts';

const csr = (signerName: string, rest: Record<string, unknown> = {}, text = '') =>
  object('certificates.k8s.io/v1', 'CertificateSigningRequest', { spec: { signerName, request: text }, ...rest });
const can = (verb: string, name: string) => ({
  authorizer: fakeAuthorizer((asked) => asked.resource === 'signers' && asked.verb === verb && asked.name === name),
});
const mine = csr('example.com/mine');
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
