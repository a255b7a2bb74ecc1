import { X509Certificate } from 'node:crypto';
import type { Peer } from 'kubenest/sdk';
import { parseCertificateBundle } from '#sdk/internal';
import { expect, it } from 'vitest';
import { Authority } from '#cmd/certificates/issue';
import { ClientAuthorities } from './client-authorities.ts';

const [first, second] = await Promise.all([Authority.create('first'), Authority.create('second')]);
const { cert } = await first.issue({ commonName: 'jane', usages: ['client'] });
const { validFromDate, validToDate } = new X509Certificate(cert);

function peerOf(pem: string): Peer {
  return { remoteAddress: '', certificates: pem === '' ? [] : parseCertificateBundle(pem), memo: new Map() };
}

it('authenticates no client without a certificate', () => {
  expect(new ClientAuthorities(first.pair.cert).verify(peerOf(''))).toBeUndefined();
});

it('verifies the chain once for each connection', () => {
  const authorities = new ClientAuthorities(first.pair.cert);
  const peer = peerOf(cert);
  const verified = authorities.verify(peer);
  expect([verified?.error, verified?.leaf.subject.commonName]).toEqual([undefined, 'jane']);
  expect(authorities.verify(peer)).toBe(verified);
});

it('verifies open connections against the current trust anchors', () => {
  const authorities = new ClientAuthorities(second.pair.cert);
  const peer = peerOf(cert);
  expect(authorities.verify(peer)?.error?.message).toContain('signed by unknown authority');
  authorities.reload(`${second.pair.cert}${first.pair.cert}`);
  expect(authorities.verify(peer)?.error).toBeUndefined();
  authorities.reload(second.pair.cert);
  expect(authorities.verify(peer)?.error?.message).toContain('signed by unknown authority');
});

it('keeps its trust anchors if a new bundle is invalid', () => {
  const authorities = new ClientAuthorities(first.pair.cert);
  expect(() => authorities.reload('no bundle')).toThrow('does not contain any valid');
  expect(authorities.verify(peerOf(cert))?.error).toBeUndefined();
});

it('verifies open connections at the current time', () => {
  let now = validFromDate.getTime() - 1;
  const authorities = new ClientAuthorities(first.pair.cert, () => now);
  const peer = peerOf(cert);
  const problem = (): string => authorities.verify(peer)?.error?.message ?? 'valid';
  expect(problem()).toContain('is not yet valid');
  now = validFromDate.getTime();
  expect(problem()).toBe('valid');
  now = validToDate.getTime();
  expect(problem()).toBe('valid');
  now += 1;
  expect(problem()).toContain('has expired');
});
