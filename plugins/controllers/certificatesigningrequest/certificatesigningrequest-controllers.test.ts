import 'reflect-metadata';
import { Buffer } from 'node:buffer';
import { webcrypto, X509Certificate } from 'node:crypto';
import { cryptoProvider, type JsonGeneralName, Pkcs10CertificateRequestGenerator, SubjectAlternativeNameExtension } from '@peculiar/x509';
import { FakeClock, FakeCluster } from 'kubenest/sdk/testing';
import { startTestCluster } from 'kubenest/testing';
import type { CertificateSigningRequest } from 'kubenest/types/certificates_v1';
import { describe, expect, it, vi } from 'vitest';
import { Authority } from '#cmd/certificates/issue';
import { signRequest } from '#cmd/certificates/sign-request';
import { isDue } from './certificatesigningrequest-cleaner-controller.ts';
import { CertificateSigningRequestCleanerController } from './certificatesigningrequest-cleaner-controller.ts';
import { validity } from './certificatesigningrequest-signing-controller.ts';

cryptoProvider.set(webcrypto as never);
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);

/** Returns a PEM request in base64. */
async function newRequest(name: string, names: readonly JsonGeneralName[] = []): Promise<string> {
  const extensions = names.length > 0 ? [new SubjectAlternativeNameExtension([...names])] : [];
  const made = await Pkcs10CertificateRequestGenerator.create({ name, keys: keys as never, signingAlgorithm: algorithm, extensions });
  return Buffer.from(made.toString('pem')).toString('base64');
}

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
      await vi.waitFor(async () => expect((await get(name)).status?.certificate).toBeDefined(), 5_000);
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
      request: await newRequest('CN=jane'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
    });
    await approve('user');
    expect((await certificateOf('user')).subject).toBe('CN=jane');

    await create('wrong', { request: await newRequest('CN=jane'), signerName: 'kubernetes.io/kubelet-serving', usages });
    await approve('wrong');
    await vi.waitFor(
      async () =>
        expect((await get('wrong')).status?.conditions).toMatchObject([
          { type: 'Approved' },
          { type: 'Failed', reason: 'SignerValidationFailure', message: 'subject organization is not system:nodes' },
        ]),
      5_000,
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

const created = '1970-01-01T00:00:00Z';
const request = (status: object, name = 'r'): CertificateSigningRequest =>
  ({ metadata: { name, creationTimestamp: created }, spec: {}, status }) as unknown as CertificateSigningRequest;
const decided = (type: string): object => ({ conditions: [{ type, status: 'True', lastUpdateTime: created }] });
const hourMs = 3_600_000;

it.each([
  { name: 'pending', status: {}, keptMs: 24 * hourMs },
  { name: 'denied', status: decided('Denied'), keptMs: hourMs },
  { name: 'failed', status: decided('Failed'), keptMs: hourMs },
  { name: 'issued', status: { ...decided('Approved'), certificate: 'eA==' }, keptMs: hourMs },
  { name: 'approved and not issued', status: decided('Approved'), keptMs: 24 * hourMs },
])('a request that is $name is kept for $keptMs ms', ({ status, keptMs }) => {
  expect(isDue(request(status), keptMs)).toBe(false);
  expect(isDue(request(status), keptMs + 1)).toBe(true);
});

it('the cleaner deletes the requests that are due', async () => {
  const resource = 'certificatesigningrequests.certificates.k8s.io';
  const cluster = new FakeCluster({ [resource]: [request(decided('Denied'), 'old'), request({}, 'pending')] });
  const clock = new FakeClock();
  await clock.advance(2 * hourMs);
  const logger = { error: (details: object) => expect.unreachable(JSON.stringify(details)) };
  await new CertificateSigningRequestCleanerController(cluster, cluster.informers, clock, logger as never).clean();
  expect(cluster.all(resource).map(({ metadata }) => metadata.name)).toEqual(['pending']);
});
