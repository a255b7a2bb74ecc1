import { startTestCluster, type TestCluster } from 'kubenest/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { platform } from './environments.ts';
import { EnvironmentExpiry } from './expiry.ts';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster({ plugins: [platform, EnvironmentExpiry] });
});
afterAll(() => cluster[Symbol.asyncDispose]());

const path = (version = 'v1', name = ''): string =>
  `/apis/platform.example.com/${version}/namespaces/default/environments${name && `/${name}`}`;
const environment = (name: string, spec: object, version = 'v1'): object => ({
  apiVersion: `platform.example.com/${version}`,
  kind: 'Environment',
  metadata: { name },
  spec,
});

interface Answer {
  readonly status: number;
  readonly warning: string | null;
  readonly body: Record<string, unknown>;
}
async function ask(...args: Parameters<TestCluster['fetch']>): Promise<Answer> {
  const response = await cluster.fetch(...args);
  return { status: response.status, warning: response.headers.get('warning'), body: (await response.json()) as Answer['body'] };
}

it.each([
  { name: 'a small environment', spec: { owner: 'a' }, status: 201, says: { spec: { owner: 'a', tier: 'small', days: 14 } } },
  { name: 'a missing owner', spec: {}, status: 422, says: { message: /spec\.owner: Required value/ } },
  { name: 'an unknown tier', spec: { owner: 'a', tier: 'huge' }, status: 422, says: { message: /spec\.tier: Unsupported value: "huge"/ } },
  {
    name: 'a large environment for many days',
    spec: { owner: 'a', tier: 'large', days: 31 },
    status: 422,
    says: { message: /spec\.days: Invalid value: .*a large environment lasts 30 days at most/ },
  },
  { name: 'an unknown field', spec: { owner: 'a', color: 'red' }, status: 400, says: { message: /unknown field "spec\.color"/ } },
])('$name gets $status', async ({ name, spec, status, says }) => {
  const answer = await ask(`${path()}?dryRun=All&fieldValidation=Strict`, { body: environment(name.replaceAll(' ', '-'), spec) });
  expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  for (const [member, want] of Object.entries(says)) {
    if (want instanceof RegExp) expect(answer.body[member]).toMatch(want);
    else expect(answer.body[member]).toEqual(want);
  }
});

describe('an existing environment', () => {
  beforeAll(async () => {
    const created = await ask(path(), { body: environment('shop', { owner: 'shop', days: 61 }) });
    expect(created).toMatchObject({ status: 201, warning: expect.stringMatching(/more than 60 days/) });
    expect(created.body).not.toHaveProperty('status');
  });

  it('has a status from the controller', async () => {
    const { body } = await vi.waitFor(async () => {
      const answer = await ask(path('v1', 'shop'));
      expect(answer.body).toHaveProperty('status');
      return answer;
    });
    expect(body['status']).toEqual({ phase: 'Active', expires: expect.stringMatching(/^\d{4}-.*Z$/) });
    expect(body['metadata']).toMatchObject({ generation: 1 });
  });

  it('is served in the deprecated version, with a warning', async () => {
    const { body, warning } = await ask(path('v1alpha1', 'shop'));
    expect(body).toMatchObject({ apiVersion: 'platform.example.com/v1alpha1', spec: { team: 'shop', tier: 'small', days: 61 } });
    expect(warning).toMatch(/v1alpha1 Environment is deprecated/);
  });

  it('can be printed as a table row', async () => {
    const { body } = await ask(path(), { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } });
    const { columnDefinitions, rows } = body as { columnDefinitions: { name: string }[]; rows: { cells: unknown[] }[] };
    expect(columnDefinitions.map(({ name }) => name)).toEqual(['Name', 'Tier', 'Phase', 'Expires', 'Age']);
    expect(rows[0]?.cells.slice(0, 2)).toEqual(['shop', 'small']);
  });

  it.each([
    { selector: 'spec.tier=small', count: 1 },
    { selector: 'spec.tier=large', count: 0 },
  ])('is found by $selector: $count', async ({ selector, count }) => {
    const { body } = await ask(`${path()}?fieldSelector=${selector}`);
    expect(body['items']).toHaveLength(count);
  });

  it('has managed fields', async () => {
    const apply = (manager: string, spec: object): Promise<Answer> =>
      ask(`${path('v1', 'shop')}?fieldManager=${manager}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/apply-patch+yaml' },
        body: environment('shop', spec),
      });
    expect(await apply('a', { owner: 'shop', days: 20 })).toMatchObject({ status: 409 });
    expect(await apply('b', { owner: 'shop' })).toMatchObject({ status: 200, body: { spec: { days: 61 } } });
  });
});

it('appears in discovery and OpenAPI and has an APIService', async () => {
  const list = await ask('/apis/platform.example.com/v1');
  expect(list.body['resources']).toMatchObject([
    { name: 'environments', singularName: 'environment', kind: 'Environment', shortNames: ['env'], categories: ['all'] },
    { name: 'environments/status' },
  ]);
  expect((await ask('/apis/platform.example.com')).body).toMatchObject({
    preferredVersion: { version: 'v1' },
    versions: [{ version: 'v1' }, { version: 'v1alpha1' }],
  });
  const openApi = await ask('/openapi/v3/apis/platform.example.com/v1');
  expect(openApi.body).toHaveProperty(['components', 'schemas', 'com.example.platform.v1.Environment', 'properties', 'spec']);
  const services = await ask('/apis/apiregistration.k8s.io/v1/apiservices/v1.platform.example.com');
  expect(services.status).toBe(200);
});
