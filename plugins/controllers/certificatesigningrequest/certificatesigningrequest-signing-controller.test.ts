import 'reflect-metadata';
import { Buffer } from 'node:buffer';
import { X509Certificate } from 'node:crypto';
import { startTestCluster } from 'kubenest/testing';
import type { CertificateSigningRequest } from 'kubenest/types/certificates_v1';
import { describe, expect, it, vi } from 'vitest';
import { Authority } from '#cmd/certificates/issue';
import { signRequest } from '#cmd/certificates/sign-request';
import { validity } from './certificatesigningrequest-signing-controller.ts';
import { newRequest } from './test-requests.ts';

const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const kubeletUsages = ['digital signature', 'client auth'];

describe('with the authority of the server', () => {
  it('approves and signs client certificates of kubelets, and signs approved ones of others', async () => {
    const authority = await Authority.create('test-ca');
    await using cluster = await startTestCluster({
      controllers: ['certificatesigningrequest-approving-controller', 'certificatesigningrequest-signing-controller'],
      config: { signCertificateRequest: (request) => Promise.resolve(signRequest(request, authority.pair)) },
    });
    const create = async (name: string, spec: object): Promise<void> => {
      const response = await cluster.fetch(path, { body: { metadata: { name }, spec } });
      expect(response.status, await response.clone().text()).toBe(201);
    };
    const get = async (name: string): Promise<CertificateSigningRequest> =>
      (await (await cluster.fetch(`${path}/${name}`)).json()) as CertificateSigningRequest;
    const approve = async (name: string): Promise<void> => {
      const request = await get(name);
      const conditions = [{ type: 'Approved', status: 'True', reason: 'Test', message: 'approved' }];
      const response = await cluster.fetch(`${path}/${name}/approval`, { method: 'PUT', body: { ...request, status: { conditions } } });
      expect(response.status).toBe(200);
    };
    const certificateOf = async (name: string): Promise<X509Certificate> => {
      await vi.waitFor(async () => expect((await get(name)).status?.certificate).toBeDefined());
      return new X509Certificate(Buffer.from((await get(name)).status?.certificate ?? '', 'base64'));
    };

    const node = await newRequest('O=system:nodes, CN=system:node:n');
    await create('node', { request: node, signerName: 'kubernetes.io/kube-apiserver-client-kubelet', usages: kubeletUsages });
    const certificate = await certificateOf('node');
    expect(certificate.checkIssued(new X509Certificate(authority.pair.cert))).toBe(true);
    expect(certificate.verify(new X509Certificate(authority.pair.cert).publicKey)).toBe(true);
    expect(certificate.subject).toBe('O=system:nodes\nCN=system:node:n');
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    expect((await get('node')).status?.conditions).toMatchObject([
      { type: 'Approved', reason: 'AutoApproved', message: 'Auto approving kubelet client certificate after SubjectAccessReview.' },
    ]);

    const serving = await newRequest('O=system:nodes, CN=system:node:n', [
      { type: 'dns', value: 'n.example.com' },
      { type: 'ip', value: '10.0.0.1' },
    ]);
    const usages = ['digital signature', 'server auth'];
    await create('serving', { request: serving, signerName: 'kubernetes.io/kubelet-serving', usages, expirationSeconds: 3600 });
    await approve('serving');
    const servingCertificate = await certificateOf('serving');
    expect(servingCertificate.subjectAltName).toBe('DNS:n.example.com, IP Address:10.0.0.1');
    expect(servingCertificate.validToDate.getTime() - servingCertificate.validFromDate.getTime()).toBe(3_900_000);

    await create('user', {
      // The order is that of upstream's certificates, and attributes that it does not know are dropped.
      request: await newRequest('CN=jane, O=b, 1.2.3.4=x, OU=u, O=a'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
    });
    await approve('user');
    expect((await certificateOf('user')).subject).toBe('O=a + O=b\nOU=u\nCN=jane');

    await create('wrong', { request: await newRequest('CN=jane'), signerName: 'kubernetes.io/kubelet-serving', usages });
    await approve('wrong');
    await vi.waitFor(async () =>
      expect((await get('wrong')).status?.conditions).toMatchObject([
        { type: 'Approved' },
        { type: 'Failed', reason: 'SignerValidationFailure', message: 'subject organization is not system:nodes' },
      ]),
    );
  }, 30_000);
});

it.each([
  { seconds: undefined, lifetimeMs: 365 * 86_400_000 - 300_000 },
  { seconds: 60, lifetimeMs: 600_000 },
  { seconds: 3_600, lifetimeMs: 3_600_000 },
  { seconds: 10 * 3_600, lifetimeMs: 10 * 3_600_000 - 300_000 },
])('a certificate for $seconds s is valid for $lifetimeMs ms', ({ seconds, lifetimeMs }) => {
  expect(validity(seconds, 0)).toEqual({ notBefore: new Date(-300_000), notAfter: new Date(lifetimeMs) });
});
