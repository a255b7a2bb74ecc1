import { Buffer } from 'node:buffer';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { startTestCluster, type TestCluster } from '#testing/index';

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const partial = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

interface Meta {
  readonly name: string;
  readonly annotations?: Record<string, string>;
}
interface List {
  readonly items: readonly { readonly kind?: string; readonly metadata: Meta }[];
}
interface Table {
  readonly columnDefinitions: readonly { readonly name: string }[];
  readonly rows: readonly {
    readonly cells: readonly unknown[];
    readonly object: { readonly kind: string; readonly metadata: Meta } | null;
  }[];
}

const configMaps = '/api/v1/namespaces/default/configmaps';

describe('forms of a list', () => {
  let cluster: TestCluster;
  const names = ['a', 'b', 'c'];
  const annotations = { 'example.com/json': '{"metadata":{"a":"}"}}', 'example.com/slash': 'ends with \\', quote: 'ä"}{' };
  beforeAll(async () => {
    cluster = await startTestCluster();
    for (const name of names) {
      const metadata = { name, annotations };
      expect((await cluster.fetch(configMaps, { body: { metadata, data: { k: name } } })).status).toBe(201);
    }
    const later = '/api/v1/namespaces/kube-public/configmaps';
    expect((await cluster.fetch(later, { body: { metadata: { name: 'later' } } })).status).toBe(201);
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  async function list<T>(path: string, accept: string): Promise<T> {
    return (await (await cluster.fetch(path, { headers: { accept } })).json()) as T;
  }

  it('have the metadata of the objects', async () => {
    const whole = await list<List>(configMaps, 'application/json');
    const metadata = whole.items.map((item) => item.metadata);
    expect(metadata).toMatchObject(names.map((name) => ({ name, annotations })));
    expect((await list<List>(configMaps, partial)).items.map((item) => item.metadata)).toEqual(metadata);
    expect((await list<Table>(configMaps, table)).rows.map(({ object }) => object?.metadata)).toEqual(metadata);
  });

  it('have rows without annotations that are fields of internal objects', async () => {
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const path = '/apis/apps/v1/namespaces/default/daemonsets';
    const body = { metadata: { name: 'd', annotations: { x: 'y' } }, spec: { selector: { matchLabels: { a: 'b' } }, template } };
    expect((await cluster.fetch(path, { body })).status).toBe(201);
    const annotationsOf = async (asked: string): Promise<unknown> =>
      (await list<Table>(asked, table)).rows[0]?.object?.metadata.annotations;
    expect(await annotationsOf(path)).toEqual({ x: 'y' });
    expect(await annotationsOf(`${path}/d`)).toEqual({ x: 'y' });
  });

  it.each([
    { includeObject: 'None', kind: undefined },
    { includeObject: 'Metadata', kind: 'PartialObjectMetadata' },
    { includeObject: 'Object', kind: 'ConfigMap' },
  ])('have rows with includeObject=$includeObject', async ({ includeObject, kind }) => {
    const { columnDefinitions, rows } = await list<Table>(`${configMaps}?includeObject=${includeObject}`, table);
    expect(columnDefinitions.map(({ name }) => name)).toEqual(['Name', 'Data', 'Age']);
    expect(rows.map(({ cells: [name, data] }) => [name, data])).toEqual(names.map((name) => [name, 1]));
    expect(rows.map(({ object }) => object?.kind)).toEqual([kind, kind, kind]);
  });

  it('recompute ages every second', async () => {
    const ages = async () => (await list<Table>(configMaps, table)).rows.map(({ cells }) => Number.parseInt(cells[2] as string, 10));
    const before = await ages();
    expect(before).toHaveLength(3);
    await expect.poll(async () => (await ages()).every((age, i) => age > before[i]!), { timeout: 10_000 }).toBe(true);
  });

  it('have the metadata of the internal object in all versions of a group, also where one uses annotations', async () => {
    const path = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
    const resource = { name: 'memory', target: { type: 'Utilization', averageUtilization: 50 } };
    const spec = {
      scaleTargetRef: { kind: 'Deployment', name: 'x', apiVersion: 'apps/v1' },
      maxReplicas: 2,
      metrics: [{ type: 'Resource', resource }],
    };
    expect((await cluster.fetch(path('v2'), { body: { metadata: { name: 'h' }, spec } })).status).toBe(201);
    const annotationsOf = async (version: string) => (await list<List>(path(version), partial)).items[0]?.metadata.annotations;
    expect([await annotationsOf('v2'), await annotationsOf('v1')]).toEqual([undefined, undefined]);
  });

  it.each([
    { size: 'small', bytes: 100, encoding: null },
    { size: 'middling', bytes: 30_000, encoding: null },
    { size: 'large', bytes: 300_000, encoding: 'gzip' },
  ])('with $size size are compressed: $encoding', async ({ size, bytes, encoding }) => {
    const body = { metadata: { name: size, labels: { size } }, data: { text: 'lorem '.repeat(bytes / 6) } };
    const created = await cluster.fetch('/api/v1/namespaces/kube-public/configmaps', { body });
    expect(created.status).toBe(201);
    // At one revision: other writes, such as those of leases, give the newest list another one.
    const { resourceVersion } = ((await created.json()) as KubeObject).metadata;
    const path = `/api/v1/namespaces/kube-public/configmaps?labelSelector=size=${size}&resourceVersionMatch=Exact&resourceVersion=${resourceVersion}`;
    const plain = await (await cluster.fetch(path)).text();
    const answer = await cluster.fetch(path, { headers: { 'accept-encoding': 'gzip' } });
    expect(answer.headers.get('content-encoding')).toBe(encoding);
    const received = Buffer.from(await answer.arrayBuffer());
    expect((encoding ? gunzipSync(received) : received).toString()).toBe(plain);
    expect(plain).toContain('lorem');
  });

  it.each([
    { selects: 'a name', path: `${configMaps}?fieldSelector=metadata.name=a&limit=1`, found: ['a'] },
    { selects: 'a name that does not exist', path: `${configMaps}?fieldSelector=metadata.name=none&limit=1`, found: [] },
    { selects: 'a name of a version', path: `${configMaps}?fieldSelector=metadata.name=a&limit=1&resourceVersion=1`, found: ['a'] },
    {
      selects: 'a namespace, whose last object is not the last of all',
      path: '/api/v1/namespaces?fieldSelector=metadata.name=default&limit=1',
      found: ['default'],
    },
    {
      selects: 'a name in a namespace, of the lists of all',
      path: '/api/v1/configmaps?fieldSelector=metadata.namespace=default,metadata.name=c&limit=1',
      found: ['c'],
    },
    {
      selects: 'the objects of a namespace, of the lists of all',
      path: '/api/v1/configmaps?fieldSelector=metadata.namespace=default&limit=3',
      found: ['a', 'b', 'c'],
    },
  ])('have no continue token after the last object of a selector: $selects', async ({ path, found }) => {
    const answer = await list<List & { readonly metadata: { readonly continue?: string } }>(path, 'application/json');
    expect(answer.items.map(({ metadata }) => metadata.name)).toEqual(found);
    expect(answer.metadata.continue).toBeUndefined();
  });
});
