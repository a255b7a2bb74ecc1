import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startTestCluster } from '#testing/index';
import { customKinds, type Json, kind, widget } from './custom-kinds.ts';

const cluster = await startTestCluster();
const { call, define } = customKinds(cluster);
afterAll(() => cluster[Symbol.asyncDispose]());

const widgets = kind(
  { type: 'object', properties: { replicas: { type: 'integer' }, name: { type: 'string' } } },
  { subresources: scaled() },
);

function scaled(): Json {
  return { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } };
}

beforeAll(async () => {
  await define(widgets);
  await call(widgets.path(), { body: widget(widgets, 'a', { spec: { replicas: 2 } }) });
});

/** Upstream: apiextensions-apiserver/pkg/apiserver/customresource_handler.go. */
describe('a request for a custom resource', () => {
  const root = `/apis/${widgets.group}/v1`;
  const notFound = { text: '404 page not found\n' };
  const unsupported = (verb: string): Json => ({
    message: `${verb} is not supported on resources of kind "widgets.${widgets.group}"`,
    reason: 'MethodNotAllowed',
  });
  const nameless = { message: 'name must be provided', reason: 'BadRequest' };
  it.each<[string, string, string, number, Json]>([
    ['to create without a namespace', 'POST', `${root}/widgets`, 404, notFound],
    ['to delete in all namespaces', 'DELETE', `${root}/widgets`, 404, notFound],
    ['for an object without its namespace', 'GET', `${root}/widgets/a`, 404, notFound],
    ['in a version that is not served', 'GET', `/apis/${widgets.group}/v2/widgets`, 404, notFound],
    ['for the resources of an unknown version', 'GET', `/apis/${widgets.group}/v2`, 404, notFound],
    ['to create a status', 'POST', `${widgets.path()}/a/status`, 405, unsupported('create')],
    ['to delete a scale', 'DELETE', `${widgets.path()}/a/scale`, 405, unsupported('delete')],
    ['to update a missing object', 'PUT', widgets.path(), 400, nameless],
    ['to patch a missing object', 'PATCH', widgets.path(), 400, nameless],
    ["to create at an object's path", 'POST', `${widgets.path()}/b?dryRun=All`, 201, { metadata: { name: 'b' } }],
  ])('%s', async (_, method, path, code, body) => {
    const sent = method === 'GET' || method === 'DELETE' ? {} : { body: widget(widgets, 'b') };
    const headers = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {};
    const answer = await call(path, { method, headers, ...sent });
    expect(answer.code).toBe(code);
    expect(answer.body).toMatchObject(body);
  });

  it('for its headers', async () => {
    expect((await call(`${widgets.path()}/a`, { method: 'HEAD' })).code).toBe(200);
  });

  it('for its metadata as those of a list', async () => {
    const accept = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
    const { code, body } = await call(`${widgets.path()}/a`, { headers: { accept } });
    expect([code, body['message']]).toEqual([500, 'content is not a list']);
  });

  it.each([
    ['of another version', { apiVersion: 'v1' }],
    ['with a wrong value', { spec: { replicas: 'x' } }],
  ])('for a Scale %s', async (_, wrong) => {
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a' }, spec: { replicas: 2 }, ...wrong };
    const { code, body } = await call(`${widgets.path()}/a/scale`, { method: 'PUT', body: scale });
    expect([code, body['message']]).toEqual([400, 'no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"']);
  });

  it('for its Scale as a table', async () => {
    const { body } = await call(`${widgets.path()}/a/scale`, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } });
    expect((body['columnDefinitions'] as Json[]).map(({ name }) => name as string)).toEqual(['Name', 'Desired', 'Available', 'Age']);
    expect((body['rows'] as Json[])[0]?.['cells'].slice(0, 3)).toEqual(['a', 2, 0]);
  });
});

describe('a deprecated version without subresources', () => {
  const old = kind({ type: 'object' }, { deprecated: true, deprecationWarning: 'old one' });
  beforeAll(() => define(old));
  it.each([
    ['an unknown subresource', 'GET', '/a/status', 404],
    ['an unsupported verb', 'POST', '/a/scale', 404],
    ['a missing name', 'PUT', '', 400],
    ['a list', 'GET', '', 200],
  ])('warns of %s', async (_, method, path, code) => {
    const answer = await call(`${old.path()}${path}`, { method, ...(method !== 'GET' && { body: {} }) });
    expect([answer.code, answer.warnings]).toEqual([code, '299 - "old one"']);
  });
});

describe('the managed fields of a custom resource', () => {
  const listed = kind(
    {
      type: 'object',
      properties: {
        replicas: { type: 'integer' },
        lists: {
          type: 'array',
          'x-kubernetes-list-type': 'set',
          items: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'atomic' },
        },
      },
    },
    { subresources: { status: {} } },
  );
  const merge = { 'content-type': 'application/merge-patch+json' };
  const patch = async (path: string, body: Json) =>
    (await call(path, { method: 'PATCH', headers: merge, body })).body as { metadata: { managedFields?: unknown } };
  beforeAll(async () => {
    await define(listed);
    await call(listed.path(), { body: widget(listed, 'a', { spec: { replicas: 2 } }) });
  });

  it('are not reset by an empty list, unlike those of a built-in resource', async () => {
    const { metadata } = await patch(`${listed.path()}/a?dryRun=All`, { metadata: { managedFields: [] } });
    expect(metadata.managedFields).toHaveLength(1);
    expect((await patch(`${listed.path()}/a?dryRun=All`, { metadata: { managedFields: [{}] } })).metadata.managedFields).toBeUndefined();
  });

  it.each<[string, Json]>([
    ['another kind', { kind: 'Other' }],
    ['a mistyped spec', { spec: { replicas: 'x' } }],
  ])('are lost by an update of the status with %s', async (_, body) => {
    expect((await patch(`${listed.path()}/a/status?dryRun=All`, body)).metadata.managedFields).toBeUndefined();
    expect((await patch(`${listed.path()}/a/status?dryRun=All`, {})).metadata.managedFields).toHaveLength(1);
  });

  it('cannot be made for an untracked object that its type does not allow', async () => {
    const body = widget(listed, 'l', { spec: { lists: [['a'], ['b']] } });
    await call(listed.path(), { body });
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    const answer = await call(`${listed.path()}/l?fieldManager=m`, { method: 'PATCH', headers, body: widget(listed, 'l') });
    expect([answer.code, answer.body['message']]).toEqual([
      500,
      `failed to create manager for existing fields: failed to convert new object (default/l; ${listed.group}/v1, Kind=Widget) to smd typed: .spec.lists: element 0: not supported: associative list with lists as elements`,
    ]);
  });
});

describe('an applied configuration', () => {
  const formatted = kind({
    type: 'object',
    properties: { address: { type: 'string', format: 'cidr' }, any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  });
  beforeAll(() => define(formatted));
  it.each<[string, Json, number, string]>([
    ['a number for a string with a format', { address: 5 }, 422, 'spec.address in body must be of type cidr: "int64"'],
    ['a list for an object of any fields', { any: ['x'] }, 500, '.spec.any: expected map, got &{[x]}'],
  ])('with %s is rejected', async (_, spec, code, message) => {
    const answer = await call(`${formatted.path()}/a?fieldManager=m`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: widget(formatted, 'a', { spec }),
    });
    expect([answer.code, answer.body['message']]).toEqual([code, expect.stringContaining(message)]);
  });
});

describe('a custom resource', () => {
  const ruled = kind({ type: 'object', 'x-kubernetes-validations': [{ rule: 'self.a != "q"' }], properties: { a: { type: 'string' } } });
  beforeAll(() => define(ruled));

  it('without a name is reported with rules that were not evaluated', async () => {
    const { body } = await call(ruled.path(), {
      body: { apiVersion: `${ruled.group}/v1`, kind: 'Widget', metadata: {}, spec: { a: 'b' } },
    });
    expect(body['message']).toContain(
      'name or generateName is required, <nil>: Invalid value: null: some validation rules were not checked',
    );
  });

  it('with dependents is accepted for foreground deletion', async () => {
    const held = widget(ruled, 'held', { spec: { a: 'b' } });
    await call(ruled.path(), { body: { ...held, metadata: { name: 'held', finalizers: ['a/b'] } } });
    const answer = await call(`${ruled.path()}/held`, { method: 'DELETE', body: { orphanDependents: false } });
    expect(answer.code).toBe(202);
  });
});

describe('a document that cannot be decoded', () => {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const wrongItems = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { a: { type: 'array', items: { minimum: 'x' } } } } },
  };
  const problem =
    'json: cannot unmarshal string into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.properties.items.minimum of type float64';

  it('lists all fields around a nested schema of a new definition', async () => {
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: wrongItems } }];
    const body = { metadata: { name: 'xs.other.dev' }, spec: { group: 'other.dev', names: { plural: 'xs', kind: 'X' }, versions } };
    const answer = await call(path, { body: { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', ...body } });
    expect([answer.code, answer.body['message']]).toEqual([
      400,
      `CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: ${problem}`,
    ]);
  });

  it('is an invalid patch if a definition is patched', async () => {
    const body = [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema', value: wrongItems }];
    const headers = { 'content-type': 'application/json-patch+json' };
    const answer = await call(`${path}/widgets.${widgets.group}`, { method: 'PATCH', headers, body });
    expect([answer.code, answer.body['message']]).toEqual([422, expect.stringMatching(`"minimum.*${problem}$`)]);
  });

  it.each<[string, string, unknown, string, string]>([
    ['the patch as it was sent', 'json-patch', [{ op: 'add', path: '/data', value: { k: 1.5 } }], '"data\\":{\\"k\\":1.5}', 'number'],
    ['the first of the errors by its key', 'merge-patch', { kind: 'ConfigMap', immutable: 'x', data: 5 }, '', 'number'],
  ])('is reported with %s', async (_, type, body, shown, word) => {
    const maps = '/api/v1/namespaces/default/configmaps';
    await call(maps, { body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' } } });
    const answer = await call(`${maps}/m`, {
      method: 'PATCH',
      headers: { 'content-type': `application/${type}+json` },
      body: body as Json,
    });
    expect([answer.code, answer.body['message']]).toEqual([422, expect.stringContaining(shown)]);
    expect(answer.body['message']).toContain(`cannot unmarshal ${word} into`);
  });
});

describe('discovery', () => {
  it('lists the status before the scale', async () => {
    const { body } = await call(`/apis/${widgets.group}/v1`);
    expect((body['resources'] as Json[]).map(({ name }) => name as string)).toEqual(['widgets', 'widgets/status', 'widgets/scale']);
  });

  it('makes the merged list cacheable', async () => {
    const response = await cluster.fetch('/apis', {
      headers: { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' },
    });
    expect(response.headers.get('cache-control')).toBe('public');
  });
});

describe('YAML with a duplicate key', () => {
  const yaml = `apiVersion: ${widgets.group}/v1\nkind: Widget\nmetadata:\n  name: doc\nspec:\n  name: a\n  name: b\n  other: 1\n`;
  const send = (mode: string) =>
    call(`${widgets.path()}?dryRun=All&fieldValidation=${mode}`, { headers: { 'content-type': 'application/yaml' }, body: yaml });

  it('is reported with its line', async () => {
    const { code, warnings } = await send('Warn');
    expect([code, warnings]).toEqual([201, '299 - "line 7: key \\"name\\" already set in map", 299 - "unknown field \\"spec.other\\""']);
  });

  it('is rejected with all lines', async () => {
    const { body } = await send('Strict');
    expect(body['message']).toBe(
      'Widget in version "v1" cannot be handled as a Widget: strict decoding error: yaml: unmarshal errors:\n  line 7: key "name" already set in map, unknown field "spec.other"',
    );
  });
});

describe('documents', () => {
  it('order schemas like kube-openapi', async () => {
    const spec = {
      type: 'object',
      properties: {
        port: { 'x-kubernetes-int-or-string': true },
        object: { type: 'object', nullable: true, 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-map-type': 'granular' },
        embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: { type: 'object' } } },
      },
    };
    const shown = kind(spec);
    await define(shown);
    // The document follows the definition.
    const { body } = await vi.waitFor(async () => {
      const document = await call(`/openapi/v3/apis/${shown.group}/v1`);
      expect(document.code).toBe(200);
      return document;
    });
    const model = `${shown.group.split('.').reverse().join('.')}.v1.Widget`;
    const { port, object, embedded } = body['components']['schemas'][model].properties.spec.properties as Record<string, Json>;
    expect(Object.keys(port!)).toEqual(['anyOf', 'x-kubernetes-int-or-string']);
    expect(Object.keys(object!)).toEqual(['type', 'nullable', 'x-kubernetes-map-type', 'x-kubernetes-preserve-unknown-fields']);
    expect(Object.keys(embedded!)).toEqual(['type', 'required', 'properties', 'x-kubernetes-embedded-resource']);
    expect(Object.keys(embedded!['properties'] as Json)).toEqual(['apiVersion', 'kind', 'metadata', 'spec']);
    const kinds = body['components']['schemas']['io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions']['x-kubernetes-group-version-kind'];
    expect((kinds as Json[]).map(({ group }) => group as string)).not.toContain('apiextensions.k8s.io');
  });
});
