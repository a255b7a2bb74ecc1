import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AdmissionPlugin, type Attributes, deny } from 'kubenest/sdk';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { exceptionDefinitions } from '#apiserver/plugins/policy/exception-definitions';
import { traceHeader } from '#apiserver/tracing/request-traces';
import { Contributions } from '#cmd/modules/contributions';
import { explain } from '#cmd/explain/explain';
import { explanationText } from '#cmd/explain/explanation-text';
import { runAudit } from '#cmd/policy-audit/run-audit';
import { startTestCluster, type TestCluster } from '#testing/index';

@AdmissionPlugin({ name: 'Strict', match: [{ resources: ['configmaps', 'namespaces'], operations: ['CREATE', 'UPDATE'] }] })
class Strict {
  validate(request: Attributes): void {
    if (request.object.metadata.labels?.['team'] === undefined) deny(request, 'no team');
  }
}

const packaged = { plugin: Strict, package: '@acme/strict' };
const group = '/apis/policy.kubenest.dev/v1alpha1';
const clusterWide = `${group}/clusterpolicyexceptions`;
const inNamespace = (namespace: string): string => `${group}/namespaces/${namespace}/policyexceptions`;
const maps = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;

/** Returns an exception, with the kind that the path has. */
const named = (path: string, name: string, spec: object): object => ({
  apiVersion: 'policy.kubenest.dev/v1alpha1',
  kind: path === clusterWide ? 'ClusterPolicyException' : 'PolicyException',
  metadata: { name },
  spec: { plugins: ['Strict'], reason: 'TICKET-1', ...spec },
});

function rule(kind: 'Role' | 'ClusterRole', name: string, resources: string[]): KubeObject[] {
  const apiGroup = 'rbac.authorization.k8s.io';
  const metadata = { name, ...(kind === 'Role' && { namespace: 'shop' }) };
  const rules = [
    { apiGroups: ['policy.kubenest.dev'], resources, verbs: ['*'] },
    { apiGroups: [''], resources: ['configmaps', 'namespaces'], verbs: ['*'] },
  ];
  return [
    { apiVersion: `${apiGroup}/v1`, kind, metadata, rules } as unknown as KubeObject,
    {
      apiVersion: `${apiGroup}/v1`,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup, kind, name },
      subjects: [{ kind: 'User', apiGroup, name }],
    } as unknown as KubeObject,
  ];
}

const namespaced = (name: string): KubeObject =>
  ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { team: 'a' } } }) as KubeObject;

function started(more: Partial<Parameters<typeof startTestCluster>[0]> = {}): Promise<TestCluster> {
  return startTestCluster({
    plugins: [packaged],
    users: [{ name: 'lead' }, { name: 'joe' }],
    objects: [
      namespaced('shop'),
      namespaced('other'),
      ...rule('Role', 'lead', ['policyexceptions']),
      ...rule('ClusterRole', 'joe', ['others']),
    ],
    quiet: true,
    ...more,
  });
}

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await started();
});
afterAll(() => cluster[Symbol.asyncDispose]());

let last = 0;

/** Creates a ConfigMap (dry run) and returns the status. */
async function create(namespace: string, metadata: object = {}, as = 'admin'): Promise<number> {
  last += 1;
  const body = { metadata: { name: `map-${last}`, ...metadata } };
  return (await cluster.fetch(`${maps(namespace)}?dryRun=All`, { body, as })).status;
}

/** Stores an exception until disposed. */
async function excepted(path: string, name: string, spec: object): Promise<AsyncDisposable> {
  const response = await cluster.fetch(path, { body: named(path, name, spec) });
  expect(response.status, await response.clone().text()).toBe(201);
  const { metadata } = (await response.json()) as KubeObject;
  return { [Symbol.asyncDispose]: async () => void (await cluster.fetch(`${path}/${metadata.name}`, { method: 'DELETE' })) };
}

it('applies to the next request, and ends when it is deleted', async () => {
  expect(await create('shop')).toBe(403);
  {
    await using _exception = await excepted(inNamespace('shop'), 'all', {});
    expect(await create('shop')).toBe(201);
  }
  expect(await create('shop')).toBe(403);
});

it.each<[spec: object, covered: object, uncovered: object, as?: string]>([
  [{ names: ['web-*'] }, { name: 'web-1' }, { name: 'db-1' }],
  [{ objectSelector: { matchLabels: { app: 'web' } } }, { labels: { app: 'web' } }, { labels: { app: 'db' } }],
  [{ expression: "object.metadata.name == 'web'" }, { name: 'web' }, { name: 'db' }],
  [{ users: ['admin'], names: ['web'] }, { name: 'web' }, { name: 'db' }],
])('criteria %j select requests', async (spec, covered, uncovered) => {
  await using _exception = await excepted(clusterWide, 'some', spec);
  expect([await create('shop', covered), await create('shop', uncovered)]).toEqual([201, 403]);
});

it('users and groups select requests', async () => {
  await using _exception = await excepted(clusterWide, 'users', { users: ['jo*'] });
  expect([await create('shop', {}, 'joe'), await create('shop', {}, 'admin')]).toEqual([201, 403]);
});

it('an exception of a namespace covers neither other namespaces nor the object of its own', async () => {
  await using _exception = await excepted(inNamespace('shop'), 'all', { names: ['*'] });
  expect([await create('shop'), await create('other')]).toEqual([201, 403]);
  const body = { metadata: { labels: { team: null } } };
  const headers = { 'content-type': 'application/merge-patch+json' };
  const patched = await cluster.fetch('/api/v1/namespaces/shop', { method: 'PATCH', body, headers });
  expect(patched.status).toBe(403);
  expect((await cluster.fetch('/api/v1/namespaces', { body: { metadata: { name: 'shop2' } } })).status).toBe(403);
});

it('an exception of the cluster selects namespaces', async () => {
  await using _exception = await excepted(clusterWide, 'other', { namespaces: ['oth*'] });
  expect([await create('shop'), await create('other')]).toEqual([403, 201]);
});

it('only users with a role may write them', async () => {
  const status = async (as: string, path: string, name: string): Promise<number> =>
    (await cluster.fetch(`${path}?dryRun=All`, { body: named(path, name, { names: ['a'] }), as })).status;
  expect(await status('lead', inNamespace('shop'), 'a')).toBe(201);
  expect(await status('lead', inNamespace('other'), 'a')).toBe(403);
  expect(await status('lead', clusterWide, 'a')).toBe(403);
  expect(await status('joe', inNamespace('shop'), 'a')).toBe(403);
  expect(await status('joe', clusterWide, 'a')).toBe(403);
});

it.each<[problem: string, spec: object, message: string, path?: string]>([
  [
    'a built-in plugin',
    { plugins: ['NodeRestriction'] },
    'spec.plugins[0]: Unsupported value: "NodeRestriction": supported values: "Strict"',
  ],
  ['an unknown plugin', { plugins: ['Strict', 'Stric'] }, 'spec.plugins[1]: Unsupported value: "Stric"'],
  ['no plugin', { plugins: [] }, 'spec.plugins: Invalid value: 0'],
  ['no reason', { reason: undefined }, 'spec.reason: Required value'],
  ['an empty reason', { reason: '' }, 'spec.reason: Invalid value: ""'],
  ['a wrong time', { expires: 'tomorrow' }, 'spec.expires: Invalid value: "tomorrow"'],
  ['a wrong expression', { expression: 'objekt.metadata' }, "undeclared reference to 'objekt'"],
  ['an expression that is not a condition', { expression: '1 + 1' }, 'must evaluate to bool'],
  ['a wrong selector', { objectSelector: { matchLabels: { a: '-' } } }, 'spec.objectSelector.matchLabels: Invalid value: "-"'],
  ['no criterion for the whole cluster', {}, 'spec: Required value: must have at least one of namespaces', clusterWide],
])('rejects %s', async (_, spec, message, path = inNamespace('shop')) => {
  const response = await cluster.fetch(path, { body: named(path, 'wrong', spec) });
  expect(response.status).toBe(422);
  expect(((await response.json()) as { message: string }).message).toContain(message);
});

it('a stored exception to a built-in plugin has no effect', async () => {
  await using other = await startTestCluster({ plugins: [Strict, { ...packaged, plugin: Other }], quiet: true });
  expect((await other.fetch(clusterWide, { body: named(clusterWide, 'all', { names: ['*'], plugins: ['Other'] }) })).status).toBe(201);
  const exceptions = other.app.nest.get(Contributions).exceptionObjects;
  // As if the store had been written by other means: the object names a plugin that is not of a package.
  for (const { object } of exceptions?.all ?? []) object.spec.plugins.push('Strict');
  expect((await other.fetch(maps('default'), { body: { metadata: { name: 'a' } } })).status).toBe(403);
});

@AdmissionPlugin({ name: 'Other', match: [{ resources: ['secrets'], operations: ['CREATE'] }] })
class Other {
  validate(): void {}
}

it('the first exception by name applies of several that cover a request, whichever was created first', async () => {
  await using _cluster = await excepted(clusterWide, 'a', { namespaces: ['shop'] });
  await using _later = await excepted(inNamespace('shop'), 'z', {});
  await using _first = await excepted(inNamespace('shop'), 'b', {});
  const headers = { [traceHeader]: '1' };
  const response = await cluster.fetch(`${maps('shop')}?dryRun=All`, { body: { metadata: { name: 'several' } }, headers });
  expect(await (await cluster.fetch(response.headers.get(traceHeader) ?? '')).text()).toContain('(PolicyException shop/b)');
});

it('metrics, traces and /debug/plugins show uses', async () => {
  await using _exception = await excepted(inNamespace('shop'), 'shown', { expires: '2099-01-31T00:00:00Z' });
  const response = await cluster.fetch(maps('shop'), { body: { metadata: { name: 'traced' } }, headers: { [traceHeader]: '1' } });
  expect(response.status).toBe(201);
  const trace = await (await cluster.fetch(response.headers.get(traceHeader) ?? '')).text();
  expect(trace).toContain('"reason":"TICKET-1 (PolicyException shop/shown)"');
  const { plugins } = (await (await cluster.fetch('/debug/plugins')).json()) as { plugins: object[] };
  const shown = { source: 'PolicyException shop/shown', reason: 'TICKET-1', expires: '2099-01-31T00:00:00.000Z', uses: 1 };
  expect(plugins).toEqual([expect.objectContaining({ name: 'Strict', exceptions: [shown] })]);
  const metrics = await (await cluster.fetch('/metrics')).text();
  const labels = 'package="@acme/strict",plugin="Strict",reason="PolicyException",type="validate"';
  expect(metrics).toContain(`kubenest_plugin_exceptions_total{${labels}}`);
});

it('an expired exception does not apply', async () => {
  await using _exception = await excepted(inNamespace('shop'), 'old', { expires: '2020-01-02T00:00:00Z' });
  expect(await create('shop')).toBe(403);
});

it('the status has the uses of earlier runs of the server, and columns show it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kubenest-exceptions-'));
  // After the server has written the last uses.
  onTestFinished(() => rm(folder, { recursive: true }));
  const storage = { file: join(folder, 'store') };
  const path = inNamespace('default');
  {
    await using first = await startTestCluster({ plugins: [packaged], storage });
    await first.fetch(path, { body: named(path, 'old', { expires: '2020-01-02T00:00:00Z' }) });
    await first.fetch(path, { body: named(path, 'web', {}) });
    expect((await first.fetch(maps('default'), { body: { metadata: { name: 'web' } } })).status).toBe(201);
  }
  await using second = await startTestCluster({ plugins: [packaged], storage });
  const read = (await (await second.fetch(`${path}/web`)).json()) as object;
  const conditions = [expect.objectContaining({ type: 'Expired', status: 'False' })];
  expect(read).toMatchObject({ status: { uses: 1, lastUsedTime: expect.any(String), conditions } });
  const table = await second.fetch(path, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } });
  const { columnDefinitions, rows } = (await table.json()) as { columnDefinitions: { name: string }[]; rows: { cells: unknown[] }[] };
  expect(columnDefinitions.map(({ name }) => name)).toEqual(['Name', 'Plugins', 'Reason', 'Expires', 'Uses', 'Age']);
  expect(rows.map(({ cells }) => cells.slice(0, 5))).toEqual([
    ['old', 'Strict', 'TICKET-1', '2020-01-02T00:00:00Z (expired)', 0],
    ['web', 'Strict', 'TICKET-1', '<never>', 1],
  ]);
});

it('warns about an exception that has expired, when it is created and when it is changed', async () => {
  const old = { ...named(clusterWide, 'old', { expires: '2020-01-02T00:00:00Z', names: ['a'] }) } as KubeObject;
  const warning = '299 - "spec.expires: 2020-01-02T00:00:00Z has passed: the exception does not apply"';
  const created = await cluster.fetch(clusterWide, { body: old });
  expect([created.status, created.headers.get('warning')]).toEqual([201, warning]);
  const body = { ...((await created.json()) as KubeObject), spec: { plugins: ['Strict'], reason: 'TICKET-2', names: ['a'] } };
  const expiring = { ...body, spec: { ...body.spec, expires: '2020-01-02T00:00:00Z' } };
  const changed = await cluster.fetch(`${clusterWide}/old?dryRun=All`, { method: 'PUT', body: expiring });
  expect([changed.status, changed.headers.get('warning')]).toEqual([200, warning]);
  const renewed = await cluster.fetch(`${clusterWide}/old`, { method: 'PUT', body });
  expect([renewed.status, renewed.headers.get('warning')]).toEqual([200, null]);
  await cluster.fetch(`${clusterWide}/old`, { method: 'DELETE' });
});

it('a server without packages does not serve them', async () => {
  await using plain = await startTestCluster({ plugins: [Strict] });
  expect((await plain.fetch(group)).status).toBe(404);
  expect(await (await plain.fetch('/apis')).text()).not.toContain('policy.kubenest.dev');
});

describe('a package', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubenest-exceptions-'));
    await mkdir(join(folder, 'strict'));
    const manifest = { name: '@acme/strict', version: '1.0.0', type: 'module', kubenest: { sdk: '^1', plugins: ['./index.js'] } };
    await write('strict/package.json', JSON.stringify(manifest));
    await write('strict/index.js', source);
    await write('kubenest.yaml', 'apiVersion: kubenest.dev/v1alpha1\nkind: ServerConfiguration\nplugins: [{ package: ./strict }]\n');
    await write('map.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: web }\n');
    await write(
      'exception.yaml',
      'apiVersion: policy.kubenest.dev/v1alpha1\nkind: PolicyException\nmetadata: { name: web, namespace: default }\nspec: { plugins: [Strict], reason: TICKET-2 }\n',
    );
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const write = async (name: string, text: string): Promise<void> => writeFile(join(folder, name), text);
  const source = `
import { AdmissionPlugin, contribute, deny } from 'kubenest/sdk';
class Strict { validate(request) { if (request.object.metadata.labels?.team === undefined) deny(request, 'no team'); } }
AdmissionPlugin({ name: 'Strict', match: [{ resources: ['configmaps'], operations: ['CREATE', 'UPDATE'] }] })(Strict);
export default contribute(Strict);
`;

  it('`kubenest explain` shows the exception', async () => {
    const at = (name: string): string => join(folder, name);
    const options = { verb: 'create', groups: [], namespace: 'default', config: at('kubenest.yaml') } as const;
    const texts: string[] = [];
    for (const present of [[], [at('exception.yaml')]])
      for await (const one of explain({ ...options, files: [at('map.yaml')], present })) texts.push(explanationText(one, false));
    expect(texts[0]).toContain('403');
    expect(texts[1]).toContain('TICKET-2 (PolicyException default/web)');
  });

  it.each([
    { where: 'a server with packages', contents: { plugins: [packaged] } },
    { where: 'a cluster that has the definitions of exceptions', contents: { objects: exceptionDefinitions() } },
  ])('`kubenest audit` reports the result skip for $where', async ({ contents }) => {
    const metadata = { name: 'web', namespace: 'default' };
    const exception = {
      apiVersion: 'policy.kubenest.dev/v1alpha1',
      kind: 'PolicyException',
      metadata,
      spec: { plugins: ['Strict'], reason: 'TICKET-2' },
    };
    await using audited = await startTestCluster({ listen: true, quiet: true, ...contents });
    const path = `${group}/namespaces/default/policyexceptions`;
    await vi.waitFor(async () => expect((await audited.fetch(path, { body: exception })).status).toBe(201));
    expect((await audited.fetch(maps('default'), { body: { metadata } })).status).toBe(201);
    await write('kubeconfig', audited.kubeconfig());
    const { text } = await runAudit({
      kubeconfig: join(folder, 'kubeconfig'),
      config: join(folder, 'kubenest.yaml'),
      files: [],
      policies: ['Strict'],
      namespaces: ['default'],
      resources: ['configmaps'],
      user: { name: 'a', groups: [] },
      failOn: 'fail',
      output: 'json',
    });
    const { reports } = JSON.parse(text) as { reports: { results: { result: string; message: string }[] }[] };
    expect(reports.flatMap(({ results }) => results.map(({ result, message }) => [result, message]))).toEqual([
      ['skip', 'TICKET-2 (PolicyException default/web)'],
    ]);
  });
});
