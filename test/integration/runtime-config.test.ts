import { describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from 'kubenest/testing';

const claims = (version: string) => `/apis/resource.k8s.io/${version}/namespaces/default/resourceclaims`;
const json = async (cluster: TestCluster, path: string, body?: object) => {
  const response = await cluster.fetch(path, body ? { body } : {});
  return { status: response.status, body: (await response.json().catch(() => undefined)) as Record<string, never> | undefined };
};

describe('--runtime-config', () => {
  it('serves versions that are disabled by default, converted through the storage version', async () => {
    await using cluster = await startTestCluster({ flags: ['--runtime-config=resource.k8s.io/v1beta1=true,resource.k8s.io/v1beta2=true'] });
    const request = { name: 'a', deviceClassName: 'x' };
    const made = await json(cluster, claims('v1beta1'), {
      apiVersion: 'resource.k8s.io/v1beta1',
      kind: 'ResourceClaim',
      metadata: { name: 'c' },
      spec: { devices: { requests: [request] } },
    });
    expect(made.status).toBe(201);
    const shown = async (version: string) => (await json(cluster, `${claims(version)}/c`)).body;
    const defaulted = { allocationMode: 'ExactCount', count: 1 };
    expect(await shown('v1beta1')).toMatchObject({
      apiVersion: 'resource.k8s.io/v1beta1',
      spec: { devices: { requests: [{ ...request, ...defaulted }] } },
    });
    for (const version of ['v1', 'v1beta2']) {
      expect(await shown(version)).toMatchObject({
        apiVersion: `resource.k8s.io/${version}`,
        spec: { devices: { requests: [{ name: 'a', exactly: { deviceClassName: 'x', ...defaulted } }] } },
      });
    }
    const group = await json(cluster, '/apis/resource.k8s.io');
    expect(group.body?.['versions']).toMatchObject([{ version: 'v1' }, { version: 'v1beta2' }, { version: 'v1beta1' }]);
    expect((await json(cluster, '/apis/apiregistration.k8s.io/v1/apiservices/v1beta2.resource.k8s.io')).status).toBe(200);
  });

  it('disables default versions for clients', async () => {
    const off = ['apps/v1=false', 'rbac.authorization.k8s.io/v1=false', 'scheduling.k8s.io/v1=false', 'autoscaling/v2=false'];
    await using cluster = await startTestCluster({
      flags: [`--runtime-config=${off.join()},/v1/secrets=false`],
      users: [{ name: 'jane' }],
    });
    for (const path of ['/apis/apps', '/apis/apps/v1/deployments', '/apis/scheduling.k8s.io/v1/priorityclasses', '/api/v1/secrets'])
      expect((await json(cluster, path)).status, path).toBe(404);
    expect((await json(cluster, '/apis/autoscaling/v1/horizontalpodautoscalers')).status).toBe(200);
    expect((await json(cluster, '/apis/autoscaling')).body?.['preferredVersion']).toEqual({
      groupVersion: 'autoscaling/v1',
      version: 'v1',
    });
    // The server's own objects exist: jane has the permissions of all users.
    expect((await cluster.fetch('/version', { as: 'jane' })).status).toBe(200);
    expect((await cluster.fetch('/api/v1/pods', { as: 'jane' })).status).toBe(403);
  });

  it('serves kinds without a stable version', async () => {
    await using cluster = await startTestCluster({ flags: ['--runtime-config=api/all=true', '--feature-gates=GenericWorkload=true'] });
    const made = await json(cluster, '/apis/scheduling.k8s.io/v1alpha2/namespaces/default/workloads', {
      metadata: { name: 'w' },
      spec: { podGroupTemplates: [{ name: 'a', schedulingPolicy: { basic: {} } }] },
    });
    expect(made.status).toBe(201);
    expect((await json(cluster, '/apis/storagemigration.k8s.io/v1beta1')).status, 'its feature is off').toBe(404);
  });
});
