import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startTestCluster } from '#testing/start-test-cluster';
import { runCommand } from '#cmd/commands/commands';
import { type Explanation, explain, type ExplainOptions } from './explain.ts';
import { explanationText } from './explanation-text.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-explain-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

async function explained(options: Partial<ExplainOptions>): Promise<Explanation[]> {
  const plain: ExplainOptions = { files: [], verb: 'create', groups: [], namespace: 'default', present: [] };
  const found: Explanation[] = [];
  for await (const one of explain({ ...plain, ...options })) found.push(one);
  return found;
}

async function explanationTexts(options: Partial<ExplainOptions>): Promise<string[]> {
  return (await explained(options)).map((one) => explanationText(one, false));
}

const pod = `
apiVersion: v1
kind: Pod
metadata: { name: web }
spec: { containers: [{ name: a, image: nginx }] }
`;
const limits = `
apiVersion: v1
kind: LimitRange
metadata: { name: small, namespace: default }
spec: { limits: [{ type: Container, default: { cpu: 100m } }] }
`;
const role = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: reader }
rules: [{ apiGroups: [''], resources: [pods], verbs: [get] }]
`;

it('explains each object of a file', async () => {
  const texts = await explanationTexts({
    files: [await file('two.yaml', `${pod}---${pod.replace('web', 'web2').replace('nginx', "''")}`)],
  });
  expect(texts.map((text) => text.split('\n', 1)[0])).toEqual([
    'POST /api/v1/namespaces/default/pods?dryRun=All by admin: 201',
    expect.stringMatching(/ by admin: 422 Pod "web2" is invalid: spec\.containers\[0\]\.image: Required value$/),
  ]);
});

it.each<{ name: string; present: string[]; status: number; says: RegExp }>([
  {
    name: 'is authorized for all requests without present objects',
    present: [],
    status: 201,
    says: /ClusterRoleBinding "kubenest-explain"/,
  },
  {
    name: 'is authorized for all requests if no present object is a role',
    present: [limits],
    status: 201,
    says: /LimitRanger: changed/,
  },
  {
    name: 'is authorized by roles',
    present: [role],
    status: 403,
    says: /by ali, impersonated by admin: 403 .*cannot create resource "pods"/,
  },
])('a user $name', async ({ present, status, says }) => {
  const files = [await file('pod.yaml', pod)];
  const [text] = await explanationTexts({
    files,
    user: 'ali',
    present: await Promise.all(present.map((one) => file('present.yaml', one))),
  });
  expect(text).toMatch(says);
  expect(text).toContain(`: ${status}`);
});

it('starts a package with an audit backend, which gets no events, without an audit policy', async () => {
  const packageFolder = join(folder, 'audited');
  await mkdir(packageFolder);
  await file(
    'audited/package.json',
    JSON.stringify({ name: 'audited', version: '1.0.0', type: 'module', kubenest: { sdk: '^1', plugins: ['./index.js'] } }),
  );
  await file(
    'audited/index.js',
    `import { AuditBackendPlugin, contribute } from 'kubenest/sdk';
class Sink { process() { throw new Error('an event'); } }
AuditBackendPlugin({ name: 'Sink' })(Sink);
export default contribute(Sink);`,
  );
  const config = await file(
    'audited/kubenest.yaml',
    'apiVersion: kubenest.dev/v1alpha1\nkind: ServerConfiguration\nplugins: [{ package: ./ }]\n',
  );
  const [found] = await explained({ files: [await file('pod.yaml', pod)], config });
  expect(found?.status).toBe(201);
});

it('takes present objects into account', async () => {
  const [explanation] = await explained({ files: [await file('pod.yaml', pod)], present: [await file('limits.yaml', limits)] });
  expect(explanation?.trace.steps.find(({ name }) => name === 'LimitRanger')).toMatchObject({ stage: 'admit', verdict: 'changed' });
});

const restricted = `
apiVersion: v1
kind: Namespace
metadata: { name: shop, labels: { pod-security.kubernetes.io/enforce: baseline } }
`;
const quota = `
apiVersion: v1
kind: ResourceQuota
metadata: { name: few, namespace: shop }
spec: { hard: { pods: '1' } }
`;
const other = pod.replace('name: web', 'name: other, namespace: shop');

it.each<{ name: string; present: string; object: string; refusedBy: string[]; message: RegExp }>([
  {
    name: 'labels of a namespace',
    present: restricted,
    object: pod.replace('name: web', 'name: web, namespace: shop').replace('spec: {', 'spec: { hostNetwork: true,'),
    refusedBy: ['PodSecurity'],
    message: /violates PodSecurity "baseline:latest": host namespaces/,
  },
  {
    name: 'a quota and what uses it, in any order',
    present: `${quota}---${other}---${restricted}`,
    object: pod.replace('name: web', 'name: web, namespace: shop'),
    refusedBy: ['ResourceQuota'],
    message: /exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1/,
  },
])('applies $name', async ({ present, object, refusedBy, message }) => {
  const [found] = await explained({ files: [await file('pod.yaml', object)], present: [await file('present.yaml', present)] });
  expect(found).toMatchObject({
    verdict: 'denied',
    refusedBy,
    status: 403,
    message: expect.stringMatching(message) as string,
    result: null,
  });
});

it('admits what a quota still allows', async () => {
  const files = [await file('pod.yaml', pod.replace('name: web', 'name: web, namespace: shop'))];
  const [found] = await explained({ files, present: [await file('present.yaml', quota)] });
  expect(found).toMatchObject({ verdict: 'admitted', status: 201, result: { metadata: { name: 'web' } } });
});

it('keeps present objects as they are given, whatever admission would do with them', async () => {
  const ownLimits = limits.replace('default: { cpu: 100m }', 'max: { cpu: 1m }');
  const [found] = await explained({
    files: [await file('pod.yaml', pod)],
    verb: 'update',
    present: [await file('limits.yaml', ownLimits)],
  });
  expect(found).toMatchObject({ verdict: 'admitted', status: 200 });
});

it('rejects a present object with an unknown field', async () => {
  const present = [await file('present.yaml', limits.replace('limits:', 'limit:'))];
  await expect(explained({ files: [await file('pod.yaml', pod)], present })).rejects.toThrow(
    /LimitRange small was not created: .*unknown field "spec\.limit"/,
  );
});

it('explains the files of a folder and its subfolders with their places', async () => {
  await mkdir(join(folder, 'many/more'), { recursive: true });
  await file('many/b.yaml', `${pod}---${pod.replace('web', 'web2')}`);
  await file('many/more/a.json', JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'new' } }));
  await file('many/README.md', 'nothing');
  const found = await explained({ files: [join(folder, 'many')] });
  expect(found.map(({ file: path, line, object: { name } }) => [path.slice(folder.length), line, name])).toEqual([
    ['/many/b.yaml', 2, 'web'],
    ['/many/b.yaml', 7, 'web2'],
    ['/many/more/a.json', 1, 'new'],
  ]);
});

it('shows the lines that change', async () => {
  const files = [await file('map.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata: { b: c }')];
  const [found] = await explained({ files });
  expect(found?.diff).toEqual([
    '  apiVersion: v1',
    '  data:',
    '    b: c',
    '  kind: ConfigMap',
    '  metadata:',
    '    name: a',
    '+   namespace: default',
  ]);
});

describe('the command', () => {
  async function run(...args: string[]): Promise<{ code: number; output: string; errors: string }> {
    const output = vi.spyOn(console, 'log').mockReturnValue();
    const errors = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    try {
      const code = await runCommand(['explain', ...args]);
      return { code, output: output.mock.calls.join('\n'), errors: errors.mock.calls.map(([text]) => String(text)).join('') };
    } finally {
      output.mockRestore();
      errors.mockRestore();
    }
  }

  it.each([
    { name: 'with 0 if all requests are admitted', text: pod, code: 0 },
    { name: 'with 1 if one is not', text: `${pod}---${pod.replace('nginx', "''")}`, code: 1 },
  ])('exits $name', async ({ text, code }) => {
    expect((await run('-f', await file('pods.yaml', text))).code).toBe(code);
  });

  it.each([
    { name: 'a missing file', args: ['-f', 'missing.yaml'], says: /kubenest explain: .*missing\.yaml/ },
    { name: 'a file without objects', args: ['-f', '/dev/null'], says: /\/dev\/null: has no objects/ },
    { name: 'an unknown flag', args: ['--fil', 'a'], says: /unknown option '--fil'/ },
    { name: 'groups without a user', args: ['-f', 'a.yaml', '--as-group', 'cooks'], says: /--as-group needs --as/ },
  ])('exits with 2 for $name', async ({ args, says }) => {
    const { code, errors } = await run(...args);
    expect(code).toBe(2);
    expect(errors).toMatch(says);
  });
});

it.each<{ verb: ExplainOptions['verb']; title: RegExp }>([
  { verb: 'apply', title: /^PATCH .*\/pods\/web\?.* by admin: 201\n/ },
  { verb: 'update', title: /^PUT .*\/pods\/web\?.* by admin: 200\n/ },
  { verb: 'delete', title: /^DELETE .*\/pods\/web\?.* by admin: 200\n/ },
])('explains $verb', async ({ verb, title }) => {
  expect((await explanationTexts({ files: [await file('pod.yaml', pod)], verb }))[0]).toMatch(title);
});

it('uses a running server', async () => {
  await using cluster = await startTestCluster({ listen: true });
  const kubeconfig = await file('kubeconfig', cluster.kubeconfig());
  const [text] = await explanationTexts({ files: [await file('pod.yaml', pod)], kubeconfig, user: 'eve', groups: ['system:masters'] });
  expect(text).toMatch(/by eve, impersonated by admin: 201\n/);
  expect((await cluster.fetch('/api/v1/namespaces/default/pods/web')).status).toBe(404);
});

it.each([
  { name: 'an unknown kind', text: 'apiVersion: v1\nkind: Pot\nmetadata: {}', says: 'unknown kind Pot in v1' },
  { name: 'a value that is not an object', text: '[1]', says: /a document must be an object/ },
  { name: 'invalid YAML', text: '{', says: /bad\.yaml:1: Flow map must end/ },
])('rejects $name', async ({ text, says }) => {
  await expect(explanationTexts({ files: [await file('bad.yaml', text)] })).rejects.toThrow(says);
});
