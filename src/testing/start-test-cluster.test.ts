import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AdmissionPlugin, type Attributes, forbidden } from 'kubenest/sdk';
import { describe, expect, it } from 'vitest';
import { startTestCluster } from './start-test-cluster.ts';

const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
const configMaps = '/api/v1/namespaces/default/configmaps';

@AdmissionPlugin({ name: 'NoSecrets', match: [{ groups: [''], resources: ['secrets'], operations: ['CREATE'] }] })
class NoSecrets {
  validate(request: Attributes): void {
    throw forbidden(request, 'keep them elsewhere');
  }
}

describe('startTestCluster', () => {
  it('is ready within moments, and gone with its scope', async () => {
    const began = performance.now();
    let response: Response;
    {
      await using cluster = await startTestCluster();
      expect(performance.now() - began).toBeLessThan(2_000);
      response = await cluster.fetch('/readyz');
    }
    expect(await response.text()).toBe('ok');
  });

  it('runs side by side with others', async () => {
    await using one = await startTestCluster({ objects: [configMap('a')] });
    await using other = await startTestCluster();
    expect((await one.fetch(`${configMaps}/a`)).status).toBe(200);
    expect((await other.fetch(`${configMaps}/a`)).status).toBe(404);
  });

  it('knows its users and their rights', async () => {
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
    expect(() => cluster.token('joe')).toThrow(/no user "joe"/);
  });

  it('runs the plugins that it is given', async () => {
    await using cluster = await startTestCluster({ plugins: [NoSecrets] });
    const response = await cluster.fetch('/api/v1/namespaces/default/secrets', { body: { metadata: { name: 's' } } });
    expect(await response.json()).toMatchObject({ code: 403, message: 'secrets "s" is forbidden: keep them elsewhere' });
  });

  it('takes flags, and refuses wrong ones by name', async () => {
    await using cluster = await startTestCluster({ flags: ['--enable-admission-plugins=AlwaysDeny'] });
    expect((await cluster.fetch(configMaps, { body: configMap('a') })).status).toBe(403);
    await expect(startTestCluster({ flags: ['--no-such-flag'] })).rejects.toThrow(/no-such-flag/);
  });

  it('keeps its objects in a file where one is named', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kubenest-test-'));
    const storage = { file: join(folder, 'objects.db') };
    {
      await using cluster = await startTestCluster({ storage });
      await cluster.fetch(configMaps, { body: configMap('kept') });
    }
    await using cluster = await startTestCluster({ storage });
    expect((await cluster.fetch(`${configMaps}/kept`)).status).toBe(200);
    await rm(folder, { recursive: true });
  });

  it('gives a configured client of the JavaScript library', async () => {
    await using cluster = await startTestCluster({ listen: true });
    const { CoreV1Api } = await import('@kubernetes/client-node');
    const api = (await cluster.kubeConfig()).makeApiClient(CoreV1Api);
    await api.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name: 'typed' }, data: { k: 'v' } } });
    expect((await api.readNamespacedConfigMap({ namespace: 'default', name: 'typed' })).data).toEqual({ k: 'v' });
  });
});
