import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ResourceConfig } from '#apiserver/server/resource-config';
import { startTestCluster, type TestCluster } from '#testing/index';
import { apiGroup, defineResource, type JsonSchemaProps, type KubeObject } from 'kubenest/sdk';
import type { Json } from './custom-kinds.ts';
import { HttpsClient } from './https-client.ts';

interface Widget extends KubeObject {
  spec: { size: number };
  approval?: { by?: string; granted?: boolean };
}
interface Estimate extends KubeObject {
  spec: { size: number; currency?: string };
  status?: { price: string; for: string };
}
interface Restart extends KubeObject {
  reason?: string;
  accepted?: string;
}

const size: JsonSchemaProps = { type: 'integer', minimum: 1 };
const object = (properties: Record<string, JsonSchemaProps>, required: string[] = []): JsonSchemaProps => ({
  type: 'object',
  properties,
  required,
});

const widgets = defineResource<Widget>({
  kind: 'Widget',
  resource: 'widgets',
  versions: ['v1', 'v1alpha1'].map((name) => ({
    name,
    schema: object({ spec: object({ size }), approval: object({ by: { type: 'string' }, granted: { type: 'boolean' } }) }),
  })),
  status: true,
  subresources: {
    approval: {
      fields: ['approval'],
      strategy: {
        prepareForUpdate(widget, _, { user }) {
          if (widget.approval) widget.approval.by = user.name;
        },
      },
    },
    restart: {
      kind: 'WidgetRestart',
      schema: object({ reason: { type: 'string', default: 'none' }, accepted: { type: 'string' } }),
      create: (sent: Restart, widget, { user, dryRun }) => ({
        ...sent,
        accepted: `${user.name} ${widget.metadata.name} ${widget.spec.size} ${dryRun}`,
      }),
    },
  },
});
const estimates = defineResource<Estimate>({
  kind: 'Estimate',
  resource: 'estimates',
  versions: [
    {
      name: 'v1',
      schema: object(
        {
          spec: object({ size, currency: { type: 'string', default: 'EUR' } }, ['size']),
          status: object({ price: { type: 'string' }, for: { type: 'string' } }),
        },
        ['spec'],
      ),
    },
  ],
  create: (sent, { user }) => ({ ...sent, status: { price: `${sent.spec.size * 7} ${sent.spec.currency}`, for: user.name } }),
});
const shop = apiGroup({ name: 'Shop', group: 'shop.example.com', resources: [widgets, estimates] });

const path = '/apis/shop.example.com/v1/namespaces/default';
const widget = (name: string, more: object = {}): Json => ({
  apiVersion: 'shop.example.com/v1',
  kind: 'Widget',
  metadata: { name },
  spec: { size: 3 },
  ...more,
});
const estimate = (spec: object): Json => ({ apiVersion: 'shop.example.com/v1', kind: 'Estimate', spec });

let cluster: TestCluster;
let client: HttpsClient;
beforeAll(async () => {
  cluster = await startTestCluster({ listen: true, plugins: [shop], users: [{ name: 'jane' }] });
  client = new HttpsClient(cluster);
});
afterAll(async () => {
  client[Symbol.dispose]();
  await cluster[Symbol.asyncDispose]();
});

it('appears in discovery and OpenAPI', async () => {
  const { body } = await client.call('GET', '/apis/shop.example.com/v1');
  const found = body.resources.map(({ name, kind, verbs }: Json) => `${name} ${kind} ${verbs.join()}`);
  const all = 'create,delete,deletecollection,get,list,patch,update,watch';
  expect(found.map((line: string) => line.replace(/delete,deletecollection,get,list,patch,create,update,watch/, all)).sort()).toEqual([
    'estimates Estimate create',
    `widgets Widget ${all}`,
    'widgets/approval Widget get,patch,update',
    'widgets/restart WidgetRestart create',
    'widgets/status Widget get,patch,update',
  ]);
  const { body: document } = await client.call('GET', '/openapi/v3/apis/shop.example.com/v1');
  const { body: swagger } = await client.call('GET', '/openapi/v2');
  expect(Object.keys(swagger.definitions as Json)).toContain('com.example.shop.v1.WidgetRestart');
  const schemas = Object.keys(document.components.schemas as Json).filter((name) => name.startsWith('com.example.shop'));
  expect(schemas.map((name) => name.split('.').at(-1))).toEqual(['Estimate', 'Widget', 'WidgetList', 'WidgetRestart']);
  const paths = Object.entries(document.paths as Json).map(
    ([at, item]) => `${at.split('/').slice(6).join('/')} ${Object.keys(item as Json).join()}`,
  );
  expect(paths.filter((line) => line.startsWith('estimates'))).toEqual(['estimates post,parameters']);
  expect(paths).toContain('widgets/{name}/restart post,parameters');
});

describe('a virtual resource', () => {
  it('is answered and not stored', async () => {
    const { status, body } = await client.call('POST', `${path}/estimates`, estimate({ size: 2 }));
    expect(body).toMatchObject({
      apiVersion: 'shop.example.com/v1',
      kind: 'Estimate',
      metadata: { namespace: 'default' },
      spec: { size: 2, currency: 'EUR' },
      status: { price: '14 EUR', for: 'admin' },
    });
    expect(status).toBe(201);
  });

  it.each([
    [
      'an object that violates the schema',
      'POST',
      estimate({ size: 0 }),
      422,
      /spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1$/,
    ],
    ['an object that lacks a required field', 'POST', estimate({}), 422, /spec.size: Required value$/],
    ['another kind', 'POST', widget('w'), 422, /kind: Invalid value: "Widget": must be Estimate/],
    ['a list', 'GET', undefined, 405, /does not allow this method/],
  ])('rejects %s', async (_, method, body, status, says) => {
    const answer = await client.call(method, `${path}/estimates`, body);
    expect(answer.body.message).toMatch(says);
    expect(answer.status).toBe(status);
  });

  it('requires permission to create and is subject to policies', async () => {
    expect((await client.call('POST', `${path}/estimates`, estimate({ size: 1 }), 'jane')).status).toBe(403);
    const registration = '/apis/admissionregistration.k8s.io/v1';
    const resourceRules = [
      { apiGroups: ['shop.example.com'], apiVersions: ['*'], operations: ['CREATE'], resources: ['estimates', 'widgets/restart'] },
    ];
    const validations = [{ expression: "has(object.spec) ? object.spec.size < 9 : object.reason != 'never'", message: 'no' }];
    await client.call('POST', `${registration}/validatingadmissionpolicies`, {
      metadata: { name: 'p' },
      spec: { matchConstraints: { resourceRules }, validations },
    });
    await client.call('POST', `${registration}/validatingadmissionpolicybindings`, {
      metadata: { name: 'p' },
      spec: { policyName: 'p', validationActions: ['Deny'] },
    });
    expect((await client.call('POST', `${path}/estimates`, estimate({ size: 9 }))).body.message).toMatch(/denied request: no$/);
    expect((await client.call('POST', `${path}/estimates`, estimate({ size: 8 }))).status).toBe(201);
  });
});

describe('subresources', () => {
  it('with fields are the only way to write these fields', async () => {
    const { body: created } = await client.call('POST', `${path}/widgets`, widget('fields', { approval: { granted: true } }));
    expect(created).not.toHaveProperty('approval');
    const { body: patched } = await client.call('PATCH', `${path}/widgets/fields`, { approval: { granted: true }, spec: { size: 4 } });
    expect(patched).toMatchObject({ spec: { size: 4 }, metadata: { generation: 2 } });
    expect(patched).not.toHaveProperty('approval');
    const change = { approval: { granted: true }, spec: { size: 5 }, metadata: { labels: { a: 'b' } } };
    const { status, body: approved } = await client.call('PATCH', `${path}/widgets/fields/approval`, change);
    expect(status).toBe(200);
    expect(approved).toMatchObject({ spec: { size: 4 }, approval: { granted: true, by: 'admin' }, metadata: { generation: 2 } });
    expect(approved.metadata).not.toHaveProperty('labels');
    const wrong = await client.call('PATCH', `${path}/widgets/fields/approval`, { approval: { granted: 'yes' } });
    expect(wrong.status).toBe(422);
    const { body: updated } = await client.call('PUT', `${path}/widgets/fields`, { ...widget('fields'), metadata: approved.metadata });
    expect(updated).toMatchObject({ spec: { size: 3 }, approval: { granted: true, by: 'admin' } });
  });

  it('with their own kind act on the object', async () => {
    await client.call('POST', `${path}/widgets`, widget('acting'));
    const restart = { apiVersion: 'shop.example.com/v1', kind: 'WidgetRestart' };
    const { status, body } = await client.call('POST', `${path}/widgets/acting/restart`, restart);
    expect(body).toMatchObject({ ...restart, reason: 'none', accepted: 'admin acting 3 false' });
    expect(status).toBe(201);
    expect((await client.call('POST', `${path}/widgets/acting/restart?dryRun=All`, restart)).body.accepted).toBe('admin acting 3 true');
    expect((await client.call('POST', `${path}/widgets/acting/restart`, { ...restart, reason: 7 })).status).toBe(422);
    expect((await client.call('POST', `${path}/widgets/acting/restart`, { ...restart, reason: 'never' })).body.message).toMatch(
      /denied request: no$/,
    );
    expect((await client.call('POST', `${path}/widgets/none/restart`, restart)).body.message).toBe(
      'widgets.shop.example.com "none" not found',
    );
    expect((await client.call('GET', `${path}/widgets/acting/restart`)).status).toBe(405);
  });

  it('have permissions of their own', async () => {
    const wrong = defineResource({ ...widgets, subresources: { status: { fields: ['approval'] } } });
    const group = apiGroup({ name: 'Wrong', group: 'shop.example.com', resources: [wrong] });
    await expect(startTestCluster({ plugins: [group] })).rejects.toThrow(
      /plugin Wrong: resource widgets: subresource "status" must be a unique DNS label/,
    );
  });
});

it('is served according to --runtime-config', async () => {
  const off = ['shop.example.com/v1alpha1', 'shop.example.com/v1/estimates'];
  const resourceConfig = new ResourceConfig(new Map(off.map((key) => [key, 'false'])));
  await using some = await startTestCluster({ plugins: [shop], config: { resourceConfig } });
  const group = (await (await some.fetch('/apis/shop.example.com')).json()) as Json;
  expect(group.versions.map(({ version }: Json) => version)).toEqual(['v1']);
  expect((await some.fetch('/apis/shop.example.com/v1alpha1/namespaces/default/widgets')).status).toBe(404);
  expect((await some.fetch(`${path}/estimates`, { body: estimate({ size: 1 }) })).status).toBe(404);
  expect((await some.fetch(`${path}/widgets`, { body: widget('w') })).status).toBe(201);
  await using none = await startTestCluster({
    plugins: [shop],
    config: {
      resourceConfig: new ResourceConfig(
        new Map([
          ['shop.example.com/v1', 'false'],
          ['shop.example.com/v1alpha1', 'false'],
        ]),
      ),
    },
  });
  const { groups } = (await (await none.fetch('/apis')).json()) as Json;
  expect(groups.map(({ name }: Json) => name)).not.toContain('shop.example.com');
});
