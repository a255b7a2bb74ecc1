/** `kubenest webhook` as a process, beside an API server that knows it only by the printed manifests. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { startTestCluster, type TestCluster } from '#testing/index';
import { freePort } from '../../scripts/free-port.ts';
import { root } from './server-with-plugins.ts';

const kubenest = join(root, 'bin/kubenest');
const execute = promisify(execFile);
const namespace = 'kubenest';
const name = 'kubenest-webhook';
const maps = '/api/v1/namespaces/default/configmaps';

const source = `
import { setTimeout as sleep } from 'node:timers/promises';
import { AdmissionPlugin, contribute, deny, Informers, inject } from 'kubenest/sdk';
class Team {
  constructor(informers) { this.namespaces = informers.for({ group: '', resource: 'namespaces' }); }
  admit({ object }) { object.metadata.labels = { namespaces: String(this.namespaces.list().length > 0), ...object.metadata.labels }; }
  async validate(request) {
    if (request.object.data?.bad) deny(request, 'data.bad is not allowed');
    if (request.object.data?.slow) await sleep(1_500);
  }
}
inject(Informers)(Team, undefined, 0);
AdmissionPlugin({ name: 'Team', match: [{ groups: [''], resources: ['configmaps'], operations: ['CREATE'] }] })(Team);
export default contribute(Team);
`;

let folder: string;
let cluster: TestCluster;
let port: number;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-webhook-'));
  await mkdir(join(folder, 'rules'));
  const manifest = { name: '@acme/rules', version: '1.0.0', type: 'module', kubenest: { sdk: '^1', plugins: ['./index.js'] } };
  await writeFile(join(folder, 'rules', 'package.json'), JSON.stringify(manifest));
  await writeFile(join(folder, 'rules', 'index.js'), source);
  await writeFile(
    join(folder, 'kubenest.yaml'),
    'apiVersion: kubenest.dev/v1alpha1\nkind: ServerConfiguration\nplugins: [{ package: ./rules }]\n',
  );
  port = await freePort();
  cluster = await startTestCluster({ listen: true, quiet: true });
  await applyManifests();
  await writeFile(join(folder, 'kubeconfig'), await serviceAccountKubeconfig());
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  spec?: object;
  webhooks?: { readonly clientConfig: { readonly service: { port: number } } }[];
}

/** Creates the printed objects, except that the Service leads to this machine. */
async function applyManifests(): Promise<void> {
  const { stdout } = await execute(kubenest, ['webhook', 'manifests', '--config', join(folder, 'kubenest.yaml'), '--image=kubenest:test']);
  for (const document of parseAllDocuments(stdout)) {
    const object = document.toJS() as Manifest;
    if (object.kind === 'Service') object.spec = { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] };
    for (const { clientConfig } of object.webhooks ?? []) clientConfig.service.port = port;
    const path = `${collectionOf(object)}?fieldValidation=Strict`;
    const response = await cluster.fetch(path, { body: object });
    expect([response.status, object.kind, await response.text()]).toEqual([201, object.kind, expect.any(String)]);
  }
}

function collectionOf({ apiVersion, kind, metadata }: Manifest): string {
  const version = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const within = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`;
  return `${version}${within}/${kind.toLowerCase()}s`;
}

/** Returns the kubeconfig of the service account, whose permissions are only those of the printed roles. */
async function serviceAccountKubeconfig(): Promise<string> {
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  const response = await cluster.fetch(`/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, { body: request });
  const { status } = (await response.json()) as { status: { token: string } };
  return cluster.kubeconfig().replace(cluster.token('admin'), status.token);
}

interface Process extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly port: number;
  readonly log: () => string;
}

/** Starts a replica and waits until it is ready. */
async function start(at: number, more: readonly string[] = []): Promise<Process> {
  const args = [`--config=${join(folder, 'kubenest.yaml')}`, `--kubeconfig=${join(folder, 'kubeconfig')}`, '--bind-address=127.0.0.1'];
  const flags = [...args, `--port=${at}`, `--namespace=${namespace}`, ...more];
  const child = spawn(kubenest, ['webhook', ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  child.stderr.on('data', (data: Buffer) => (log += data.toString()));
  child.stdout.resume();
  await vi.waitFor(
    async () => {
      if (child.exitCode !== null) throw new Error(log);
      expect((await get(at, '/readyz')).status).toBe(200);
    },
    { timeout: 20_000, interval: 100 },
  );
  return {
    child,
    port: at,
    log: () => log,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly certificate: string;
}

function get(at: number, path: string, { token, body }: { token?: string; body?: object } = {}): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const headers = {
    ...(token !== undefined && { authorization: `Bearer ${token}`, 'kubenest-trace': '1' }),
    ...(body && { 'content-type': 'application/json' }),
  };
  const options = {
    port: at,
    host: '127.0.0.1',
    path,
    method: body ? 'POST' : 'GET',
    headers,
    rejectUnauthorized: false,
    agent: false,
  } as const;
  const sent = https.request(options, (response) => {
    const certificate = (response.socket as import('node:tls').TLSSocket).getPeerX509Certificate()?.fingerprint256 ?? '';
    let text = '';
    response.setEncoding('utf8').on('data', (data: string) => (text += data));
    response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers, certificate }));
  });
  sent.on('error', reject).end(body && JSON.stringify(body));
  return promise;
}

function create(object: string, data: object = {}, collection = maps): Promise<Response> {
  return cluster.fetch(collection, { body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: object }, data } });
}

it('serves a cluster with the permissions, Service and webhooks of its manifests', async () => {
  await using _replica = await start(port);
  await vi.waitFor(async () => expect((await create('bad', { bad: '1' })).status).toBe(403), { timeout: 10_000 });
  const denied = (await (await create('bad', { bad: '1' })).json()) as { message: string };
  expect(denied.message).toBe(
    'admission webhook "team.validate.kubenest.dev" denied the request: configmaps "bad" is forbidden: data.bad is not allowed',
  );
  expect(await (await create('good')).json()).toMatchObject({ metadata: { labels: { namespaces: 'true' } } });
  const own = await create('own', { bad: '1' }, `/api/v1/namespaces/${namespace}/configmaps`);
  expect(own.status).toBe(201);
});

it('shares its certificates between replicas, and repairs caBundle', async () => {
  const other = await freePort();
  await using one = await start(port);
  const path = `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/${name}`;
  const patch = [{ op: 'remove', path: '/webhooks/0/clientConfig/caBundle' }];
  const patched = await cluster.fetch(path, { method: 'PATCH', body: patch, headers: { 'content-type': 'application/json-patch+json' } });
  expect(patched.status).toBe(200);
  await using two = await start(other);
  expect((await get(two.port, '/livez')).certificate).toBe((await get(one.port, '/livez')).certificate);
  expect(await (await cluster.fetch(path)).json()).toMatchObject({
    webhooks: [{ clientConfig: { caBundle: expect.stringMatching(/^LS0t/) } }],
  });
});

it('answers what is in flight before it ends', async () => {
  await using replica = await start(port);
  await vi.waitFor(async () => expect((await create('bad', { bad: '1' })).status).toBe(403), { timeout: 10_000 });
  const slow = create('slow', { slow: '1' });
  await new Promise((resolve) => setTimeout(resolve, 500));
  replica.child.kill('SIGTERM');
  expect((await slow).status).toBe(201);
  if (replica.child.exitCode === null) await once(replica.child, 'exit');
  expect(replica.child.exitCode).toBe(0);
});

it('shows metrics, plugins and traces to those whom the cluster permits', async () => {
  await using _replica = await start(port);
  expect((await get(port, '/metrics')).status).toBe(403);
  const token = cluster.token('admin');
  const review = {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: '1',
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      operation: 'CREATE',
      name: 'a',
      namespace: 'default',
      userInfo: { username: 'ali' },
      object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { bad: '1' } },
    },
  };
  const answer = await get(port, '/validate', { token, body: review });
  expect(JSON.parse(answer.text)).toMatchObject({ response: { uid: '1', allowed: false, status: { code: 403, reason: 'Forbidden' } } });
  const trace = await get(port, `${String(answer.headers['kubenest-trace'])}?output=text`, { token });
  expect(trace.text).toMatch(/Team.*denied.*data\.bad is not allowed/);
  expect((await get(port, '/metrics', { token })).text).toMatch(
    /apiserver_admission_controller_admission_duration_seconds_count\{name="Team",operation="CREATE",rejected="true",type="validate"\} 1/,
  );
  expect((await get(port, '/debug/plugins', { token })).text).toContain('"name":"Team"');
});

it.each([
  { name: 'without a configuration', args: [], says: /--config is required/ },
  { name: 'outside of a cluster', args: ['--config', 'kubenest.yaml'], says: /name the cluster with --kubeconfig/ },
  { name: 'with a configuration that does not exist', args: ['--config', 'none.yaml'], says: /none\.yaml: ENOENT/ },
  {
    name: 'with a certificate without its key',
    args: ['--config', 'kubenest.yaml', '--kubeconfig', 'kubeconfig', '--tls-cert-file=a'],
    says: /together/,
  },
])('does not start $name', async ({ args, says }) => {
  const failed = execute(kubenest, ['webhook', ...args], { cwd: folder, env: { PATH: process.env['PATH'] } });
  await expect(failed).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(says) });
});
