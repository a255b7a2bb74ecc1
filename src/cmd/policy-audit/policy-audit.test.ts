import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import type { PolicyReport } from '#apiserver/admission/scan/policy-report';
import { startTestCluster, type TestCluster } from '#testing/start-test-cluster';
import type { AuditDocument } from './audit-output.ts';
import { runAudit, type RunAuditOptions } from './run-audit.ts';

const object = (apiVersion: string, kind: string, name: string, more: object = {}, namespace?: string, labels?: object): KubeObject =>
  ({ apiVersion, kind, metadata: { name, ...(namespace && { namespace }), ...(labels && { labels }) }, ...more }) as KubeObject;
const pod = (name: string, namespace: string, image = 'registry.example/web:1', more: object = {}): KubeObject =>
  object('v1', 'Pod', name, { spec: { containers: [{ name: 'a', image, ...more }] } }, namespace);
const privileged = { securityContext: { privileged: true } };
const policyOf = (name: string, operations: readonly string[], expression: string, more: object = {}, resource = 'pods'): KubeObject =>
  object('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy', name, {
    spec: {
      matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations, resources: [resource] }] },
      validations: [{ expression, message: `${name} does not hold` }],
      ...more,
    },
  });
const bindingOf = (policyName: string, validationActions: readonly string[], more: object = {}): KubeObject =>
  object('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicyBinding', policyName, {
    spec: { policyName, validationActions, ...more },
  });
const widgets = {
  spec: {
    group: 'w.example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } },
        },
      },
    ],
  },
};

/** Objects that were stored before the policies: namespace `shop` has good and bad pods. */
const objects: readonly KubeObject[] = [
  object('v1', 'Namespace', 'shop'),
  object('v1', 'Namespace', 'quiet'),
  object('v1', 'ServiceAccount', 'default', {}, 'shop'),
  object('v1', 'ServiceAccount', 'default', {}, 'quiet'),
  pod('good', 'shop'),
  pod('latest', 'shop', 'nginx:latest'),
  pod('privileged', 'shop', 'registry.example/web:1', privileged),
  pod('elsewhere', 'quiet', 'nginx:latest', privileged),
  object('v1', 'ConfigMap', 'limits', { data: { most: '3' } }, 'shop'),
  object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'widgets.w.example.com', widgets),
  object('w.example.com/v1', 'Widget', 'small', { spec: { size: 2 } }, 'shop'),
  object('w.example.com/v1', 'Widget', 'large', { spec: { size: 9 } }, 'shop'),
];
const inShop = { matchResources: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'shop' } } } };
const policies: readonly KubeObject[] = [
  policyOf('no-latest', ['CREATE', 'UPDATE'], "object.spec.containers.all(c, !c.image.endsWith(':latest'))"),
  bindingOf('no-latest', ['Deny'], inShop),
  policyOf('only-update', ['UPDATE'], "oldObject.metadata.name != 'good'"),
  bindingOf('only-update', ['Warn']),
  object('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy', 'sizes', {
    spec: {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConstraints: {
        resourceRules: [{ apiGroups: ['w.example.com'], apiVersions: ['*'], operations: ['CREATE'], resources: ['widgets'] }],
      },
      validations: [{ expression: 'object.spec.size <= int(params.data.most)', messageExpression: "'at most ' + params.data.most" }],
    },
  }),
  bindingOf('sizes', ['Deny'], { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } }),
];

let folder: string;
let cluster: TestCluster;
let kubeconfig: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-audit-'));
  cluster = await startTestCluster({ listen: true, objects: [...objects, ...policies] });
  const labels = { 'pod-security.kubernetes.io/enforce': 'baseline', 'pod-security.kubernetes.io/warn': 'restricted' };
  await cluster.fetch('/api/v1/namespaces/shop', {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({ metadata: { labels } }),
  });
  kubeconfig = await file('kubeconfig', cluster.kubeconfig());
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function file(name: string, text: string | readonly KubeObject[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, typeof text === 'string' ? text : text.map((one) => JSON.stringify(one)).join('\n---\n'));
  return path;
}

interface Audited {
  readonly code: number;
  readonly violations: readonly string[];
  readonly document: AuditDocument;
}

/** Runs an audit; violations are `result policy/rule kind/name`. */
async function audited(options: Partial<RunAuditOptions> = {}): Promise<Audited> {
  const user = { name: 'kubenest:audit', groups: ['system:authenticated'] };
  const { code, text } = await runAudit({
    kubeconfig,
    files: [],
    policies: [],
    namespaces: [],
    resources: [],
    user,
    failOn: 'fail',
    output: 'json',
    ...options,
  });
  const document = JSON.parse(text) as AuditDocument;
  const violations = document.reports.flatMap(({ scope, results }) =>
    results
      .filter(({ result }) => result !== 'pass')
      .map(({ result, policy, rule }) => `${result} ${policy}${rule === undefined ? '' : `/${rule}`} ${scope.kind}/${scope.name}`),
  );
  return { code, violations: violations.toSorted(), document };
}

it('finds the violations of policies, their parameters and PodSecurity levels in all stored objects', async () => {
  const { code, violations, document } = await audited();
  expect(violations).toEqual([
    'fail PodSecurity/enforce Pod/privileged',
    'fail no-latest/no-latest Pod/latest',
    'fail sizes/sizes Widget/large',
    'warn PodSecurity/warn Pod/good',
    'warn PodSecurity/warn Pod/latest',
    'warn PodSecurity/warn Pod/privileged',
    'warn only-update/only-update Pod/good',
  ]);
  expect(code).toBe(1);
  expect(document.policies).toContainEqual({
    plugin: 'ValidatingAdmissionPolicy',
    policy: 'no-latest',
    pass: 2,
    fail: 1,
    warn: 0,
    error: 0,
    skip: 0,
  });
  expect(document.policies).toContainEqual({
    plugin: 'ValidatingAdmissionPolicy',
    policy: 'sizes',
    pass: 1,
    fail: 1,
    warn: 0,
    error: 0,
    skip: 0,
  });
  expect(document.reports.flatMap(({ results }) => results.map(({ message }) => message))).toContain('at most 3');
  expect(document.notAudited).toEqual([]);
});

it.each<{ name: string; options: Partial<RunAuditOptions>; code: number; violations: string[] }>([
  { name: 'one policy', options: { policies: ['sizes'] }, code: 1, violations: ['fail sizes/sizes Widget/large'] },
  {
    name: 'a policy that only warns',
    options: { policies: ['only-update'] },
    code: 0,
    violations: ['warn only-update/only-update Pod/good'],
  },
  {
    name: 'a policy that only warns, with --fail-on=warn',
    options: { policies: ['only-update'], failOn: 'warn' },
    code: 1,
    violations: ['warn only-update/only-update Pod/good'],
  },
  { name: 'a namespace without violations', options: { namespaces: ['quiet'] }, code: 0, violations: [] },
  { name: 'one resource', options: { resources: ['widgets.w.example.com'] }, code: 1, violations: ['fail sizes/sizes Widget/large'] },
])('limits the audit to $name', async ({ options, code, violations }) => {
  const found = await audited(options);
  expect(found).toMatchObject({ code, violations });
});

it('evaluates only the policies of files, with a binding that denies if there is none', async () => {
  const strict = policyOf('no-latest', ['CREATE'], "object.spec.containers.all(c, c.image.startsWith('registry.example/'))");
  const other = policyOf('named', ['CREATE'], "object.metadata.name != 'elsewhere'");
  const { code, violations } = await audited({ files: [await file('policy.yaml', [strict, other])] });
  // The binding of the cluster selects the namespace.
  expect(violations).toEqual(['fail named/named Pod/elsewhere', 'fail no-latest/no-latest Pod/latest']);
  expect(code).toBe(1);
});

it('takes a parameter without a namespace in a file for one of the namespace default', async () => {
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
  const policy = policyOf('params', ['CREATE'], 'object.metadata.name != params.data.name', { paramKind });
  const paramRef = { name: 'forbidden', namespace: 'default', parameterNotFoundAction: 'Deny' };
  const binding = bindingOf('params', ['Deny'], { paramRef });
  const parameter = object('v1', 'ConfigMap', 'forbidden', { data: { name: 'elsewhere' } });
  const { violations } = await audited({ files: [await file('params.yaml', [policy, binding, parameter])] });
  expect(violations).toEqual(['fail params/params Pod/elsewhere']);
});

it('evaluates the changed PodSecurity level of a namespace in a file', async () => {
  const labels = { 'pod-security.kubernetes.io/enforce': 'baseline' };
  const { violations } = await audited({
    files: [await file('namespace.yaml', [object('v1', 'Namespace', 'quiet', {}, undefined, labels)])],
  });
  expect(violations).toEqual(['fail PodSecurity/enforce Pod/elsewhere']);
});

it('audits what the user may list, and is then incomplete', async () => {
  const apiGroup = 'rbac.authorization.k8s.io';
  const rules = [
    { apiGroups: [''], resources: ['namespaces', 'pods', 'configmaps', 'limitranges'], verbs: ['list'] },
    {
      apiGroups: ['admissionregistration.k8s.io', 'apiextensions.k8s.io', 'node.k8s.io', 'w.example.com'],
      resources: ['*'],
      verbs: ['list'],
    },
  ];
  await using limited = await startTestCluster({
    listen: true,
    users: [{ name: 'ali' }],
    objects: [
      ...objects,
      ...policies,
      object(`${apiGroup}/v1`, 'ClusterRole', 'some', { rules }),
      object(`${apiGroup}/v1`, 'ClusterRoleBinding', 'some', {
        roleRef: { apiGroup, kind: 'ClusterRole', name: 'some' },
        subjects: [{ apiGroup, kind: 'User', name: 'ali' }],
      }),
    ],
  });
  const { code, violations, document } = await audited({ kubeconfig: await file('ali', limited.kubeconfig('ali')) });
  expect(violations).toContain('fail no-latest/no-latest Pod/latest');
  expect(code).toBe(2);
  expect(document.notAudited).toContainEqual({
    resource: 'secrets',
    reason: expect.stringMatching(/^secrets is forbidden: User "ali" cannot list resource "secrets"/) as string,
    isFailure: true,
  });
});

it('rejects a resource that the cluster does not have', async () => {
  await expect(audited({ resources: ['pods', 'pod'] })).rejects.toThrow('the cluster has no resource that is named "pod"');
});

it('fails if it cannot read the namespaces and policies', async () => {
  await using closed = await startTestCluster({ listen: true, users: [{ name: 'ali' }] });
  const config = await file('closed', closed.kubeconfig('ali'));
  await expect(audited({ kubeconfig: config })).rejects.toThrow(/cannot list resource "customresourcedefinitions"/);
});

it.each([
  {
    name: 'an invalid policy',
    text: JSON.stringify(policyOf('bad', ['CREATE'], 'object.')),
    says: /ValidatingAdmissionPolicy.* "bad" is invalid/,
  },
  { name: 'nothing to evaluate', text: 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }', says: 'so nothing would be evaluated' },
  { name: 'an unknown kind', text: 'apiVersion: v1\nkind: Pot\nmetadata: {}', says: 'unknown kind Pot in v1' },
])('rejects $name in a file', async ({ text, says }) => {
  await expect(audited({ files: [await file('bad.yaml', text)] })).rejects.toThrow(says);
});

/** Denies config maps with a value of another one, read by an informer and by the client. */
const packageSource = `
import { AdmissionPlugin, Client, Configuration, contribute, deny, Informers, inject } from 'kubenest/sdk';
import { IsString } from 'kubenest/sdk/configuration';
class Options { namespace = ''; }
IsString()(Options.prototype, 'namespace');
class Unique {
  constructor(options, informers, client) {
    this.options = options;
    this.client = client;
    this.maps = informers.for({ group: '', resource: 'configmaps' });
  }
  async validate(request) {
    if (request.namespace !== this.options.namespace) return;
    const same = this.maps.list().find(({ metadata, data }) => metadata.name !== request.name && data?.most === request.object.data?.most);
    if (!same) return;
    const found = await this.client.get({ group: '', version: 'v1', resource: 'configmaps' }, same.metadata.namespace, same.metadata.name);
    deny(request, 'as in ' + found.metadata.name);
  }
}
inject(Configuration)(Unique, undefined, 0);
inject(Informers)(Unique, undefined, 1);
inject(Client)(Unique, undefined, 2);
AdmissionPlugin({ name: 'Unique', configuration: Options, match: [{ groups: [''], resources: ['configmaps'], operations: ['CREATE'] }] })(Unique);
export default contribute(Unique);
`;

it('evaluates the plugins of packages, which read the objects of the cluster', async () => {
  await using other = await startTestCluster({
    listen: true,
    objects: ['one', 'two', 'three'].map((name) =>
      object('v1', 'ConfigMap', name, { data: { most: name === 'three' ? '3' : '2' } }, 'default'),
    ),
  });
  await mkdir(join(folder, 'unique'), { recursive: true });
  const manifest = { name: '@acme/unique', version: '1.0.0', type: 'module', kubenest: { sdk: '^1', plugins: ['./index.js'] } };
  await file('unique/package.json', JSON.stringify(manifest));
  await file('unique/index.js', packageSource);
  const entry = (exceptions: readonly object[]): object => ({
    package: './unique',
    configuration: { Unique: { namespace: 'default' } },
    policies: { Unique: { exceptions } },
  });
  const configOf = (exceptions: readonly object[]): Promise<string> =>
    file(
      'kubenest.yaml',
      JSON.stringify({ apiVersion: 'kubenest.dev/v1alpha1', kind: 'ServerConfiguration', plugins: [entry(exceptions)] }),
    );
  const options = { kubeconfig: await file('other', other.kubeconfig()), resources: ['configmaps'] };
  const { violations, document } = await audited({ ...options, config: await configOf([]) });
  expect(violations).toEqual(['fail Unique ConfigMap/one', 'fail Unique ConfigMap/two']);
  expect(document.reports[0]?.results[0]?.message).toBe('configmaps "one" is forbidden: as in two');
  const excepted = await audited({ ...options, config: await configOf([{ reason: 'known', names: ['one'] }]) });
  expect(excepted.violations).toEqual(['fail Unique ConfigMap/two', 'skip Unique ConfigMap/one']);
});

interface Listed {
  readonly items: readonly (PolicyReport & { readonly metadata: { readonly resourceVersion: string } })[];
}

it.each([
  { group: 'openreports.io', path: '/apis/openreports.io/v1alpha1/reports' },
  { group: 'wgpolicyk8s.io', path: '/apis/wgpolicyk8s.io/v1alpha2/policyreports' },
] as const)('writes reports of $group, leaves unchanged ones alone and removes stale ones', async ({ group, path }) => {
  await using other = await startTestCluster({ listen: true, objects: [...objects, ...policies] });
  const options = { kubeconfig: await file('other', other.kubeconfig()), writeReports: group };
  const reports = async (): Promise<Map<string, Listed['items'][number]>> => {
    const { items } = (await (await other.fetch(path)).json()) as Listed;
    return new Map(items.map((report) => [report.scope.name, report]));
  };
  await expect(audited(options)).rejects.toThrow(`the cluster does not serve reports of ${group}`);
  await audited({ ...options, installReportCrds: true });
  const first = await reports();
  expect([...first.keys()].toSorted()).toEqual(['good', 'large', 'latest']);
  expect(first.get('large')).toMatchObject({
    metadata: { namespace: 'shop', ownerReferences: [{ kind: 'Widget', name: 'large' }] },
    results: [{ policy: 'sizes', rule: 'sizes', result: 'fail', message: 'at most 3', source: 'kubenest' }],
    summary: { pass: 0, fail: 1, warn: 0, error: 0, skip: 0 },
  });
  await other.fetch('/apis/w.example.com/v1/namespaces/shop/widgets/large', {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({ spec: { size: 1 } }),
  });
  await other.fetch('/api/v1/namespaces/shop/pods/latest?gracePeriodSeconds=0', { method: 'DELETE' });
  await audited(options);
  const second = await reports();
  expect([...second.keys()]).toEqual(['good']);
  expect(second.get('good')?.metadata.resourceVersion).toBe(first.get('good')?.metadata.resourceVersion);
});
