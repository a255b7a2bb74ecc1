import { newDefinition } from '#apiextensions-apiserver/testing/new-definition';
import { startTestCluster, type TestCluster } from 'kubenest/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster({ controllers: ['garbage-collector-controller'] });
});
afterAll(() => cluster[Symbol.asyncDispose]());

interface Stored {
  readonly metadata: { readonly uid: string; readonly name: string; readonly ownerReferences?: unknown[]; readonly finalizers?: string[] };
}
interface Owner {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly blockOwnerDeletion?: boolean;
}
const configMaps = '/api/v1/namespaces/default/configmaps';
const secrets = '/api/v1/namespaces/default/secrets';
const create = async (path: string, body: object): Promise<Stored> => {
  const response = await cluster.fetch(path, { body });
  const stored = (await response.json()) as Stored;
  expect(response.status, JSON.stringify(stored)).toBe(201);
  return stored;
};
const owned = (
  name: string,
  owners: readonly Stored[],
  { apiVersion = 'v1', kind = 'ConfigMap', blockOwnerDeletion }: Owner = {},
): object => ({
  metadata: {
    name,
    ownerReferences: owners.map(({ metadata }) => ({ apiVersion, kind, name: metadata.name, uid: metadata.uid, blockOwnerDeletion })),
  },
});
const remove = (path: string, propagationPolicy: string): Promise<Response> =>
  cluster.fetch(`${path}?propagationPolicy=${propagationPolicy}`, { method: 'DELETE' });
const statusOf = async (path: string): Promise<number> => (await cluster.fetch(path)).status;
const gone = (path: string): Promise<void> => vi.waitFor(async () => expect(await statusOf(path), path).toBe(404));
const get = async (path: string): Promise<Stored> => (await (await cluster.fetch(path)).json()) as Stored;

it('deletes the dependents of a deleted object, and theirs', async () => {
  const a = await create(configMaps, { metadata: { name: 'bg-a' } });
  const b = await create(configMaps, owned('bg-b', [a]));
  await create(secrets, owned('bg-c', [b]));
  await remove(`${configMaps}/bg-a`, 'Background');
  await gone(`${configMaps}/bg-b`);
  await gone(`${secrets}/bg-c`);
});

it('deletes an object that is created with an owner that does not exist', async () => {
  await create(configMaps, owned('no-owner', [{ metadata: { name: 'x', uid: '7fd9a0b9-0000-4000-8000-000000000000' } }]));
  await gone(`${configMaps}/no-owner`);
});

it('keeps an object with another owner, without the reference to the deleted one', async () => {
  const [a, b] = [await create(configMaps, { metadata: { name: 'two-a' } }), await create(configMaps, { metadata: { name: 'two-b' } })];
  await create(configMaps, owned('two-c', [a, b]));
  await remove(`${configMaps}/two-a`, 'Background');
  await vi.waitFor(async () => expect((await get(`${configMaps}/two-c`)).metadata.ownerReferences).toMatchObject([{ name: 'two-b' }]));
});

it('deletes in the foreground: the owner remains until the dependents that block it are gone', async () => {
  const a = await create(configMaps, { metadata: { name: 'fg-a' } });
  const held = owned('fg-b', [a], { blockOwnerDeletion: true }) as { metadata: object };
  await create(configMaps, { metadata: { ...held.metadata, finalizers: ['example.com/hold'] } });
  await create(configMaps, owned('fg-c', [a]));
  await remove(`${configMaps}/fg-a`, 'Foreground');
  await gone(`${configMaps}/fg-c`);
  expect((await get(`${configMaps}/fg-a`)).metadata.finalizers).toEqual(['foregroundDeletion']);
  const headers = { 'content-type': 'application/merge-patch+json' };
  await cluster.fetch(`${configMaps}/fg-b`, { method: 'PATCH', headers, body: { metadata: { finalizers: null } } });
  await gone(`${configMaps}/fg-a`);
});

it('orphans dependents', async () => {
  const a = await create(configMaps, { metadata: { name: 'or-a' } });
  await create(configMaps, owned('or-b', [a]));
  await remove(`${configMaps}/or-a`, 'Orphan');
  await gone(`${configMaps}/or-a`);
  expect((await get(`${configMaps}/or-b`)).metadata.ownerReferences).toBeUndefined();
});

it('orphans the dependents of an object that changes meanwhile', async () => {
  const a = await create(configMaps, { metadata: { name: 'busy-a' } });
  for (let index = 0; index < 10; index += 1) await create(configMaps, owned(`busy-b-${index}`, [a]));
  await remove(`${configMaps}/busy-a`, 'Orphan');
  const headers = { 'content-type': 'application/merge-patch+json' };
  for (let index = 0; index < 100; index += 1)
    await cluster.fetch(`${configMaps}/busy-a`, { method: 'PATCH', headers, body: { metadata: { labels: { index: String(index) } } } });
  await gone(`${configMaps}/busy-a`);
  expect((await get(`${configMaps}/busy-b-0`)).metadata.ownerReferences).toBeUndefined();
});

it('deletes a circle in the foreground', async () => {
  const a = await create(configMaps, { metadata: { name: 'ci-a' } });
  const b = await create(configMaps, owned('ci-b', [a], { blockOwnerDeletion: true }));
  const headers = { 'content-type': 'application/merge-patch+json' };
  await cluster.fetch(`${configMaps}/ci-a`, { method: 'PATCH', headers, body: owned('ci-a', [b], { blockOwnerDeletion: true }) });
  await remove(`${configMaps}/ci-a`, 'Foreground');
  await gone(`${configMaps}/ci-a`);
  await gone(`${configMaps}/ci-b`);
});

it('does not find an owner in another namespace, and reports it', async () => {
  await cluster.fetch('/api/v1/namespaces', { body: { metadata: { name: 'other' } } });
  const owner = await create(configMaps, { metadata: { name: 'far' } });
  await create('/api/v1/namespaces/other/configmaps', owned('near', [owner]));
  await gone('/api/v1/namespaces/other/configmaps/near');
  const event = await vi.waitFor(async () => {
    const { items } = (await (await cluster.fetch('/api/v1/namespaces/other/events')).json()) as {
      items: { message: string; reason: string }[];
    };
    expect(items).toHaveLength(1);
    return items[0];
  });
  expect(event).toMatchObject({
    reason: 'OwnerRefInvalidNamespace',
    message: `ownerRef [v1/ConfigMap, namespace: other, name: far, uid: ${owner.metadata.uid}] does not exist in namespace "other"`,
  });
});

describe('custom resources', () => {
  const definition = newDefinition({ kind: 'Widget' });
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const widgets = '/apis/example.com/v1/namespaces/default/widgets';
  const widget = (name: string, owners: readonly Stored[] = []): object => ({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    ...owned(name, owners),
  });

  it.each(['first', 'second'])('are owners and dependents, also after their definition was replaced (%s time)', async (name) => {
    await create(definitions, definition);
    await vi.waitFor(async () => expect(await statusOf(widgets)).toBe(200));
    const a = await create(configMaps, { metadata: { name: `${name}-a` } });
    const w = await create(widgets, widget(`${name}-w`, [a]));
    await create(configMaps, owned(`${name}-b`, [w], { apiVersion: 'example.com/v1', kind: 'Widget' }));
    await remove(`${configMaps}/${name}-a`, 'Background');
    await gone(`${widgets}/${name}-w`);
    await gone(`${configMaps}/${name}-b`);
    await remove(`${definitions}/widgets.example.com`, 'Background');
    await gone(`${definitions}/widgets.example.com`);
  });
});

it('deletes a thousand dependents within a second', async () => {
  const a = await create(configMaps, { metadata: { name: 'many' } });
  for (let i = 0; i < 1_000; i++) await create(configMaps, owned(`many-${i}`, [a]));
  const from = performance.now();
  await remove(`${configMaps}/many`, 'Background');
  await vi.waitFor(
    async () => {
      const { items } = (await (await cluster.fetch(configMaps)).json()) as { items: Stored[] };
      expect(items.filter(({ metadata }) => metadata.name.startsWith('many'))).toEqual([]);
    },
    { interval: 50 },
  );
  expect(performance.now() - from).toBeLessThan(5_000);
});
