import 'reflect-metadata';
import { admissionTable, fakeAuthorizer } from 'kubenest/sdk/testing';
import { CertificateApproval } from './certificate-approval.ts';
import { object } from './test-objects.ts';

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
