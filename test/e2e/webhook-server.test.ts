/**
 * `kubenest webhook` as a process, by the commands of docs/guide/webhook.md, beside an API server that knows it only by the printed
 * manifests.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { Authority } from '#cmd/certificates/issue';
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
import { AdmissionPlugin, contribute, deny, Informers, inject, policy, when } from 'kubenest/sdk';
import { ConfigMap, Deployment, Ingress, NetworkPolicy } from 'kubenest/kinds';
class Team {
  constructor(informers) { this.namespaces = informers.for({ group: '', resource: 'namespaces' }); }
  admit({ object }) { object.metadata.labels = { namespaces: String(this.namespaces.list().length > 0), ...object.metadata.labels }; }
  async validate(request) {
    if (request.object.data?.bad) deny(request, 'data.bad is not allowed');
    if (!request.object.data?.slow) return;
    console.log('slow');
    await sleep(1_500);
  }
}
inject(Informers)(Team, undefined, 0);
AdmissionPlugin({ name: 'Team', match: [{ groups: [''], resources: ['configmaps'], operations: ['CREATE'] }] })(Team);
const counts = policy(
  { name: 'Counts', services: ['informers'], follows: [Deployment, Ingress, NetworkPolicy] },
  when(ConfigMap).created().validate(({ data }, request, { informers }) => {
    const found = [Deployment, Ingress, NetworkPolicy].map((kind) => informers.for(kind).list('default').length).join();
    if (data?.counts && data.counts !== found) deny(request, 'counted ' + found);
  }),
);
export default contribute(Team, counts);
`;

let folder: string;
let cluster: TestCluster;
let port: number;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-webhook-'));
  const place = join(folder, 'node_modules/@acme/rules');
  await mkdir(place, { recursive: true });
  const manifest = { name: '@acme/rules', version: '1.0.0', type: 'module', kubenest: { sdk: '^1', plugins: ['./index.js'] } };
  await writeFile(join(place, 'package.json'), JSON.stringify(manifest));
  await writeFile(join(place, 'index.js'), source);
  await writeFile(join(folder, 'kubenest.yaml'), block('yaml'));
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

const guide = await readFile(join(root, 'docs/guide/webhook.md'), 'utf8');

/** Returns the first block of the guide in a language. */
function block(language: string): string {
  return new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(guide)?.[1] ?? '';
}

/** Returns the command of the guide that starts with the text. */
function command(start: string): string {
  const found = guide.split('\n').find((line) => line.startsWith(start));
  if (found === undefined) throw new Error(`the guide has no command ${start}`);
  return found;
}

/** Runs a command of the guide in the folder. */
async function run(line: string): Promise<string> {
  const env = { ...process.env, PATH: `${join(root, 'bin')}:${process.env['PATH']}` };
  return (await execute('sh', ['-c', line], { cwd: folder, env })).stdout;
}

/** Creates the printed objects, except that the Service leads to this machine. */
async function applyManifests(): Promise<void> {
  await run(command('kubenest webhook manifests --config kubenest.yaml --image'));
  const text = await readFile(join(folder, 'webhook.yaml'), 'utf8');
  for (const document of parseAllDocuments(text)) {
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
}

/** Starts a replica whose certificates are in the Secret. */
function start(at: number): Promise<Process> {
  const flags = ['--config=kubenest.yaml', '--kubeconfig=kubeconfig', '--bind-address=127.0.0.1', `--port=${at}`];
  return launch(at, [...flags, `--namespace=${namespace}`]);
}

/** Starts a replica and waits until it is ready. */
async function launch(at: number, flags: readonly string[]): Promise<Process> {
  const child = spawn(kubenest, ['webhook', ...flags], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  child.stderr.on('data', (data: Buffer) => (log += data.toString()));
  child.stdout.resume();
  await vi.waitFor(
    async () => {
      if (child.exitCode !== null) throw new Error(log);
      expect((await get(at, '/readyz')).status).toBe(200);
    },
    { interval: 100 },
  );
  return {
    child,
    port: at,
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

it('serves a cluster with the permissions, Service and webhooks of its manifests', async () => {
  await using _replica = await start(port);
  await vi.waitFor(async () => expect((await create('bad', { bad: '1' })).status).toBe(403));
  const denied = (await (await create('bad', { bad: '1' })).json()) as { message: string };
  expect(denied.message).toBe(
    'admission webhook "group-1.plugins.validate.kubenest.dev" denied the request: configmaps "bad" is forbidden: data.bad is not allowed',
  );
  expect((await create('counted', { counts: '0,0,0' })).status).toBe(201);
  expect(await (await create('counted', { counts: '1,0,0' })).json()).toMatchObject({
    message: expect.stringMatching(/counted 0,0,0$/) as unknown,
  });
  expect(await (await create('good')).json()).toMatchObject({ metadata: { labels: { namespaces: 'true' } } });
  const own = await create('own', { bad: '1' }, `/api/v1/namespaces/${namespace}/configmaps`);
  expect(own.status).toBe(201);
});

it('follows exceptions and counts their uses with the permissions of its manifests', async () => {
  await using _replica = await start(port);
  const exceptions = '/apis/policy.kubenest.dev/v1alpha1/namespaces/default/policyexceptions';
  const exception = {
    apiVersion: 'policy.kubenest.dev/v1alpha1',
    kind: 'PolicyException',
    metadata: { name: 'team' },
    spec: { plugins: ['Team'], reason: 'TICKET-1', names: ['excepted'] },
  };
  expect((await cluster.fetch(exceptions, { body: exception })).status).toBe(201);
  await vi.waitFor(async () => expect((await create('excepted', { bad: '1' })).status).not.toBe(403), { interval: 200 });
  await vi.waitFor(async () => expect(await (await cluster.fetch(`${exceptions}/team`)).json()).toMatchObject({ status: { uses: 2 } }), {
    interval: 200,
  });
  expect((await cluster.fetch(`${exceptions}/team`, { method: 'DELETE' })).status).toBe(200);
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
  const repaired = { clientConfig: { caBundle: expect.stringMatching(/^LS0t/) } };
  expect(await (await cluster.fetch(path)).json()).toMatchObject({ webhooks: [repaired, repaired] });
});

it('answers the requests in flight before it ends', async () => {
  await using replica = await start(port);
  await vi.waitFor(async () => expect((await create('bad', { bad: '1' })).status).toBe(403));
  const output = once(replica.child.stdout as Readable, 'data');
  const slow = create('slow', { slow: '1' });
  expect(String(await output)).toBe('slow\n');
  replica.child.kill('SIGTERM');
  expect((await slow).status).toBe(201);
  if (replica.child.exitCode === null) await once(replica.child, 'exit');
  expect(replica.child.exitCode).toBe(0);
});

it('shows metrics, plugins and traces to those whom the cluster permits', async () => {
  await using _replica = await start(port);
  expect((await get(port, '/metrics')).status).toBe(403);
  const token = cluster.token('admin');
  const answer = await get(port, '/validate', { token, body: review });
  expect(JSON.parse(answer.text)).toMatchObject({ response: { uid: '1', allowed: false, status: { code: 403, reason: 'Forbidden' } } });
  const trace = await get(port, `${String(answer.headers['kubenest-trace'])}?output=text`, { token });
  expect(trace.text).toMatch(/Team.*denied.*data\.bad is not allowed/);
  expect((await get(port, '/metrics', { token })).text).toMatch(
    /apiserver_admission_controller_admission_duration_seconds_count\{name="Team",operation="CREATE",rejected="true",type="validate"\} 1/,
  );
  expect((await get(port, '/debug/plugins', { token })).text).toContain('"name":"Team"');
});

it('applies changed files: its certificate, and the policies of packages', async () => {
  const own = await Authority.create('own');
  const write = async (): Promise<void> => {
    const { cert, key } = await own.issue({ commonName: 'own', names: ['127.0.0.1'], usages: ['server'] });
    await Promise.all([writeFile(join(folder, 'tls.crt'), cert), writeFile(join(folder, 'tls.key'), key)]);
  };
  await write();
  await cp(join(folder, 'kubenest.yaml'), join(folder, 'other.yaml'));
  const [line, at] = [command('kubenest webhook --config'), await freePort()];
  const flags = line
    .split(' ')
    .slice(2)
    .map((word) => ({ 'kubenest.yaml': 'other.yaml', 9443: `${at}` })[word] ?? word);
  await using _replica = await launch(at, [...flags, '--bind-address=127.0.0.1', '--request-traces=100']);
  const { certificate } = await get(at, '/livez');
  await write();
  await vi.waitFor(async () => expect((await get(at, '/livez')).certificate).not.toBe(certificate), { interval: 200 });

  const policies = '    policies: { Team: { mode: warn } }\n';
  await writeFile(join(folder, 'other.yaml'), (await readFile(join(folder, 'other.yaml'), 'utf8')).trimEnd() + `\n${policies}`);
  const warned = 'admission plugin "Team" of package @acme/rules would deny: data.bad is not allowed';
  await vi.waitFor(
    async () =>
      expect(JSON.parse((await get(at, '/validate', { body: review })).text)).toMatchObject({
        response: { allowed: true, warnings: [warned] },
      }),
    { interval: 200 },
  );
  const { text } = await get(at, '/debug/traces?output=text', { token: cluster.token('admin') });
  expect(text).toMatch(/review 1: CREATE: configmaps default\/a by ali/);
});

it('explains what the plugins do, without a deployment', async () => {
  const object = (name: string, data: object): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
  await writeFile(
    join(folder, 'objects.yaml'),
    [object('a', { bad: '1' }), object('b', {})].map((one) => JSON.stringify(one)).join('\n---\n'),
  );
  const explained = run(command('kubenest webhook explain')).then(
    () => ({ code: 0, stdout: '' }),
    (error: unknown) => error as { readonly code: number; readonly stdout: string },
  );
  const { code, stdout } = await explained;
  expect(code).toBe(1);
  const [denied, admitted] = stdout.split(/^(?=CREATE)/m);
  const user = `system:serviceaccount:${namespace}:${name}`;
  expect(denied?.split('\n', 1)[0]).toBe(
    `CREATE /api/v1/namespaces/default/configmaps by ${user}: 403 configmaps "a" is forbidden: data.bad is not allowed`,
  );
  expect(denied).toMatch(
    /Mutating admission[\s\S]*Team: changed[\s\S]*\+ \/metadata\/labels = \{"namespaces":"true"\}[\s\S]*Validating admission[\s\S]*Team: denied/,
  );
  expect(admitted?.split('\n', 1)[0]).toBe(`CREATE /api/v1/namespaces/default/configmaps by ${user}: 200`);
  expect(denied).not.toContain('review');
  // The sum of both phases is rounded as each of them is.
  expect(denied).toMatch(/─ \d+(\.\d{1,3})? ms in total/);
  const update = `${command('kubenest webhook explain')} --verb=delete --as=ali`;
  await expect(run(update)).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('cannot get resource "configmaps"') });
  await writeFile(join(folder, 'objects.yaml'), JSON.stringify(object('b', {})));
  await expect(run(command('kubenest webhook explain'))).resolves.toMatch(/: 200$/m);
});

it('prints only webhook configurations and the definitions of exceptions for a URL', async () => {
  const own = await Authority.create('own');
  await writeFile(join(folder, 'ca.crt'), own.pair.cert);
  const text = await run(command('kubenest webhook manifests --config kubenest.yaml --url'));
  const objects = parseAllDocuments(text).map((document) => document.toJS() as Manifest);
  expect(objects.map(({ kind }) => kind)).toEqual([
    'CustomResourceDefinition',
    'CustomResourceDefinition',
    'MutatingWebhookConfiguration',
    'ValidatingWebhookConfiguration',
  ]);
  const caBundle = Buffer.from(own.pair.cert).toString('base64');
  expect(objects[2]?.webhooks?.[0]?.clientConfig).toEqual({ url: 'https://webhook.example:9443/mutate/team', caBundle });
});

it.each([
  { name: 'without a configuration', args: [], says: /--config is required/ },
  { name: 'outside of a cluster', args: ['--config', 'kubenest.yaml'], says: /name the cluster with --kubeconfig/ },
  {
    name: 'with a configuration that does not exist',
    args: ['--config', 'none.yaml'],
    says: /--config: cannot open none\.yaml: there is no such file or folder/,
  },
  {
    name: 'with a certificate without its key',
    args: ['--config', 'kubenest.yaml', '--kubeconfig', 'kubeconfig', '--tls-cert-file=a'],
    says: /together/,
  },
])('does not start $name', async ({ args, says }) => {
  const failed = execute(kubenest, ['webhook', ...args], { cwd: folder, env: { PATH: process.env['PATH'] } });
  await expect(failed).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(says) });
});
