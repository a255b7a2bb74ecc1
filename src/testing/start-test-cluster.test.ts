import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AdmissionPlugin, type Attributes, Configuration, forbidden, inject } from 'kubenest/sdk';
import { IsString } from 'kubenest/sdk/configuration';
import type { Node } from 'kubenest/types/core_v1';
import { describe, expect, it, vi } from 'vitest';
import { startTestCluster } from './start-test-cluster.ts';

const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
const configMaps = '/api/v1/namespaces/default/configmaps';

@AdmissionPlugin({ name: 'NoSecrets', match: [{ groups: [''], resources: ['secrets'], operations: ['CREATE'] }] })
class NoSecrets {
  validate(request: Attributes): void {
    throw forbidden(request, 'keep them elsewhere');
  }
}

class QuietConfiguration {
  @IsString({ each: true })
  names: string[] = ['noise'];
}

@AdmissionPlugin({
  name: 'Quiet',
  configuration: QuietConfiguration,
  match: [{ groups: [''], resources: ['configmaps'], operations: ['CREATE'] }],
})
class Quiet {
  constructor(@inject(Configuration) readonly configuration: QuietConfiguration) {}

  validate(request: Attributes): void {
    if (this.configuration.names.includes(request.name)) throw forbidden(request, 'too loud');
  }
}

describe('the configuration of a plugin in a test cluster', () => {
  it.each([
    { name: 'of the class by default', configuration: undefined, denied: 'noise' },
    { name: 'as in a configuration file', configuration: { names: ['bang'] }, denied: 'bang' },
  ])('is $name', async ({ configuration, denied }) => {
    await using cluster = await startTestCluster({ plugins: [{ plugin: Quiet, configuration }] });
    for (const name of ['noise', 'bang'])
      expect((await cluster.fetch(configMaps, { body: configMap(name) })).status).toBe(name === denied ? 403 : 201);
  });

  it.each([
    { name: 'a wrong type', plugin: Quiet, configuration: { names: [1] }, says: 'Quiet.names: each value in names must be a string' },
    { name: 'an unknown member', plugin: Quiet, configuration: { name: 'a' }, says: 'Quiet.name is unknown' },
    { name: 'a plugin without a configuration', plugin: NoSecrets, configuration: {}, says: 'NoSecrets takes no configuration' },
  ])('is refused for $name, as by the server', async ({ plugin, configuration, says }) => {
    await expect(startTestCluster({ plugins: [{ plugin, configuration }] })).rejects.toThrow(says);
  });
});

describe('startTestCluster', () => {
  it('starts within moments, and stops with its scope', async () => {
    const began = performance.now();
    let response: Response;
    {
      await using cluster = await startTestCluster();
      expect(performance.now() - began).toBeLessThan(2_000);
      response = await cluster.fetch('/readyz');
    }
    expect(await response.text()).toBe('ok');
  });

  it('runs beside other clusters', async () => {
    await using one = await startTestCluster({ objects: [configMap('a')] });
    await using other = await startTestCluster();
    expect((await one.fetch(`${configMaps}/a`)).status).toBe(200);
    expect((await other.fetch(`${configMaps}/a`)).status).toBe(404);
  });

  it('authenticates and authorizes its users', async () => {
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'viewer' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }],
    };
    const binding = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'viewers' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'viewer' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'viewers' }],
    };
    await using cluster = await startTestCluster({ users: [{ name: 'jane', groups: ['viewers'] }], objects: [role, binding] });
    expect((await cluster.fetch(configMaps, { as: 'jane' })).status).toBe(200);
    expect((await cluster.fetch(configMaps, { as: 'jane', body: configMap('a') })).status).toBe(403);
    expect(() => cluster.token('joe')).toThrow(/unknown user "joe"/);
  });

  it('creates its objects with their status', async () => {
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [
          { name: 'v1', served: true, storage: true, schema, subresources: { status: {} } },
          { name: 'v2', served: true, storage: false, schema },
        ],
      },
    };
    const widget = (name: string, version: string) => ({
      apiVersion: `example.com/${version}`,
      kind: 'Widget',
      metadata: { name },
      status: { phase: 'Ready' },
    });
    const spec = { containers: [{ name: 'a', image: 'a' }] };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec, status: { phase: 'Running', podIP: '10.0.0.7' } };
    await using cluster = await startTestCluster({ objects: [definition, widget('a', 'v1'), widget('b', 'v2'), pod] });
    const read = async (path: string): Promise<unknown> => (await cluster.fetch(path)).json();
    expect(await read('/apis/example.com/v1/namespaces/default/widgets/a')).toMatchObject({ status: { phase: 'Ready' } });
    expect(await read('/apis/example.com/v1/namespaces/default/widgets/b')).toMatchObject({ status: { phase: 'Ready' } });
    expect(await read('/api/v1/namespaces/default/pods/web')).toMatchObject({
      status: { phase: 'Running', podIP: '10.0.0.7', qosClass: 'BestEffort' },
    });
  });

  it('reports why a definition is not established', async () => {
    const definition = (plural: string, kind: string) => ({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.example.com` },
      spec: {
        group: 'example.com',
        scope: 'Cluster',
        names: { plural, kind },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    });
    const objects = [definition('widgets', 'Widget'), definition('gadgets', 'Widget')];
    await expect(startTestCluster({ objects, quiet: true })).rejects.toThrow(/gadgets\.example\.com: "WidgetList" is already in use/);
  });

  it.each([
    { what: 'a key of its own', flags: async () => [] },
    {
      what: 'a key that is named',
      flags: async (folder: string) => {
        const file = join(folder, 'sa.key');
        await writeFile(file, generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }));
        return [`--service-account-signing-key-file=${file}`, `--service-account-key-file=${file}`];
      },
    },
  ])('signs service account tokens with $what, and pods need no account', async ({ flags }) => {
    const folder = await mkdtemp(join(tmpdir(), 'kubenest-test-'));
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec: { containers: [{ name: 'a', image: 'a' }] } };
    await using cluster = await startTestCluster({ objects: [account, pod], flags: await flags(folder) });
    await rm(folder, { recursive: true });
    const response = await cluster.fetch('/api/v1/namespaces/default/serviceaccounts/robot/token', { body: { spec: {} } });
    expect(response.status).toBe(201);
    const { status } = (await response.json()) as { readonly status: { readonly token: string } };
    const review = await cluster.fetch('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      as: null,
      headers: { authorization: `Bearer ${status.token}` },
      body: {},
    });
    expect(await review.json()).toMatchObject({ status: { userInfo: { username: 'system:serviceaccount:default:robot' } } });
  });

  it('runs the given plugins', async () => {
    await using cluster = await startTestCluster({ plugins: [NoSecrets] });
    const response = await cluster.fetch('/api/v1/namespaces/default/secrets', { body: { metadata: { name: 's' } } });
    expect(await response.json()).toMatchObject({ code: 403, message: 'secrets "s" is forbidden: keep them elsewhere' });
  });

  it('accepts flags, and rejects wrong ones by name', async () => {
    await using cluster = await startTestCluster({ flags: ['--enable-admission-plugins=AlwaysDeny'] });
    expect((await cluster.fetch(configMaps, { body: configMap('a') })).status).toBe(403);
    await expect(startTestCluster({ flags: ['--no-such-flag'] })).rejects.toThrow(/no-such-flag/);
  });

  it('stores its objects in a given file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kubenest-test-'));
    const storage = { file: join(folder, 'objects.db') };
    {
      await using cluster = await startTestCluster({ storage });
      await cluster.fetch(configMaps, { body: configMap('kept') });
    }
    {
      await using cluster = await startTestCluster({ storage });
      expect((await cluster.fetch(`${configMaps}/kept`)).status).toBe(200);
    }
    await rm(folder, { recursive: true });
  });

  it('has nodes whose kubelets answer, also through the proxy', async () => {
    await using cluster = await startTestCluster({ controllers: ['*'], nodes: 1 });
    const pod = (rest: string): string => `/api/v1/namespaces/default/pods/web${rest}`;
    const spec = { containers: [{ name: 'c', image: 'nginx' }] };
    // The default ServiceAccount may not exist yet.
    await vi.waitFor(async () => {
      const metadata = { name: 'web', annotations: { 'node.kubenest.dev/logs': 'one' } };
      expect((await cluster.fetch('/api/v1/namespaces/default/pods', { body: { metadata, spec } })).status).toBe(201);
    });
    await vi.waitFor(async () => expect(await (await cluster.fetch(pod(''))).json()).toMatchObject({ status: { phase: 'Running' } }));
    expect(await (await cluster.fetch(pod('/log'))).text()).toBe('one\n');
    const node = (await (await cluster.fetch('/api/v1/nodes/node-1')).json()) as Node;
    const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port;
    for (const name of ['node-1', `node-1:${port}`]) {
      const summary = await cluster.fetch(`/api/v1/nodes/${name}/proxy/stats/summary`);
      expect(await summary.json()).toMatchObject({ node: { nodeName: 'node-1' }, pods: [{ podRef: { name: 'web' } }] });
    }
    // Nothing else of the loopback interface.
    const other = await cluster.fetch('/api/v1/nodes/node-1:1/proxy/stats/summary');
    expect(await other.json()).toMatchObject({ code: 400, message: 'address not allowed' });
  });

  it('returns a configured client of the JavaScript library', async () => {
    await using cluster = await startTestCluster({ listen: true });
    const { CoreV1Api } = await import('@kubernetes/client-node');
    const api = (await cluster.kubeConfig()).makeApiClient(CoreV1Api);
    await api.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name: 'typed' }, data: { k: 'v' } } });
    expect((await api.readNamespacedConfigMap({ namespace: 'default', name: 'typed' })).data).toEqual({ k: 'v' });
  });
});
