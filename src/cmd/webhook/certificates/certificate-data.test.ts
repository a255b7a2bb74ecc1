import { X509Certificate } from 'node:crypto';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type CertificateData, renewed } from './certificate-data.ts';

const names = ['kubenest-webhook.kubenest.svc'];
const dayMs = 86_400_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-01-01') }));
afterEach(() => void vi.useRealTimers());

function passDays(days: number): void {
  vi.setSystemTime(Date.now() + days * dayMs);
}

/** True if clients that trust the authorities accept the serving certificate. */
function isTrusted({ authorities, serving }: Pick<CertificateData, 'authorities' | 'serving'>): boolean {
  return authorities.some((cert) => new X509Certificate(serving.cert).verify(new X509Certificate(cert).publicKey));
}

it('makes an authority and a certificate with the names', async () => {
  const data = await renewed(undefined, names);
  expect(isTrusted(data)).toBe(true);
  expect(new X509Certificate(data.serving.cert).checkHost(names[0] as string)).toBe(names[0]);
  expect(await renewed(data, names)).toBe(data);
});

it('issues the certificate again before it expires, and for other names', async () => {
  const data = await renewed(undefined, names);
  passDays(334);
  expect(await renewed(data, names)).toBe(data);
  passDays(2);
  const next = await renewed(data, names);
  expect(next.authorities).toEqual(data.authorities);
  expect(next.serving.cert).not.toBe(data.serving.cert);
  expect((await renewed(next, [...names, 'other'])).serving.cert).not.toBe(next.serving.cert);
});

it('replaces an authority only after clients trust the next one', async () => {
  const first = await renewed(undefined, names);
  passDays(3_650 - 399);
  const announced = await renewed(first, names);
  expect(announced.authorities).toHaveLength(2);
  expect(announced.serving).toBe(first.serving);
  passDays(0.02);
  const waiting = await renewed(announced, names);
  expect(waiting.next).toEqual(announced.next);
  passDays(0.03);
  const replaced = await renewed(waiting, names);
  expect(replaced.next).toBeUndefined();
  expect(replaced.authorities).toEqual(announced.authorities.toReversed());
  // Clients with the previous bundle trust the new certificate, and those with the new bundle trust the previous one.
  expect(isTrusted({ authorities: announced.authorities, serving: replaced.serving })).toBe(true);
  expect(isTrusted({ authorities: replaced.authorities, serving: waiting.serving })).toBe(true);
  expect(await renewed(replaced, names)).toBe(replaced);
});

it.each([
  {
    name: 'a key of another certificate',
    spoil: (data: CertificateData, other: CertificateData) => ({ ...data, authorityKey: other.authorityKey }),
  },
  { name: 'text that is not a certificate', spoil: (data: CertificateData) => ({ ...data, serving: { cert: 'x', key: 'y' } }) },
  {
    name: 'a certificate of another authority',
    spoil: (data: CertificateData, other: CertificateData) => ({ ...data, serving: other.serving }),
  },
])('replaces $name', async ({ spoil }) => {
  const spoilt = spoil(await renewed(undefined, names), await renewed(undefined, names));
  expect(isTrusted(await renewed(spoilt, names))).toBe(true);
});
