import { type ControllerClient, type KubeObject, newNotFound, type OwnerReference, selectorFromSet } from 'kubenest/sdk';
import { describe, expect, it } from 'vitest';
import { type Claim, claimObjects, claimOf } from './claim.ts';

const deployment = { group: 'apps', version: 'v1', resource: 'deployments', kind: 'Deployment' };
const replicaSets = { group: 'apps', version: 'v1', resource: 'replicasets' };
const owner = (more: object = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd', namespace: 'n', uid: 'd', ...more },
});
const reference = (uid: string): OwnerReference => ({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid, controller: true });
const set = (more: object = {}, controller?: string): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 's', namespace: 'n', labels: { a: 'b' }, ...(controller && { ownerReferences: [reference(controller)] }), ...more },
});
const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' };

it.each<{ name: string; of: KubeObject; object: KubeObject; isMatched: boolean; expected: Claim }>([
  { name: 'an object of another controller', of: owner(), object: set({}, 'x'), isMatched: true, expected: 'ignore' },
  { name: 'an own object that matches', of: owner(), object: set({}, 'd'), isMatched: true, expected: 'keep' },
  { name: 'an own object that no longer matches', of: owner(), object: set({}, 'd'), isMatched: false, expected: 'release' },
  { name: 'an own object of a deleted owner', of: owner(deleted), object: set({}, 'd'), isMatched: false, expected: 'ignore' },
  { name: 'an orphan that matches', of: owner(), object: set(), isMatched: true, expected: 'adopt' },
  { name: 'an orphan of a deleted owner', of: owner(deleted), object: set(), isMatched: true, expected: 'ignore' },
  { name: 'a deleted orphan', of: owner(), object: set(deleted), isMatched: true, expected: 'ignore' },
  { name: 'another orphan', of: owner(), object: set(), isMatched: false, expected: 'ignore' },
])('$name: $expected', ({ of, object, isMatched, expected }) => {
  expect(claimOf(of, isMatched, object)).toBe(expected);
});

describe('claimObjects', () => {
  /** A client that stores `stored` as the owner and answers patches with `patched`. */
  const claim = async (
    stored: KubeObject | undefined,
    candidates: KubeObject[],
    patched?: KubeObject,
  ): Promise<{ kept: KubeObject[]; patches: unknown[] }> => {
    const patches: unknown[] = [];
    const client = {
      get: () => Promise.resolve(stored),
      patch: (_target: unknown, _namespace: string, _name: string, { patch }: { patch: object }) => {
        patches.push(patch);
        return patched ? Promise.resolve(patched) : Promise.reject(newNotFound(replicaSets, 's'));
      },
    } as unknown as ControllerClient;
    const options = { client, ownerResource: deployment, target: replicaSets, finalizers: ['f'] };
    return { kept: await claimObjects(options, owner(), selectorFromSet({ a: 'b' }), candidates), patches };
  };

  it('adopts orphans with a controller reference and the finalizers', async () => {
    const adopted = set({}, 'd');
    const { kept, patches } = await claim(owner(), [set({ uid: 's' })], adopted);
    expect(kept).toEqual([adopted]);
    const ownerReferences = [
      { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid: 'd', blockOwnerDeletion: true, controller: true },
    ];
    expect(patches).toEqual([{ metadata: { uid: 's', ownerReferences, finalizers: ['f'] } }]);
  });

  it('releases objects that no longer match, and ignores those that are gone', async () => {
    const { kept, patches } = await claim(owner(), [set({ uid: 's', labels: {} }, 'd'), set()]);
    expect(kept).toEqual([]);
    const released = { uid: 's', ownerReferences: [{ $patch: 'delete', uid: 'd' }], '$deleteFromPrimitiveList/finalizers': ['f'] };
    expect(patches[0]).toEqual({ metadata: released });
  });

  it('adopts nothing if the stored owner is deleted or another one', async () => {
    await expect(claim(owner(deleted), [set()])).rejects.toThrow('n/d has just been deleted');
    await expect(claim(owner({ uid: 'x' }), [set()])).rejects.toThrow('original Deployment n/d is gone: got uid x, wanted d');
  });
});
