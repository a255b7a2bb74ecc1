/** The webhook server's side of a cluster: client, informers, kinds, and certificates in a Secret. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { CaBundles } from '#cmd/webhook/certificates/ca-bundles';
import { CertificateSecret } from '#cmd/webhook/certificates/certificate-secret';
import type { CertificateData } from '#cmd/webhook/certificates/certificate-data';
import { ClusterApi } from '#cmd/webhook/cluster/cluster-api';
import { ClusterInformers } from '#cmd/webhook/cluster/cluster-informers';
import { ClusterKinds } from '#cmd/webhook/cluster/cluster-kinds';
import { clusterConnection } from '#cmd/webhook/cluster/connection';
import { knownScheme } from '#cmd/apis/known-scheme';
import { startTestCluster, type TestCluster } from '#testing/index';

const ignore = (): void => {};
const logger = { info: ignore, warn: ignore, error: ignore };
const maps = { group: '', version: 'v1', resource: 'configmaps' };
const map = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } }) as KubeObject;

let folder: string;
let cluster: TestCluster;
let api: ClusterApi;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-cluster-'));
  cluster = await startTestCluster({ listen: true, quiet: true });
  await writeFile(join(folder, 'kubeconfig'), cluster.kubeconfig());
  api = new ClusterApi(await clusterConnection(join(folder, 'kubeconfig')));
});
afterEach(async () => {
  api[Symbol.dispose]();
  await cluster[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

it('connects as the service account of a pod', async () => {
  await writeFile(join(folder, 'ca.crt'), cluster.certificateAuthority as string);
  await writeFile(join(folder, 'token'), cluster.token('admin'));
  const { hostname, port } = new URL(cluster.url as string);
  const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
  using own = new ClusterApi(await clusterConnection(undefined, { env, folder }));
  expect(await own.client.get({ ...maps, resource: 'namespaces' }, '', 'default')).toMatchObject({ kind: 'Namespace' });
});

it('reads and writes as itself and as other users', async () => {
  const client = api.pluginClient;
  await client.create(maps, map('a'));
  await client.update(maps, 'default', 'a', (object) => ({ ...object, metadata: { ...object.metadata, labels: { x: 'y' } } }));
  expect(await client.get(maps, 'default', 'a')).toMatchObject({ metadata: { labels: { x: 'y' } } });
  const nobody = client.asUser({ name: 'ali', groups: ['devs', 'ops'] });
  await expect(nobody.get(maps, 'default', 'a')).rejects.toThrow('User "ali" cannot get resource "configmaps"');
  // The last of several groups counts, too.
  const admin = client.asUser({ name: 'ali', groups: ['devs', 'system:masters'], extra: { 'acme.example/why': ['a', 'b'] } });
  expect(await admin.get(maps, 'default', 'a')).toMatchObject({ metadata: { name: 'a' } });
  await client.delete(maps, 'default', 'a');
  await client.delete(maps, 'default', 'a');
  expect(await client.get(maps, 'default', 'a')).toBeUndefined();
});

it('fails with ServiceUnavailable if the cluster does not answer', async () => {
  await cluster.app.stop();
  await expect(api.client.get(maps, 'default', 'a')).rejects.toMatchObject({ status: { code: 503 } });
  cluster = await startTestCluster();
});

it('follows objects in the form of the server, and waits for kinds that do not exist yet', async () => {
  using informers = new ClusterInformers(api, knownScheme(), logger);
  const scalers = informers.for({ group: 'autoscaling', resource: 'horizontalpodautoscalers' });
  const widgets = informers.for({ group: 'acme.example', resource: 'widgets' });
  await scalers.synced;
  expect(() => informers.assertSynced()).toThrow(/widgets\.acme\.example/);
  expect(() => widgets.list()).toThrow('not read yet');
  const spec = {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    maxReplicas: 5,
    targetCPUUtilizationPercentage: 50,
  };
  const scaler = { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', metadata: { name: 'web', namespace: 'default' }, spec };
  await api.client.create({ group: 'autoscaling', version: 'v1', resource: 'horizontalpodautoscalers' }, scaler as KubeObject);
  await vi.waitFor(() =>
    expect(scalers.get('default', 'web')).toMatchObject({ apiVersion: 'autoscaling/v2', spec: { metrics: [{ type: 'Resource' }] } }),
  );
  const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' };
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }];
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.acme.example' },
    spec: { group: 'acme.example', scope: 'Namespaced', names, versions },
  };
  await api.client.create(
    { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' },
    definition as KubeObject,
  );
  await vi.waitFor(() => informers.assertSynced());
});

it('maps kinds to resources and reads their objects', async () => {
  using informers = new ClusterInformers(api, knownScheme(), logger);
  using kinds = new ClusterKinds(api, informers, logger);
  await kinds.start();
  const kind = { group: '', version: 'v1', kind: 'ConfigMap' };
  expect(kinds.resourcesOf(kind)).toEqual([{ resource: maps, namespaced: true }]);
  expect(kinds.resourcesOf({ ...kind, kind: 'Nothing' })).toEqual([]);
  await api.client.create(maps, map('a'));
  const objects = kinds.find(kind);
  await objects?.whenReady();
  expect(objects?.list('default').map(({ metadata }) => metadata.name)).toContain('a');
});

it('shares certificates between replicas that start together, and makes them again after a deletion', async () => {
  const options = { namespace: 'default', name: 'certificates', hosts: ['a.default.svc'], logger };
  const replicas = [1, 2, 3].map(() => new CertificateSecret(api, options));
  try {
    const [first, ...others] = await Promise.all(replicas.map((replica) => replica.renew()));
    for (const other of others) expect(other).toEqual(first);
    const changes: CertificateData[] = [];
    for (const replica of replicas) replica.follow((data) => changes.push(data));
    await api.client.delete({ ...maps, resource: 'secrets' }, 'default', 'certificates');
    await vi.waitFor(() => expect(changes.length).toBeGreaterThanOrEqual(replicas.length));
    expect(await replicas[0]?.renew()).toEqual(await replicas[1]?.renew());
    expect(changes.at(-1)).toEqual(await replicas[2]?.renew());
    expect(changes.at(-1)?.serving).not.toEqual(first?.serving);
  } finally {
    for (const replica of replicas) replica[Symbol.dispose]();
  }
});

it('sets caBundle of webhooks with a Service, and leaves others alone', async () => {
  const target = { group: 'admissionregistration.k8s.io', version: 'v1', resource: 'validatingwebhookconfigurations' };
  const webhook = (name: string, clientConfig: object): object => ({
    name: `${name}.acme.example`,
    clientConfig,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    failurePolicy: 'Ignore',
    rules: [{ apiGroups: ['x'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['y'] }],
  });
  const webhooks = [webhook('one', { service: { name: 'a', namespace: 'default' } }), webhook('two', { url: 'https://example.com/' })];
  await api.client.create(target, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'a' },
    webhooks,
  } as unknown as KubeObject);
  using bundles = new CaBundles(api, 'a', logger);
  const pem = cluster.certificateAuthority as string;
  await bundles.use([pem]);
  const set = (await api.client.get(target, '', 'a')) as unknown as { webhooks: { clientConfig: { caBundle?: string } }[] };
  expect(set.webhooks.map(({ clientConfig }) => clientConfig.caBundle)).toEqual([Buffer.from(pem).toString('base64'), undefined]);
});
