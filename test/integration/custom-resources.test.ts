import { afterAll, describe, expect, it } from 'vitest';
import { startTestCluster } from '#testing/index';
import { customKinds, type Json, kind, type Kind, open, patch, sized, widget } from './custom-kinds.ts';

const cluster = await startTestCluster();
const { call, eventually, define, definitions } = customKinds(cluster);
afterAll(() => cluster[Symbol.asyncDispose]());

describe('a defined kind', () => {
  it('is served, appears in discovery, and disappears with its definition', async () => {
    const widgets = kind(sized, {}, { names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'], categories: ['all'] } });
    await define(widgets);
    expect((await call(widgets.path(), { body: widget(widgets, 'a', { spec: { size: 1 } }) })).code).toBe(201);
    const { body: resources } = await call(`/apis/${widgets.group}/v1`);
    expect(resources['resources']).toMatchObject([
      { name: 'widgets', singularName: 'widget', kind: 'Widget', shortNames: ['wd'], categories: ['all'] },
    ]);
    expect((await call(`${definitions}/${widgets.name}`, { method: 'DELETE' })).body).toMatchObject({
      metadata: { finalizers: ['customresourcecleanup.apiextensions.k8s.io'] },
    });
    await eventually(`${definitions}/${widgets.name}`, ({ code }) => code === 404);
    expect((await eventually(widgets.path(), ({ code }) => code === 404)).body).toEqual({ text: '404 page not found\n' });
    expect((await eventually(`/apis/${widgets.group}`, ({ code }) => code === 404)).code).toBe(404);
  });

  it('can be recreated with another scope, without the old objects', async () => {
    const widgets = kind(open);
    await define(widgets);
    await call(widgets.path(), { body: widget(widgets, 'old') });
    await call(`${definitions}/${widgets.name}`, { method: 'DELETE' });
    await eventually(`${definitions}/${widgets.name}`, ({ code }) => code === 404);
    const atCluster = { ...widgets, spec: { ...widgets.spec, scope: 'Cluster' }, path: () => `/apis/${widgets.group}/v1/widgets` };
    await define(atCluster);
    expect((await call(atCluster.path())).body['items']).toEqual([]);
    expect((await call(widgets.path())).code).toBe(404);
    expect((await call(atCluster.path(), { body: widget(widgets, 'new') })).body['metadata']['namespace']).toBeUndefined();
  });

  it('waits for the finalizers of its objects', async () => {
    const widgets = kind(open);
    await define(widgets);
    const held = widget(widgets, 'held');
    await call(widgets.path(), { body: { ...held, metadata: { name: 'held', finalizers: ['test.dev/hold'] } } });
    await call(`${definitions}/${widgets.name}`, { method: 'DELETE' });
    await eventually(`${widgets.path()}/held`, ({ body }) => body['metadata']?.['deletionTimestamp'] !== undefined);
    const { code, body } = await call(widgets.path(), { body: widget(widgets, 'late') });
    expect([code, body['message']]).toEqual([
      403,
      `widgets.${widgets.group} "late" is forbidden: create not allowed while custom resource definition is terminating`,
    ]);
    await call(`${widgets.path()}/held`, patch('merge', { metadata: { finalizers: null } }));
    expect((await eventually(`${definitions}/${widgets.name}`, (answer) => answer.code === 404)).code).toBe(404);
  });
});

describe('a change of a definition', () => {
  it('applies to the next request and to stored objects, and ends watches', async () => {
    const widgets = kind(open);
    await define(widgets);
    await call(widgets.path(), { body: widget(widgets, 'a', { spec: { size: 0, extra: true } }) });
    const watch = await cluster.fetch(`${widgets.path()}?watch=1`);
    const { body: definition } = await call(`${definitions}/${widgets.name}`);
    const withDefault = {
      type: 'object',
      properties: { size: { type: 'integer', minimum: 1 }, mode: { type: 'string', default: 'auto' } },
    };
    definition['spec']['versions'][0]['schema']['openAPIV3Schema']['properties']['spec'] = withDefault;
    expect((await call(`${definitions}/${widgets.name}`, { method: 'PUT', body: definition })).code).toBe(200);
    expect((await call(`${widgets.path()}/a`)).body['spec']).toEqual({ size: 0, mode: 'auto' });
    // Existing violations may stay, new ones are rejected.
    expect((await call(`${widgets.path()}/a`, patch('merge', { metadata: { labels: { x: 'y' } } }))).code).toBe(200);
    expect((await call(`${widgets.path()}/a`, patch('merge', { spec: { size: -1 } }))).code).toBe(422);
    expect((await watch.text()).split('\n').filter(Boolean)).toHaveLength(1);
  });

  it('is rejected if it concerns names or scope', async () => {
    const widgets = kind(open);
    await define(widgets);
    const answer = await call(`${definitions}/${widgets.name}`, patch('merge', { spec: { scope: 'Cluster', names: { kind: 'Gadget' } } }));
    expect(answer.body['details']['causes'].map(({ field }: Json) => field as string)).toEqual(['spec.scope', 'spec.names.kind']);
  });
});

describe('versions without conversion', () => {
  const schema = (properties: Json): Json => ({
    openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } },
  });
  const twoVersions = (): Kind =>
    kind(
      {},
      {},
      {
        versions: [
          { name: 'v1', served: true, storage: true, schema: schema({ a: { type: 'string' }, b: { type: 'string', default: 'one' } }) },
          { name: 'v2', served: true, storage: false, schema: schema({ a: { type: 'string' }, b: { type: 'string', default: 'two' } }) },
        ],
      },
    );

  it('return the same object with their own schemas', async () => {
    const widgets = twoVersions();
    await define(widgets);
    const created = await call(widgets.path('v2'), { body: widget(widgets, 'a', { spec: { a: 'x' } }, 'v2') });
    expect(created.body).toMatchObject({ apiVersion: `${widgets.group}/v2`, spec: { a: 'x', b: 'two' } });
    expect((await call(`${widgets.path('v1')}/a`)).body).toMatchObject({ apiVersion: `${widgets.group}/v1`, spec: { a: 'x', b: 'two' } });
    expect((await call(widgets.path('v2'))).body['items']).toMatchObject([{ apiVersion: `${widgets.group}/v2` }]);
    const patched = await call(`${widgets.path('v2')}/a`, patch('merge', { spec: { a: 'y' } }));
    expect(patched.body).toMatchObject({ apiVersion: `${widgets.group}/v2`, metadata: { generation: 2 }, spec: { a: 'y' } });
  });

  it('are rewritten by a write without changes when the storage version changes', async () => {
    const widgets = twoVersions();
    await define(widgets);
    const { body: created } = await call(widgets.path('v1'), { body: widget(widgets, 'a', { spec: { a: 'x' } }) });
    const { body: definition } = await call(`${definitions}/${widgets.name}`);
    for (const version of definition['spec']['versions'] as Json[]) version['storage'] = version['name'] === 'v2';
    const { body: changed } = await call(`${definitions}/${widgets.name}`, { method: 'PUT', body: definition });
    expect(changed['status']['storedVersions']).toEqual(['v1', 'v2']);
    const { body: same } = await call(`${widgets.path('v1')}/a`, { method: 'PUT', body: created });
    expect(same['metadata']['resourceVersion']).not.toBe(created['metadata']['resourceVersion']);
    const { body: again } = await call(`${widgets.path('v1')}/a`, { method: 'PUT', body: same });
    expect(again['metadata']['resourceVersion']).toBe(same['metadata']['resourceVersion']);
  });
});
