import { startTestCluster, type TestCluster } from 'kubenest/testing';
import type { KubeObject } from 'kubenest/sdk';
import type { StorageVersionMigration } from 'kubenest/types/storagemigration_v1beta1';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { partialObject } from '../common/testing/partial-object.ts';
import { isNext } from './migrations.ts';

const migration = (name: string, creationTimestamp: string, types: string[] = [], resource = 'things'): StorageVersionMigration =>
  partialObject({
    metadata: { name, uid: name, creationTimestamp },
    spec: { resource: { group: 'g', resource } },
    status: { conditions: types.map((type) => ({ type, status: 'True' })) },
  }) as StorageVersionMigration;
const own = migration('b', '2');

it.each([
  { name: 'is next alone', others: [], expected: true },
  { name: 'waits for an older one', others: [migration('a', '1')], expected: false },
  { name: 'waits for one of the same age with an earlier name', others: [migration('a', '2')], expected: false },
  { name: 'is next before a younger one', others: [migration('a', '3')], expected: true },
  { name: 'waits for one that runs', others: [migration('c', '3', ['Running'])], expected: false },
  { name: 'is next after one that has ended', others: [migration('a', '1', ['Running', 'Failed'])], expected: true },
  { name: 'does not wait for another resource', others: [migration('a', '1', ['Running'], 'other')], expected: true },
])('a migration $name', ({ others, expected }) => {
  expect(isNext(own, [own, ...others])).toBe(expected);
});

let cluster: TestCluster;
beforeAll(async () => {
  const flags = ['--feature-gates=StorageVersionMigrator=true', '--runtime-config=storagemigration.k8s.io/v1beta1=true'];
  cluster = await startTestCluster({ controllers: ['storage-version-migrator-controller'], flags });
});
afterAll(() => cluster[Symbol.asyncDispose]());

const merge = { 'content-type': 'application/merge-patch+json' };
async function ask<T = KubeObject>(path: string, init: object = {}): Promise<T> {
  return (await (await cluster.fetch(path, init)).json()) as T;
}

async function migrated(name: string, resource: object): Promise<StorageVersionMigration> {
  const path = '/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations';
  await ask(path, { body: { metadata: { name }, spec: { resource } } });
  return vi.waitFor(async () => {
    const found = await ask<StorageVersionMigration>(`${path}/${name}`);
    expect(found.status?.conditions?.find(({ type }) => type === 'Running')?.status).toBe('False');
    return found;
  });
}

it('stores custom resources in the storage version, and forgets the former one', async () => {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const versions = (storage: string): object[] => ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === storage, schema }));
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' };
  const spec = { group: 'example.com', scope: 'Namespaced', names, versions: versions('v1') };
  await ask(definitions, { body: { metadata: { name: 'things.example.com' }, spec } });
  const things = '/apis/example.com/v1/namespaces/default/things';
  const before = await vi.waitFor(async () => {
    const made = await cluster.fetch(things, { body: { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 't' } } });
    expect(made.status).toBe(201);
    return (await made.json()) as KubeObject;
  });
  await ask(`${definitions}/things.example.com`, { method: 'PATCH', headers: merge, body: { spec: { versions: versions('v2') } } });
  const { status } = await migrated('things', { group: 'example.com', resource: 'things' });
  expect(status?.conditions?.map(({ type, status: state, reason }) => [type, state, reason])).toEqual([
    ['Running', 'False', 'MigrationCompleted'],
    ['Succeeded', 'True', 'StorageVersionMigrationSucceeded'],
  ]);
  expect(Number(status?.resourceVersion)).toBeGreaterThan(0);
  const definition = await ask(`${definitions}/things.example.com`);
  expect(definition['status']).toMatchObject({ storedVersions: ['v2'] });
  expect(definition['status']).toMatchObject({
    conditions: expect.arrayContaining([
      expect.objectContaining({ type: 'StorageMigrating', status: 'False', reason: 'MigrationSucceeded' }),
    ]),
  });
  const after = await ask(`${things}/t`);
  expect(Number(after.metadata.resourceVersion)).toBeGreaterThan(Number(before.metadata.resourceVersion));
});

it('leaves objects alone whose stored form does not change', async () => {
  const made = await ask('/api/v1/namespaces/default/configmaps', { body: { metadata: { name: 'c' } } });
  const { status } = await migrated('configmaps', { resource: 'configmaps' });
  expect(status?.conditions?.at(-1)).toMatchObject({ type: 'Succeeded' });
  expect((await ask('/api/v1/namespaces/default/configmaps/c')).metadata.resourceVersion).toBe(made.metadata.resourceVersion);
});

it('fails for a resource that cannot be written', async () => {
  const { status } = await migrated('statuses', { resource: 'componentstatuses' });
  expect(status?.conditions?.at(-1)).toMatchObject({
    type: 'Failed',
    reason: 'StorageVersionMigrationFailed',
    message: 'resource "/v1, Resource=componentstatuses" does not support discovery operations: [update patch list]',
  });
});
