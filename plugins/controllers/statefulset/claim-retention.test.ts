import type { OwnerReference } from 'kubenest/sdk';
import type { StatefulSet } from 'kubenest/types/apps_v1';
import type { PersistentVolumeClaim, Pod } from 'kubenest/types/core_v1';
import { describe, expect, it } from 'vitest';
import { hasOwners, isStale, withOwners } from './claim-retention.ts';

const set = (whenDeleted: string, whenScaled: string): StatefulSet => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 's', uid: 'set' },
  spec: { replicas: 1, persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled } },
});
const pod = (ordinal: number): Pod => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: `s-${ordinal}`, uid: `pod-${ordinal}` } });
const claim = (...ownerReferences: OwnerReference[]): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'c', ownerReferences },
});
const ofSet: OwnerReference = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  name: 's',
  uid: 'set',
  controller: true,
  blockOwnerDeletion: true,
};
const ofPod: OwnerReference = { apiVersion: 'v1', kind: 'Pod', name: 's-1', uid: 'pod-1', controller: true, blockOwnerDeletion: true };
const other: OwnerReference = { apiVersion: 'x/v1', kind: 'X', name: 'x', uid: 'x', controller: true };

describe('withOwners', () => {
  it.each([
    { name: 'retains', policy: set('Retain', 'Retain'), of: 0, present: [ofSet], expected: [] },
    { name: 'deletes with the set', policy: set('Delete', 'Retain'), of: 0, present: [], expected: [ofSet] },
    { name: 'retains a surplus claim until the set is deleted', policy: set('Delete', 'Retain'), of: 1, present: [], expected: [ofSet] },
    { name: 'retains the claim of a replica', policy: set('Retain', 'Delete'), of: 0, present: [ofSet], expected: [] },
    { name: 'deletes a surplus claim with its pod', policy: set('Retain', 'Delete'), of: 1, present: [], expected: [ofPod] },
    { name: 'moves a surplus claim from the set to its pod', policy: set('Delete', 'Delete'), of: 1, present: [ofSet], expected: [ofPod] },
    { name: 'leaves the claim of another controller', policy: set('Delete', 'Delete'), of: 0, present: [other, ofSet], expected: [other] },
  ])('$name', ({ policy, of, present, expected }) => {
    const before = claim(...present);
    expect(hasOwners(before, policy, pod(of))).toBe(false);
    const after = withOwners(before, policy, pod(of));
    expect(after.metadata.ownerReferences).toEqual(expected);
    expect(hasOwners(after, policy, pod(of))).toBe(true);
  });
});

it('recognizes the claim of an earlier pod', () => {
  expect(isStale(claim(ofPod), { ...pod(1), metadata: { name: 's-1', uid: 'later' } }, 'Pod')).toBe(true);
  expect(isStale(claim(ofPod), pod(1), 'Pod')).toBe(false);
});
