import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';
import type { Json } from './custom-kinds.ts';
import { HttpsClient } from './https-client.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const text = { type: 'string' };

let cluster: TestCluster;
let client: HttpsClient;
beforeAll(async () => {
  cluster = await startTestCluster({ listen: true });
  client = new HttpsClient(cluster);
});
afterAll(async () => {
  client[Symbol.dispose]();
  await cluster[Symbol.asyncDispose]();
});

interface Version {
  readonly name: string;
  readonly served?: boolean;
  readonly storage?: boolean;
  readonly schema: Json;
  readonly subresources?: Json;
}

const versionOf = ({ name, served = true, storage = false, schema, subresources }: Version): Json => ({
  name,
  served,
  storage,
  schema: { openAPIV3Schema: { type: 'object', properties: schema } },
  ...(subresources && { subresources }),
});

/**
 * Creates a definition in its own group and waits until its versions are served. Returns the path of its objects by version.
 */
async function define(group: string, versions: readonly Version[]): Promise<(version: string) => string> {
  const names = { plural: 'ws', kind: 'W' };
  const spec = { group, scope: 'Namespaced', names, versions: versions.map(versionOf) };
  const { status } = await client.call('POST', definitions, { metadata: { name: `ws.${group}` }, spec });
  expect(status).toBe(201);
  const path = (version: string): string => `/apis/${group}/${version}/namespaces/default/ws`;
  for (const { name, served = true } of versions) if (served) await until(async () => (await statusOf(path(name))) === 200);
  return path;
}

/** A version that is not served has a plain text response. */
const statusOf = async (path: string): Promise<number> => (await cluster.fetch(path)).status;

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  await expect.poll(isTrue, { timeout: 10_000 }).toBe(true);
}

const object = (group: string, version: string, name: string, more: Json): Json => ({
  apiVersion: `${group}/${version}`,
  kind: 'W',
  metadata: { name },
  ...more,
});

async function apply(path: string, body: Json): Promise<{ status: number; body: Json }> {
  const headers = { 'content-type': 'application/apply-patch+yaml' };
  const response = await cluster.fetch(`${path}/${body.metadata.name}?fieldManager=applier&force=true`, { method: 'PATCH', headers, body });
  return { status: response.status, body: (await response.json()) as Json };
}

// Recorded from kube-apiserver: conversion that renames the version keeps the nulls that an apply or the removal of fields leaves.
describe('server-side apply in another version', () => {
  const group = 'nulls.example.com';
  it('keeps nulls, and refuses those that the schema does not allow', async () => {
    const map = { type: 'object', additionalProperties: { type: 'object', properties: { x: text, y: text } } };
    const schema = { spec: { type: 'object', properties: { none: { ...text, nullable: true }, map } } };
    const path = await define(group, [
      { name: 'v1', storage: true, schema },
      { name: 'v2', schema },
    ]);
    await apply(path('v1'), object(group, 'v1', 'a', { spec: { none: 'x', map: { a: { x: '1' } } } }));
    const { body } = await apply(path('v2'), object(group, 'v2', 'a', { spec: { none: null, map: { a: { x: '1' } } } }));
    expect(body.spec).toEqual({ none: null, map: { a: { x: '1' } } });
    const emptied = await apply(path('v1'), object(group, 'v1', 'a', { spec: { map: { a: {} } } }));
    expect([emptied.status, emptied.body.message]).toEqual([
      422,
      `W.${group} "a" is invalid: spec.map.a: Invalid value: "null": spec.map.a in body must be of type object: "null"`,
    ]);
  });
});

// Recorded from kube-apiserver: a write through the object takes its status from the managers of other versions, and does not store it.
it('a change of the status that is not stored is one for the managers of other versions', async () => {
  const group = 'reset.example.com';
  const schema = { status: { type: 'object', properties: { s: text, t: text } } };
  const subresources = { status: {} };
  const path = await define(group, [
    { name: 'v1', storage: true, schema, subresources },
    { name: 'v2', schema, subresources },
  ]);
  await apply(path('v1'), object(group, 'v1', 'a', {}));
  const headers = { 'content-type': 'application/apply-patch+yaml' };
  const body = object(group, 'v2', 'a', { status: { s: '1', t: '1' } });
  await cluster.fetch(`${path('v2')}/a/status?fieldManager=m`, { method: 'PATCH', headers, body });
  const merge = { 'content-type': 'application/merge-patch+json' };
  const response = await cluster.fetch(`${path('v1')}/a`, { method: 'PATCH', headers: merge, body: { status: { s: '2' } } });
  const { status, metadata } = (await response.json()) as Json;
  expect(status).toEqual({ s: '1', t: '1' });
  expect(metadata.managedFields).toEqual([expect.objectContaining({ manager: 'm', fieldsV1: { 'f:status': { 'f:t': {} } } })]);
});

// Recorded from kube-apiserver: what was stored before the schema has no managed fields from the next write on, and cannot be applied to.
it('an object with a mistyped field is not tracked', async () => {
  const group = 'mistyped.example.com';
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const path = await define(group, [{ name: 'v1', storage: true, schema: { spec: open } }]);
  await client.call('POST', path('v1'), object(group, 'v1', 'a', { spec: { list: 'none' } }));
  const list = { type: 'array', items: text };
  const [version] = [{ name: 'v1', storage: true, schema: { spec: { type: 'object', properties: { list } } } }].map(versionOf);
  const merge = { 'content-type': 'application/merge-patch+json' };
  const patched = async (at: string, body: Json): Promise<Json> =>
    (await (await cluster.fetch(at, { method: 'PATCH', headers: merge, body })).json()) as Json;
  await patched(`${definitions}/ws.${group}`, { spec: { versions: [version] } });
  await until(async () => (await patched(`${path('v1')}/a`, { metadata: { labels: { a: '1' } } })).metadata.managedFields === undefined);
  const applied = await apply(path('v1'), object(group, 'v1', 'a', { spec: { list: ['x'] } }));
  expect([applied.status, applied.body.message]).toEqual([
    500,
    `failed to create manager for existing fields: failed to convert new object (default/a; ${group}/v1, Kind=W) to smd typed: .spec.list: expected list, got &{none}`,
  ]);
});

describe('an object with fields managed in a removed version', () => {
  const group = 'gone.example.com';
  const versions = (served: boolean, storage: boolean): Version[] => [
    { name: 'v1', served, storage, schema: { spec: { type: 'object', properties: { a: text } } } },
    { name: 'v2', storage: !storage, schema: { spec: { type: 'object', properties: { a: text } } } },
  ];

  it('can be updated and deleted while the version is not served and after its removal', async () => {
    const path = await define(group, versions(true, true));
    await client.call(
      'POST',
      path('v1'),
      object(group, 'v1', 'x', { spec: { a: '1' }, metadata: { name: 'x', finalizers: ['example.com/f'] } }),
    );
    await client.call('PATCH', `${definitions}/ws.${group}`, { spec: { versions: versions(false, false).map(versionOf) } });
    await until(async () => (await statusOf(path('v1'))) === 404);

    const unserved = await client.call('PATCH', `${path('v2')}/x`, { spec: { a: '2' } });
    expect(unserved.status).toBe(200);
    expect(unserved.body.metadata.managedFields.map(({ apiVersion }: Json) => apiVersion).sort()).toEqual([`${group}/v1`, `${group}/v2`]);

    await client.call('PATCH', `${definitions}/ws.${group}/status`, { status: { storedVersions: ['v2'] } });
    await client.call('PATCH', `${definitions}/ws.${group}`, { spec: { versions: versions(false, false).slice(1).map(versionOf) } });
    await until(
      async () => (await client.call('PATCH', `${path('v2')}/x`, { spec: { a: '3' } })).body.metadata.managedFields === undefined,
    );

    await client.call('DELETE', `${path('v2')}/x`);
    expect((await client.call('PATCH', `${path('v2')}/x`, { metadata: { finalizers: null } })).status).toBe(200);
    expect(await statusOf(`${path('v2')}/x`)).toBe(404);
  });

  it.each([
    [
      'autoscaling/v2beta2',
      '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
      { maxReplicas: 1, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'D', name: 'd' } },
    ],
    ['policy/v1beta1', '/apis/policy/v1/namespaces/default/poddisruptionbudgets', { minAvailable: 1 }],
  ])('can be created by a restore if its kind is built in (%s)', async (apiVersion, path, spec) => {
    const managedFields = [{ manager: 'kubectl', operation: 'Update', apiVersion, fieldsType: 'FieldsV1', fieldsV1: { 'f:spec': {} } }];
    expect((await client.call('POST', path, { metadata: { name: 'restored', managedFields }, spec })).status).toBe(201);
  });
});

describe('versions without conversion', () => {
  const group = 'two.example.com';

  it('are also pruned and defaulted by the schema of the stored version', async () => {
    const path = await define(group, [
      { name: 'v1', storage: true, schema: { spec: { type: 'object', properties: { a: text, d: { type: 'integer', default: 15 } } } } },
      { name: 'v2', schema: { spec: { type: 'object', properties: { a: text, b: text } } } },
    ]);
    const created = await client.call('POST', path('v2'), object(group, 'v2', 'a', { spec: { a: '1', b: '2' } }));
    expect(created.body.spec).toEqual({ a: '1' });
    expect((await client.call('GET', `${path('v1')}/a`)).body.spec).toEqual({ a: '1', d: 15 });
    const dryRun = await client.call('POST', `${path('v2')}?dryRun=All`, object(group, 'v2', 'b', { spec: { a: '1', b: '2' } }));
    expect(dryRun.body.spec).toEqual({ a: '1' });
  });
});

describe('a document of another version', () => {
  const group = 'other.example.com';
  const unknown = (...fields: string[]): string => fields.map((field) => `299 - "unknown field \\"${field}\\""`).join(', ');

  it('is pruned by the schema of that version before its version is refused; one of another group by none', async () => {
    const path = await define(group, [
      { name: 'v1', storage: true, schema: { spec: { type: 'object', properties: { a: text } } } },
      { name: 'v2', served: false, schema: { spec: { type: 'object', properties: { b: text } } } },
    ]);
    await client.call('POST', path('v1'), object(group, 'v1', 'x', { spec: { a: '1' } }));
    const call = async (method: string, apiVersion: string, more: object = {}): Promise<[number, string | null, string]> => {
      const headers = { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' };
      const body = { ...object(group, 'v1', 'x', { spec: { a: '1', b: '2' } }), apiVersion, ...more };
      const response = await cluster.fetch(`${path('v1')}/x`, { method, headers, body });
      return [response.status, response.headers.get('warning'), ((await response.json()) as { message: string }).message];
    };
    const wants = `does not match the expected API version (${group}/v1)`;
    const invalid = `W.${group} "x" is invalid: apiVersion: Invalid value: "${group}/v9": must be ${group}/v1`;
    for (const [apiVersion, warning] of [
      [`${group}/v2`, unknown('spec.a')],
      [`${group}/v9`, unknown('spec')],
      ['other/v1', null],
    ] as const)
      expect(await call('PUT', apiVersion)).toEqual([400, warning, `the API version in the data (${apiVersion}) ${wants}`]);
    expect(await call('PATCH', `${group}/v9`)).toEqual([422, unknown('spec'), invalid]);
    expect(await call('PATCH', `${group}/`)).toEqual([
      500,
      unknown('spec'),
      "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'",
    ]);
    expect((await call('PUT', `${group}/v9`, { kind: 'X' }))[1]).toBeNull();
  });
});

describe('a new object', () => {
  const group = 'new.example.com';

  it('gets the default of its status, which a create cannot set', async () => {
    const status = { type: 'object', default: { phase: 'Waiting' }, properties: { phase: text } };
    const path = await define(group, [{ name: 'v1', storage: true, schema: { status }, subresources: { status: {} } }]);
    const created = await client.call('POST', path('v1'), object(group, 'v1', 'a', { status: { phase: 'Sent' } }));
    expect(created.body.status).toEqual({ phase: 'Waiting' });
    expect((await client.call('GET', `${path('v1')}/a`)).body.status).toEqual({ phase: 'Waiting' });
  });
});

describe('an apply', () => {
  it('is pruned if the schema declares no properties, and null values that it does not allow are dropped', async () => {
    const group = 'applied.example.com';
    const any = { 'x-kubernetes-preserve-unknown-fields': true };
    const path = await define(group, [
      { name: 'v1', storage: true, schema: { spec: { type: 'object' }, any: { type: 'object', properties: { any } } } },
    ]);
    const applied = await apply(path('v1'), object(group, 'v1', 'a', { spec: { x: 1 }, any: { any: null } }));
    expect([applied.status, applied.body.spec, applied.body.any]).toEqual([201, {}, {}]);
  });

  it('that changes only the managers sets no defaults', async () => {
    const group = 'applied-default.example.com';
    const spec = (properties: Json): Json => ({ spec: { type: 'object', properties: { a: text, ...properties } } });
    const path = await define(group, [
      { name: 'v1', storage: true, schema: spec({}) },
      { name: 'v2', schema: spec({ c: { type: 'string', default: 'x' } }) },
    ]);
    await client.call('POST', path('v1'), object(group, 'v1', 'a', { spec: { a: '1' } }));
    const applied = await apply(path('v2'), object(group, 'v2', 'a', { spec: { a: '1' } }));
    expect([applied.status, applied.body.metadata.generation, applied.body.spec]).toEqual([200, 1, { a: '1' }]);
  });

  it('requires a name in its body', async () => {
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    const path = '/api/v1/namespaces/default/configmaps/nameless?fieldManager=applier';
    const response = await cluster.fetch(path, { method: 'PATCH', headers, body: { apiVersion: 'v1', kind: 'ConfigMap' } });
    expect(await response.json()).toMatchObject({
      code: 400,
      message: 'the name of the object (nameless based on URL) was undeterminable: name must be provided',
    });
  });

  it('changes nothing for an EndpointSlice without endpoints', async () => {
    const path = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
    const slice = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata: { name: 'empty' }, addressType: 'IPv4' };
    expect((await client.call('POST', path, slice)).body.endpoints).toBeNull();
    expect((await apply(path, slice)).status).toBe(200);
  });
});

it('a patch with unchanged endpoints of a slice leaves them to their manager', async () => {
  const path = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
  const endpoints = [{ addresses: ['10.1.2.3'] }];
  await client.call('POST', `${path}?fieldManager=creator`, { metadata: { name: 'owned' }, addressType: 'IPv4', endpoints });
  const patched = await client.call('PATCH', `${path}/owned?fieldManager=patcher`, { metadata: { labels: { a: 'b' } }, endpoints });
  const owner = patched.body.metadata.managedFields.find(({ fieldsV1 }: Json) => 'f:endpoints' in fieldsV1);
  expect(owner.manager).toBe('creator');
});
