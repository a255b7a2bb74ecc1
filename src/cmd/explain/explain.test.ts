import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TraceDocument } from '#apiserver/request/request-trace';
import { startTestCluster } from '#testing/start-test-cluster';
import { explain, type ExplainOptions } from './explain.ts';

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

async function told(options: Partial<ExplainOptions>): Promise<string[]> {
  const plain: ExplainOptions = { files: [], verb: 'create', groups: [], namespace: 'default', present: [], output: 'tree' };
  const texts: string[] = [];
  for await (const text of explain({ ...plain, ...options })) texts.push(text);
  return texts;
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

it('explains each object of a file', async () => {
  const texts = await told({ files: [await file('two.yaml', `${pod}---${pod.replace('web', 'web2').replace('nginx', "''")}`)] });
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
    name: 'is authorized by roles',
    present: [limits],
    status: 403,
    says: /by ali, impersonated by admin: 403 .*cannot create resource "pods"/,
  },
])('a user $name', async ({ present, status, says }) => {
  const files = [await file('pod.yaml', pod)];
  const [text] = await told({ files, user: 'ali', present: await Promise.all(present.map((one) => file('present.yaml', one))) });
  expect(text).toMatch(says);
  expect(text).toContain(`: ${status}`);
});

it('takes present objects into account', async () => {
  const options = { files: [await file('pod.yaml', pod)], present: [await file('limits.yaml', limits)], output: 'json' } as const;
  const [text = ''] = await told(options);
  const { steps } = JSON.parse(text) as TraceDocument;
  expect(steps.find(({ name }) => name === 'LimitRanger')).toMatchObject({ stage: 'admit', verdict: 'changed' });
});

it.each<{ verb: ExplainOptions['verb']; title: RegExp }>([
  { verb: 'apply', title: /^PATCH .*\/pods\/web\?.* by admin: 201\n/ },
  { verb: 'update', title: /^PUT .*\/pods\/web\?.* by admin: 200\n/ },
  { verb: 'delete', title: /^DELETE .*\/pods\/web\?.* by admin: 200\n/ },
])('explains $verb', async ({ verb, title }) => {
  expect((await told({ files: [await file('pod.yaml', pod)], verb }))[0]).toMatch(title);
});

it('uses a running server', async () => {
  await using cluster = await startTestCluster({ listen: true });
  const kubeconfig = await file('kubeconfig', cluster.kubeconfig());
  const [text] = await told({ files: [await file('pod.yaml', pod)], kubeconfig, user: 'eve', groups: ['system:masters'] });
  expect(text).toMatch(/by eve, impersonated by admin: 201\n/);
  expect((await cluster.fetch('/api/v1/namespaces/default/pods/web')).status).toBe(404);
});

it.each([
  { name: 'an unknown kind', text: 'apiVersion: v1\nkind: Pot\nmetadata: {}', says: 'unknown kind Pot in v1' },
  { name: 'a value that is not an object', text: '[1]', says: /a document must be an object/ },
  { name: 'invalid YAML', text: '{', says: /bad\.yaml: / },
])('rejects $name', async ({ text, says }) => {
  await expect(told({ files: [await file('bad.yaml', text)] })).rejects.toThrow(says);
});
