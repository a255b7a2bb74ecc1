import { describe, expect, it } from 'vitest';
import { newConflict } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import { FakeCluster } from '#sdk/testing/fake-cluster';
import { createOrUpdate } from './create-or-update.ts';

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
const configMap = (data: Record<string, string>): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'shop', name: 'a' },
  data,
});
const setB = ({ data }: ConfigMap): void => {
  if (data) data['b'] = '2';
};

describe('createOrUpdate', () => {
  it.each([
    { name: 'creates a missing object', present: undefined, outcome: 'created', data: { a: '1', b: '2' }, writes: ['create'] },
    { name: 'keeps what the change leaves alone', present: { c: '3' }, outcome: 'updated', data: { b: '2', c: '3' }, writes: ['update'] },
    { name: 'writes no unchanged object', present: { b: '2' }, outcome: 'unchanged', data: { b: '2' }, writes: [] },
  ])('$name', async ({ present, outcome, data, writes }) => {
    const cluster = new FakeCluster(present && { configmaps: [configMap(present as Record<string, string>)] });
    const initial = configMap({ a: '1' });
    const result = await createOrUpdate(cluster, configMaps, initial, setB);
    expect([result.outcome, result.object.data]).toEqual([outcome, data]);
    expect(cluster.writes.map(({ verb }) => verb)).toEqual(writes);
    expect(initial).toEqual(configMap({ a: '1' }));
  });

  it('passes on an error of the client', async () => {
    class Conflicting extends FakeCluster {
      override async create<T extends KubeObject>(): Promise<T> {
        throw newConflict(configMaps, 'a', 'no');
      }
    }
    await expect(createOrUpdate(new Conflicting(), configMaps, configMap({}), setB)).rejects.toThrow('no');
  });

  it('refuses a change of the name', async () => {
    const rename = ({ metadata }: ConfigMap): void => {
      metadata.name = 'b';
    };
    await expect(createOrUpdate(new FakeCluster(), configMaps, configMap({}), rename)).rejects.toThrow('changes its name');
  });
});
