import type { ResourceClaim } from 'kubenest/types/resource_v1';
import { beforeEach, expect, it } from 'vitest';
import { ResourceClaims } from './resource-claims.ts';

const allocation = { devices: { results: [{ request: 'r', driver: 'd', pool: 'p', device: 'a' }] } };
const claim = (resourceVersion: string, status: ResourceClaim['status'] = {}): ResourceClaim => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaim',
  metadata: { namespace: 'ns', name: 'c', uid: 'u', resourceVersion },
  status,
});

let cached: ResourceClaim | undefined;
let claims: ResourceClaims;
const isTaken = (): boolean => claims.ledger.isTaken('d/p/a');
beforeEach(() => {
  cached = claim('1');
  claims = new ResourceClaims({ get: () => cached });
  claims.changed(cached);
});

it('counts devices from the decision on, and no longer when it is withdrawn', () => {
  claims.decide(claim('1'), allocation);
  expect([claims.isPending(claim('1')), isTaken()]).toEqual([true, true]);
  claims.changed(claim('2'));
  expect(isTaken()).toBe(true);
  claims.withdraw(claim('1'));
  expect([claims.isPending(claim('1')), isTaken()]).toEqual([false, false]);
});

it('returns a written claim until the cache shows it', () => {
  const written = claim('3', { allocation });
  claims.decide(claim('1'), allocation);
  claims.wrote(written);
  expect([claims.get('ns', 'c'), claims.isPending(written), isTaken()]).toEqual([written, false, true]);
  cached = claim('2');
  claims.changed(cached);
  expect([claims.get('ns', 'c'), isTaken()]).toEqual([written, true]);
  cached = claim('4');
  claims.changed(cached);
  expect([claims.get('ns', 'c'), isTaken()]).toEqual([cached, false]);
});

it('frees the devices of a deleted claim', () => {
  claims.changed(claim('2', { allocation }));
  expect(isTaken()).toBe(true);
  claims.deleted(claim('2'));
  expect(isTaken()).toBe(false);
});

it('knows a claim that the scheduler created before the cache does, until it is deleted', () => {
  cached = undefined;
  claims = new ResourceClaims({ get: () => cached });
  claims.created(claim('1'));
  const written = claim('2', { allocation });
  claims.wrote(written);
  expect([claims.get('ns', 'c'), isTaken()]).toEqual([written, true]);
  cached = claim('1');
  claims.changed(cached);
  expect([claims.get('ns', 'c'), isTaken()]).toEqual([written, true]);
  cached = undefined;
  claims.deleted(written);
  expect([claims.get('ns', 'c'), isTaken()]).toEqual([undefined, false]);
});
