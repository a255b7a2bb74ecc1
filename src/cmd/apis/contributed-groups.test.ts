import { expect, it } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { AdmissionPlugin } from '#apiserver/admission/admission-plugin';
import type { Attributes } from '#apiserver/admission/attributes';
import { forbidden } from '#apiserver/admission/forbidden';
import { apiGroup, type ContributedGroupOptions, type ContributedResource } from '#apiserver/registry/contributed-group';
import { type Informer, Informers } from '#apiserver/registry/informers';
import { inject } from '#sdk/index';
import { startTestCluster, type TestCluster } from '#testing/start-test-cluster';

const schema = { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } };
const widgets: ContributedResource = { kind: 'Widget', resource: 'widgets', versions: [{ name: 'v1', schema }] };
const group = (more: Partial<ContributedGroupOptions> = {}): ReturnType<typeof apiGroup> =>
  apiGroup({ name: 'Widgets', group: 'w.example.com', resources: [widgets], ...more });
const widget = (name: string): object => ({ apiVersion: 'w.example.com/v1', kind: 'Widget', metadata: { name }, spec: { size: 1 } });
const path = '/apis/w.example.com/v1/namespaces/default/widgets';

it.each([
  {
    name: 'a built-in group',
    plugins: [group({ group: 'apps' })],
    says: 'plugin Widgets: API group apps already exists',
  },
  {
    name: 'a group that two packages add',
    plugins: [group(), group({ name: 'More' })],
    says: 'plugin More: API group w.example.com already exists',
  },
  {
    name: 'a schema that is not structural',
    plugins: [group({ resources: [{ ...widgets, versions: [{ name: 'v1', schema: { properties: { spec: {} } } }] }] })],
    says: 'plugin Widgets: resource widgets: spec.validation.openAPIV3Schema.properties[spec].type: Required value',
  },
  {
    name: 'an unknown storage version',
    plugins: [group({ resources: [{ ...widgets, storageVersion: 'v2' }] })],
    says: 'plugin Widgets: resource widgets: storageVersion must be one of versions',
  },
  {
    name: 'a protected group of Kubernetes',
    plugins: [group({ group: 'w.k8s.io' })],
    says: 'protected groups must have approval annotation',
  },
])('refuses $name', async ({ plugins, says }) => {
  await expect(startTestCluster({ plugins })).rejects.toThrow(says);
});

const status = async (cluster: TestCluster, ...args: Parameters<TestCluster['fetch']>): Promise<number> =>
  (await cluster.fetch(...args)).status;

it('a definition of the same name neither serves nor deletes its objects', async () => {
  await using cluster = await startTestCluster({ plugins: [group()] });
  expect(await status(cluster, path, { body: widget('a') })).toBe(201);
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const definition = {
    metadata: { name: 'widgets.w.example.com' },
    spec: {
      group: 'w.example.com',
      scope: 'Namespaced',
      names: { kind: 'Widget', plural: 'widgets' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  };
  expect(await status(cluster, definitions, { body: definition })).toBe(201);
  await expect.poll(() => status(cluster, `${path}?fieldValidation=Strict`, { body: { ...widget('b'), color: 'red' } })).toBe(400);
  const one = `${definitions}/widgets.w.example.com`;
  expect(await status(cluster, one, { method: 'DELETE' })).toBe(200);
  await expect.poll(() => status(cluster, one)).toBe(404);
  expect(await status(cluster, `${path}/a`)).toBe(200);
});

@AdmissionPlugin({ name: 'OnlyOne', match: [{ groups: ['w.example.com'], resources: ['widgets'], operations: ['CREATE'] }] })
class OnlyOne {
  readonly #widgets: Informer<KubeObject>;

  constructor(@inject(Informers) informers: Informers) {
    this.#widgets = informers.for({ group: 'w.example.com', resource: 'widgets' });
  }

  validate(request: Attributes): void {
    if (this.#widgets.list().length > 0) throw forbidden(request, 'there is one already');
  }
}

it('admission plugins see its objects through informers', async () => {
  await using cluster = await startTestCluster({ plugins: [OnlyOne, group()], objects: [widget('a') as KubeObject] });
  expect(await status(cluster, path, { body: widget('b') })).toBe(403);
});
