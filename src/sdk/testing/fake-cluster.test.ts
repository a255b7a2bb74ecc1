import { ConfigMapStore } from '#apiserver/controllers/key-value-store';
import { isAlreadyExists, isConflict, isNotFound } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import { expect, it } from 'vitest';
import { FakeCluster } from './fake-cluster.ts';

const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
const configMap = (metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'ns', name: 'a', ...metadata },
});

it('has the answers of a server for what exists and what does not', async () => {
  const cluster = new FakeCluster({ configmaps: [configMap()] });
  await expect(cluster.create(configMaps, configMap())).rejects.toSatisfy(isAlreadyExists);
  await expect(cluster.replace(configMaps, configMap({ resourceVersion: '99' }))).rejects.toSatisfy(isConflict);
  await expect(cluster.replace(configMaps, configMap({ name: 'b' }))).rejects.toSatisfy(isNotFound);
  expect(await cluster.remove(configMaps, 'ns', 'b')).toBe(false);
  expect(await cluster.remove(configMaps, 'ns', 'a')).toBe(true);
  expect(cluster.all('configmaps')).toEqual([]);
  expect(cluster.writes).toEqual([{ verb: 'delete', resource: 'configmaps', namespace: 'ns', name: 'a' }]);
});

it('keeps an object that has finalizers until they are removed', async () => {
  const cluster = new FakeCluster({ configmaps: [configMap({ finalizers: ['example.com/hold'] })] });
  await cluster.remove(configMaps, 'ns', 'a');
  expect(cluster.stored('configmaps', 'ns', 'a')?.metadata.deletionTimestamp).toBeDefined();
  await cluster.patch(configMaps, 'ns', 'a', { type: 'merge', patch: { metadata: { finalizers: null } } });
  expect(cluster.stored('configmaps', 'ns', 'a')).toBeUndefined();
});

it('changes the status only through its subresource', async () => {
  const cluster = new FakeCluster();
  await cluster.create(configMaps, configMap());
  await cluster.patch({ ...configMaps, subresource: 'status' }, 'ns', 'a', {
    type: 'merge',
    patch: { status: { phase: 'Active' }, data: { a: '1' } },
  });
  await cluster.update(configMaps, 'ns', 'a', (object) => ({ ...object, status: { phase: 'Other' }, data: { b: '2' } }));
  expect(cluster.stored('configmaps', 'ns', 'a')).toMatchObject({ status: { phase: 'Active' }, data: { b: '2' } });
  expect(cluster.stored('configmaps', 'ns', 'a')).not.toHaveProperty(['data', 'a']);
});

it('reports changes to its informers', async () => {
  const cluster = new FakeCluster({ configmaps: [configMap()] });
  const events: string[] = [];
  cluster.informers.for(configMaps).subscribe((type, { metadata }) => events.push(`${type} ${metadata.name}`));
  await cluster.create(configMaps, configMap({ name: 'b' }));
  await cluster.patch(configMaps, 'ns', 'b', { type: 'merge', patch: { data: { a: '1' } } });
  await cluster.patch(configMaps, 'ns', 'b', { type: 'merge', patch: { data: { a: '1' } } });
  await cluster.remove(configMaps, 'ns', 'a');
  expect(events).toEqual(['ADDED a', 'ADDED b', 'MODIFIED b', 'DELETED a']);
});

it('keeps the state of a controller in a ConfigMap', async () => {
  const cluster = new FakeCluster();
  const store = new ConfigMapStore(cluster, 'x');
  expect(await store.get('a')).toBeUndefined();
  await store.set('a', '1');
  await store.set('b', '2');
  await store.delete('a');
  expect([await store.get('a'), await store.get('b')]).toEqual([undefined, '2']);
  expect(cluster.stored('configmaps', 'kube-system', 'kubenest-state-x')).toMatchObject({ data: { b: '2' } });
});
