import { FakeClock, FakeCluster } from 'kubenest/sdk/testing';
import type { CertificateSigningRequest } from 'kubenest/types/certificates_v1';
import { expect, it } from 'vitest';
import { CertificateSigningRequestCleanerController, isDue } from './certificatesigningrequest-cleaner-controller.ts';

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
