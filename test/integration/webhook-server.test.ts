import { newDefinition } from '#apiextensions-apiserver/testing/new-definition';
import { Buffer } from 'node:buffer';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { loadPlugins } from '#apiserver/plugins/load-plugins';
import type { LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import { exceptionDefinitions } from '#apiserver/plugins/policy/exception-definitions';
import type { PluginRequest } from '#apiserver/plugins/plugin-request';
import { readPolicy } from '#apiserver/plugins/policy/plugin-policy';
import { serveSdk } from '#apiserver/plugins/serve-sdk';
import { noCredentials, type ServiceConnection } from '#apiserver/network/webhook/kubeconfig';
import { newLog } from '#cmd/logging/log';
import { webhookConfigurations } from '#cmd/webhook/manifests/webhook-configurations';
import { knownScheme } from '#cmd/apis/known-scheme';
import { createWebhookServer, type WebhookServer } from '#cmd/webhook/webhook-server';
import { startTestCluster } from '#testing/index';
import { issueServingCertificate } from '#testing/serving-certificate';
import { etcd, noEtcd, startEtcd } from '../servers/etcd-server.ts';
import { kubeApiserver, noKubeApiserver, startKubeApiserver } from '../servers/kube-apiserver.ts';

const source = `
import { AdmissionPlugin, contribute, deny, Informers, inject } from 'kubenest/sdk';
const writes = { operations: ['CREATE', 'UPDATE'] };
class Labels {
  admit({ object }) { object.metadata.labels = { touched: 'yes', ...object.metadata.labels }; }
  validate(request) {
    if (request.object.data?.bad) deny(request, 'data.bad is not allowed');
    if (request.object.data?.odd) request.addWarning('data.odd is unusual');
    if (request.dryRun) request.addWarning('a dry run');
    request.addAnnotation('acme.example/seen', 'yes');
  }
}
AdmissionPlugin({ name: 'Labels', match: [{ groups: [''], resources: ['configmaps'], ...writes }] })(Labels);
class Sidecar {
  admit({ object }) {
    if (!object.spec.containers.some(({ name }) => name === 'sidecar')) object.spec.containers.push({ name: 'sidecar', image: 'sidecar' });
  }
}
AdmissionPlugin({ name: 'Sidecar', match: [{ groups: [''], resources: ['pods'], operations: ['CREATE'] }] })(Sidecar);
class Hosts {
  constructor(informers) { this.ingresses = informers.for({ group: 'networking.k8s.io', resource: 'ingresses' }); }
  validate(request) {
    const host = request.object.spec.rules?.[0]?.host;
    const other = this.ingresses.list().find((one) => one.metadata.name !== request.name && one.spec.rules?.[0]?.host === host);
    if (other) deny(request, 'host ' + host + ' belongs to ' + other.metadata.name);
  }
}
inject(Informers)(Hosts, undefined, 0);
AdmissionPlugin({ name: 'Hosts', match: [{ groups: ['networking.k8s.io'], resources: ['ingresses'], ...writes }] })(Hosts);
class Faults {
  admit({ object }) {
    const { fault } = object.metadata.annotations ?? {};
    if (fault === 'throws') throw new TypeError('secret detail');
    if (fault === 'renames') object.metadata.name = 'other';
    if (fault === 'unknown') object.spec.nonsense = 1;
    if (fault === 'hangs') return new Promise(() => {});
  }
}
AdmissionPlugin({ name: 'Faults', match: [{ groups: [''], resources: ['services'], operations: ['CREATE'] }] })(Faults);
class Advice { validate(request) { deny(request, 'name ' + request.name + ' is short'); } }
AdmissionPlugin({ name: 'Advice', match: [{ groups: [''], resources: ['secrets'], ...writes }] })(Advice);
class Deletes {
  validate(request) { if (request.oldObject.metadata.labels?.keep) deny(request, 'kept for ' + request.user.name); }
}
AdmissionPlugin({ name: 'Deletes', match: [{ groups: [''], resources: ['configmaps'], operations: ['DELETE'] }] })(Deletes);
class Scales {
  admit({ object }) { object.spec.minReplicas ??= 2; if (object.spec.minReplicas < 2) object.spec.minReplicas = 2; }
  validate(request) { if (!request.object.spec.metrics && request.object.spec.maxReplicas > 9) deny(request, 'needs metrics'); }
}
AdmissionPlugin({ name: 'Scales', match: [{ groups: ['autoscaling'], resources: ['horizontalpodautoscalers'], ...writes }] })(Scales);
class Custom {
  admit({ object }) { object.spec.color ??= 'red'; }
  validate(request) { if (request.object.spec.color === 'grey') deny(request, 'grey'); }
}
AdmissionPlugin({ name: 'Custom', match: [{ groups: ['acme.example'], resources: ['widgets'], ...writes }] })(Custom);
class Names { validate(request) { deny(request, [request.operation, request.resource.resource, request.subresource, request.namespace, request.name].join(' ')); } }
AdmissionPlugin({ name: 'Names', match: [{ groups: [''], resources: ['namespaces'], operations: ['CREATE'] }] })(Names);
class Subresources {
  validate(request) {
    const { kind, object, oldObject } = request;
    deny(request, [kind.group, kind.version, kind.kind, object?.spec?.replicas, oldObject?.spec?.replicas, object?.command].join(' '));
  }
}
const parts = ['exec', 'eviction', 'scale', 'status'];
AdmissionPlugin({ name: 'Subresources', match: [{ groups: ['', 'apps'], resources: ['pods', 'deployments'], subresources: parts, operations: ['CREATE', 'UPDATE', 'CONNECT'] }] })(Subresources);
export default contribute(Names, Subresources, Labels, Sidecar, Hosts, Faults, Advice, Deletes, Scales, Custom);
`;

/** A package whose failures are ignored. */
const soft = `
import { AdmissionPlugin, contribute } from 'kubenest/sdk';
class Soft {
  admit({ object }) {
    object.metadata.labels = { soft: 'yes' };
    if (object.data?.odd) throw new Error('broken');
  }
}
AdmissionPlugin({ name: 'Soft', before: ['Labels'], match: [{ resources: ['configmaps'], operations: ['CREATE'] }] })(Soft);
export default contribute(Soft);
`;

let folder: string;
beforeAll(async () => {
  serveSdk();
  folder = await mkdtemp(join(tmpdir(), 'kubenest-webhook-'));
  for (const [name, text] of Object.entries({ rules: source, soft })) {
    const place = join(folder, name);
    await mkdir(place);
    const manifest = { name: `@acme/${name}`, version: '1.0.0', type: 'module', kubenest: { sdk: '^1', plugins: ['./index.js'] } };
    await writeFile(join(place, 'package.json'), JSON.stringify(manifest));
    await writeFile(join(place, 'index.js'), text);
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function contributions(more: Partial<PluginRequest> = {}): Promise<LoadedContribution[]> {
  const guard = { timeoutMs: 2_000 };
  const advice = { mode: 'warn', scope: { namespaces: ['default'] } };
  const policies = new Map([['Advice', readPolicy(advice, 'Advice')]]);
  return loadPlugins(
    [
      { package: './rules', guard, policies, ...more },
      { package: './soft', guard: { failurePolicy: 'Ignore' } },
    ],
    folder,
  );
}

/** A cluster, as an administrator sees it. */
interface Cluster {
  readonly connection: ServiceConnection;
}

interface Outcome {
  readonly status: number;
  readonly body: Record<string, unknown> & { readonly metadata?: KubeObject['metadata'] };
  readonly warnings: readonly string[];
}

async function ask({ connection }: Cluster, method: string, path: string, body?: object): Promise<Outcome> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const sent = https.request(
    new URL(path, connection.url),
    { method, rejectUnauthorized: false, agent: false, headers: { authorization: connection.authorization, 'content-type': type } },
    (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const warning = response.headers['warning'] as string | undefined;
        const warnings = [...(warning ?? '').matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map((match) => match[1] as string);
        const text = Buffer.concat(chunks).toString();
        // A path that is not served yet has a page of text.
        const body = (text.startsWith('{') ? JSON.parse(text) : {}) as Outcome['body'];
        resolve({ status: response.statusCode ?? 0, body, warnings });
      });
    },
  );
  sent.on('error', reject).end(body && JSON.stringify(body));
  return promise;
}

function clusterOf(url: string, token: string): Cluster {
  return {
    connection: {
      ...noCredentials,
      url: new URL(url),
      authorization: `Bearer ${token}`,
      certificateAuthority: undefined,
      serverName: undefined,
      insecure: true,
    },
  };
}

interface Row {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  /** Creation that gets this status once the plugins know the object of this row. */
  readonly known?: { readonly path: string; readonly body: object; readonly status: number };
}

const core = '/api/v1/namespaces/default';
const map = (name: string, more: object = {}): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...more });
const service = (name: string, fault: string): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, annotations: { fault } },
  spec: { type: 'ExternalName', externalName: 'example.com' },
});
const ingress = (name: string, host: string): object => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: { name },
  spec: {
    rules: [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'a', port: { number: 1 } } } }] } }],
  },
});
const autoscaler = (version: string, name: string, spec: object): object => ({
  apiVersion: `autoscaling/${version}`,
  kind: 'HorizontalPodAutoscaler',
  metadata: { name },
  spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, ...spec },
});
const widget = (name: string, spec: object): object => ({ apiVersion: 'acme.example/v1', kind: 'Widget', metadata: { name }, spec });
const labels = { app: 'web' };
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } } },
};
const ingresses = '/apis/networking.k8s.io/v1/namespaces/default/ingresses';
const autoscalers = (version: string): string => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
const exceptionGroup = '/apis/policy.kubenest.dev/v1alpha1';
const exceptions = `${exceptionGroup}/namespaces/default/policyexceptions`;
const clusterExceptions = `${exceptionGroup}/clusterpolicyexceptions`;
const exception = (kind: string, name: string, spec: object): object => ({
  apiVersion: 'policy.kubenest.dev/v1alpha1',
  kind,
  metadata: { name },
  spec: { plugins: ['Labels'], reason: 'TICKET-1', ...spec },
});
const dryMaps = `${core}/configmaps?dryRun=All`;
const bad = { data: { bad: '1' } };
const widgets = '/apis/acme.example/v1/namespaces/default/widgets';

const rows: readonly Row[] = [
  { name: 'a change', method: 'POST', path: `${core}/configmaps`, body: map('one', { data: { a: '1' } }) },
  {
    name: 'no change',
    method: 'POST',
    path: `${core}/configmaps`,
    body: map('two', { metadata: { name: 'two', labels: { touched: 'x' } } }),
  },
  { name: 'a denial', method: 'POST', path: `${core}/configmaps`, body: map('three', { data: { bad: '1' } }) },
  { name: 'a warning', method: 'POST', path: `${core}/configmaps`, body: map('four', { data: { odd: '1' } }) },
  { name: 'a dry run', method: 'POST', path: `${core}/configmaps?dryRun=All`, body: map('five') },
  { name: 'a patch that is denied', method: 'PATCH', path: `${core}/configmaps/one`, body: { data: { bad: '1' } } },
  { name: 'a patch', method: 'PATCH', path: `${core}/configmaps/one`, body: { metadata: { labels: { touched: null, keep: 'yes' } } } },
  { name: 'a deletion that is denied', method: 'DELETE', path: `${core}/configmaps/one` },
  { name: 'a deletion', method: 'DELETE', path: `${core}/configmaps/two` },
  {
    name: 'a list item, whose defaults are added',
    method: 'POST',
    path: `${core}/pods`,
    body: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec: { containers: [{ name: 'web', image: 'web' }] } },
  },
  { name: 'a plugin that throws', method: 'POST', path: `${core}/services`, body: service('a', 'throws') },
  { name: 'a plugin that renames', method: 'POST', path: `${core}/services`, body: service('b', 'renames') },
  { name: 'a plugin that adds an unknown field', method: 'POST', path: `${core}/services`, body: service('c', 'unknown') },
  { name: 'a plugin that hangs', method: 'POST', path: `${core}/services`, body: service('d', 'hangs') },
  { name: 'mode warn', method: 'POST', path: `${core}/secrets`, body: { ...map('s'), kind: 'Secret', stringData: { a: 'b' } } },
  {
    name: 'outside of the scope',
    method: 'POST',
    path: '/api/v1/namespaces/kube-system/secrets',
    body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } },
  },
  {
    name: 'a first host',
    method: 'POST',
    path: ingresses,
    body: ingress('one', 'a.example'),
    known: { path: `${ingresses}?dryRun=All`, body: ingress('two', 'a.example'), status: 403 },
  },
  { name: 'a host that is taken', method: 'POST', path: ingresses, body: ingress('two', 'a.example') },
  { name: 'another version, which is changed', method: 'POST', path: autoscalers('v1'), body: autoscaler('v1', 'a', { maxReplicas: 5 }) },
  {
    name: 'another version with fields that only it has',
    method: 'POST',
    path: autoscalers('v1'),
    body: autoscaler('v1', 'b', { maxReplicas: 20, targetCPUUtilizationPercentage: 5 }),
  },
  { name: 'another version without them', method: 'POST', path: autoscalers('v1'), body: autoscaler('v1', 'd', { maxReplicas: 20 }) },
  { name: 'the storage version', method: 'POST', path: autoscalers('v2'), body: autoscaler('v2', 'c', { maxReplicas: 5, minReplicas: 1 }) },
  { name: 'a custom resource', method: 'POST', path: widgets, body: widget('a', {}) },
  { name: 'a custom resource that is denied', method: 'POST', path: widgets, body: widget('b', { color: 'grey' }) },
  {
    name: 'a namespace, whose namespace is its own name',
    method: 'POST',
    path: '/api/v1/namespaces',
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'new' } },
  },
  {
    name: 'an eviction',
    method: 'POST',
    path: `${core}/pods/web/eviction`,
    body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web' } },
  },
  { name: 'a connection', method: 'POST', path: `${core}/pods/web/exec?command=ls&stdout=true` },
  { name: 'a deployment', method: 'POST', path: '/apis/apps/v1/namespaces/default/deployments', body: deployment },
  {
    name: 'a scale',
    method: 'PATCH',
    path: '/apis/apps/v1/namespaces/default/deployments/web/scale',
    body: { spec: { replicas: 7 } },
  },
  { name: 'a status', method: 'PATCH', path: '/apis/apps/v1/namespaces/default/deployments/web/status', body: { status: { replicas: 1 } } },
  {
    name: 'an exception',
    method: 'POST',
    path: exceptions,
    body: exception('PolicyException', 'web', { names: ['web-*'], expires: '2999-01-01T00:00:00Z' }),
    known: { path: dryMaps, body: map('web-0', bad), status: 201 },
  },
  { name: 'an object with an exception', method: 'POST', path: `${core}/configmaps`, body: map('web-1', bad) },
  { name: 'an object without one', method: 'POST', path: `${core}/configmaps`, body: map('db-1', bad) },
  { name: 'an object of another namespace', method: 'POST', path: '/api/v1/namespaces/kube-system/configmaps', body: map('web-1', bad) },
  {
    name: 'an exception of the cluster',
    method: 'POST',
    path: clusterExceptions,
    body: exception('ClusterPolicyException', 'ci', { expression: "request.userInfo.username == 'admin' && object.data.ci == 'yes'" }),
    known: { path: dryMaps, body: map('any', { data: { bad: '1', ci: 'yes' } }), status: 201 },
  },
  {
    name: 'an object with an exception of the cluster',
    method: 'POST',
    path: '/api/v1/namespaces/kube-system/configmaps',
    body: map('web-1', { data: { bad: '1', ci: 'yes' } }),
  },
  { name: 'an object whose exception is not evaluated', method: 'POST', path: `${core}/configmaps`, body: map('db-2', bad) },
  {
    name: 'an exception with a wrong expression',
    method: 'POST',
    path: exceptions,
    body: exception('PolicyException', 'wrong', { expression: 'object.' }),
  },
  { name: 'an exception of everything', method: 'POST', path: clusterExceptions, body: exception('ClusterPolicyException', 'all', {}) },
  {
    name: 'an exception without a reason',
    method: 'POST',
    path: exceptions,
    body: exception('PolicyException', 'none', { reason: '' }),
  },
  {
    name: 'an exception that has expired',
    method: 'POST',
    path: exceptions,
    body: exception('PolicyException', 'old', { expires: '2001-01-01T00:00:00Z' }),
  },
  {
    name: 'the end of an exception',
    method: 'DELETE',
    path: `${exceptions}/web`,
    known: { path: dryMaps, body: map('web-0', bad), status: 403 },
  },
  { name: 'an object whose exception has ended', method: 'POST', path: `${core}/configmaps`, body: map('web-2', bad) },
  { name: 'an object that is invalid', method: 'POST', path: `${core}/configmaps`, body: map('INVALID') },
];

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const definition = newDefinition({
  kind: 'Widget',
  group: 'acme.example',
  schema: { type: 'object', properties: { spec: { type: 'object', properties: { color: { type: 'string' } } } } },
});

/** Returns the outcomes of the table, without what differs between two runs. */
async function play(cluster: Cluster, played = rows): Promise<Record<string, unknown>> {
  const outcomes: Record<string, unknown> = {};
  for (const { name, method, path, body, known } of played) {
    const { status, body: answer, warnings } = await ask(cluster, method, path, body);
    outcomes[name] = { status, answer: comparable(answer), warnings };
    if (known) await vi.waitUntil(async () => (await ask(cluster, 'POST', known.path, known.body)).status === known.status, waiting);
  }
  return outcomes;
}

function comparable(answer: Outcome['body']): unknown {
  if (answer['kind'] === 'Status') {
    const { message = '', details, ...status } = answer as { message?: string; details?: Record<string, unknown> };
    const { uid: _, ...rest } = details ?? {};
    return { ...status, details: rest, message: message.replace(/^admission webhook "[^"]+" denied the request: /, '') };
  }
  const { metadata, status: _, ...object } = answer as { metadata: Record<string, unknown>; status?: object };
  const { uid: _uid, resourceVersion: _version, creationTimestamp: _time, managedFields: _fields, ...kept } = metadata;
  return { ...object, metadata: kept };
}

async function prepare(cluster: Cluster): Promise<void> {
  await ask(cluster, 'POST', definitions, definition);
  await ask(cluster, 'POST', `${core.slice(0, -8)}`, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } });
  await ask(cluster, 'POST', `${core}/serviceaccounts`, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } });
  await vi.waitUntil(async () => (await ask(cluster, 'GET', widgets)).status === 200, waiting);
}

const waiting = { timeout: 20_000, interval: 200 };

async function prepareForWebhook(cluster: Cluster): Promise<void> {
  await prepare(cluster);
  await createDefinitions(cluster);
}

/** Creates the definitions of exceptions, which a server with packages has already. */
async function createDefinitions(cluster: Cluster): Promise<void> {
  for (const exceptionDefinition of exceptionDefinitions())
    expect(await ask(cluster, 'POST', `${definitions}?fieldValidation=Strict`, exceptionDefinition)).toMatchObject({ status: 201 });
  for (const path of [exceptions, clusterExceptions])
    await vi.waitUntil(async () => (await ask(cluster, 'GET', path)).status === 200, waiting);
}

/** Starts a webhook server for a cluster, and registers its webhooks. */
async function startWebhook(cluster: Cluster, loaded: readonly LoadedContribution[]): Promise<WebhookServer & AsyncDisposable> {
  const { certificateAuthority, ...certificate } = await issueServingCertificate();
  const server = await createWebhookServer({
    connection: cluster.connection,
    contributions: loaded,
    listener: { bindAddress: '127.0.0.1', port: 0, certificate },
    log: newLog(-1),
    id: 'test',
    shutdownDelayMs: 0,
  });
  const { port } = (await server.start()) as AddressInfo;
  await server.whenSynced();
  const plugins = loaded.map((contribution) => ({ contribution, phases: ['mutate', 'validate'] as const }));
  const configurations = webhookConfigurations(plugins, knownScheme(), {
    name: 'kubenest',
    excludedNamespaces: [],
    clientConfig: (path) => ({ url: `https://127.0.0.1:${port}${path}`, caBundle: Buffer.from(certificateAuthority).toString('base64') }),
  });
  for (const configuration of configurations as { kind: string }[]) {
    const path = `/apis/admissionregistration.k8s.io/v1/${configuration.kind.toLowerCase()}s`;
    expect(await ask(cluster, 'POST', path, configuration)).toMatchObject({ status: 201 });
  }
  // The API server may know one of the configurations before the other.
  const post = (probe: object): Promise<Outcome> => ask(cluster, 'POST', `${core}/configmaps?dryRun=All`, probe);
  await vi.waitUntil(async () => (await post(map('probe', { data: { bad: '1' } }))).status === 403, waiting);
  await vi.waitUntil(async () => (await post(map('probe'))).body.metadata?.labels?.['touched'] === 'yes', waiting);
  return Object.assign(server, { [Symbol.asyncDispose]: () => server.stop() });
}

/** Plays the table with the plugins in the server's own process. */
async function playInProcess(more: Partial<PluginRequest> = {}, played = rows): Promise<Record<string, unknown>> {
  await using own = await startTestCluster({ listen: true, quiet: true, config: { plugins: await contributions(more) } });
  const cluster = clusterOf(own.url as string, own.token('admin'));
  await prepare(cluster);
  return await play(cluster, played);
}

describe('a webhook server gives the verdicts that plugins give in process', () => {
  it('for another kubenest', async () => {
    await using other = await startTestCluster({ listen: true, quiet: true });
    const cluster = clusterOf(other.url as string, other.token('admin'));
    await prepareForWebhook(cluster);
    await using _webhook = await startWebhook(cluster, await contributions());
    const outcomes = await play(cluster);
    expect(outcomes).toEqual(await playInProcess());
    expect(outcomes).toMatchObject({
      'a denial': { status: 403, answer: { message: 'configmaps "three" is forbidden: data.bad is not allowed' } },
      'a change': { answer: { metadata: { labels: { touched: 'yes', soft: 'yes' } } } },
      'a warning': { status: 201, answer: { metadata: { labels: { touched: 'yes' } } }, warnings: ['data.odd is unusual'] },
      'a namespace, whose namespace is its own name': { answer: { message: 'namespaces "new" is forbidden: CREATE namespaces  new new' } },
      'an eviction': { status: 403 },
      'a connection': { status: 403 },
      'a scale': { status: 403 },
      'a plugin that throws': { status: 500 },
      'a host that is taken': { status: 403 },
      'another version, which is changed': { status: 201, answer: { spec: { minReplicas: 2 } } },
      'another version with fields that only it has': { status: 201 },
      'an object with an exception': { status: 201 },
      'an object without one': { status: 403 },
      'an object of another namespace': { status: 403 },
      'an object with an exception of the cluster': { status: 201 },
      'an exception with a wrong expression': { status: 422 },
      'an exception of everything': { status: 422 },
      'an exception without a reason': { status: 422 },
      'an exception that has expired': { status: 201, warnings: [expect.stringContaining('has passed')] },
      'an object whose exception has ended': { status: 403 },
      'a custom resource': { status: 201, answer: { spec: { color: 'red' } } },
    });
  }, 60_000);

  it('in worker threads', async () => {
    // A thread has no informers, by which Hosts knows other hosts.
    const played = rows.filter(({ path }) => path !== ingresses);
    const isolated = { isolation: 'worker', contributions: ['Labels', 'Sidecar', 'Advice', 'Deletes', 'Scales', 'Custom'] } as const;
    await using other = await startTestCluster({ listen: true, quiet: true });
    const cluster = clusterOf(other.url as string, other.token('admin'));
    await prepareForWebhook(cluster);
    await using _webhook = await startWebhook(cluster, await contributions(isolated));
    expect(await play(cluster, played)).toEqual(await playInProcess(isolated, played));
  }, 60_000);

  it('for kube-apiserver', async ({ skip }) => {
    if (etcd === undefined) skip(noEtcd);
    if (kubeApiserver === undefined) skip(noKubeApiserver);
    await using store = await startEtcd();
    await using real = await startKubeApiserver(store.url, ['--disable-admission-plugins=ServiceAccount']);
    const cluster = clusterOf(real.url, 'admin-token');
    await prepareForWebhook(cluster);
    await using _webhook = await startWebhook(cluster, await contributions());
    expect(await play(cluster)).toEqual(await playInProcess());
  }, 120_000);
});

it('exceptions apply once the cluster serves them, their uses are counted, and none remains when their definition is deleted', async () => {
  await using other = await startTestCluster({ listen: true, quiet: true });
  const cluster = clusterOf(other.url as string, other.token('admin'));
  await prepare(cluster);
  await using _webhook = await startWebhook(cluster, await contributions());
  const create = async (query = ''): Promise<number> => (await ask(cluster, 'POST', `${core}/configmaps${query}`, map('web', bad))).status;
  expect(await create()).toBe(403);
  await createDefinitions(cluster);
  const unknown = exception('PolicyException', 'web', { plugins: ['Labels', 'Label'] });
  expect(await ask(cluster, 'POST', exceptions, unknown)).toMatchObject({
    status: 201,
    warnings: [expect.stringMatching(/^spec\.plugins\[1\]: this webhook server has no plugin .*Label.* \(Names, /)],
  });
  await vi.waitUntil(async () => (await create('?dryRun=All')) === 201, waiting);
  expect(await create()).toBe(201);
  // One call of each phase.
  const used = expect.objectContaining({ uses: 2, conditions: [expect.objectContaining({ type: 'Expired', status: 'False' })] });
  await vi.waitFor(async () => expect((await ask(cluster, 'GET', `${exceptions}/web`)).body['status']).toEqual(used), waiting);
  expect((await ask(cluster, 'DELETE', `${definitions}/policyexceptions.policy.kubenest.dev`)).status).toBe(200);
  await vi.waitFor(async () => expect(await create('?dryRun=All')).toBe(403), waiting);
}, 60_000);
