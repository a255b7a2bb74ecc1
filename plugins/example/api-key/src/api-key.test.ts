import { createHash } from 'node:crypto';
import { startTestCluster, type TestCluster } from 'kubenest/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ApiKeys } from './api-keys.ts';
import { ProtectedNamespaces } from './protected-namespaces.ts';

let cluster: TestCluster;
beforeAll(async () => {
  const keySha256 = createHash('sha256').update('open sesame').digest('hex');
  cluster = await startTestCluster({
    plugins: [
      { plugin: ApiKeys, configuration: { users: [{ name: 'ali', groups: ['cooks'], keySha256 }] } },
      { plugin: ProtectedNamespaces, configuration: { namespaces: ['vault'] } },
    ],
    objects: [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'vault' } },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'cooks' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [{ kind: 'Group', name: 'cooks', apiGroup: 'rbac.authorization.k8s.io' }],
      } as never,
    ],
  });
});
afterAll(() => cluster[Symbol.asyncDispose]());

const create = (namespace: string, key: string): Promise<Response> =>
  cluster.fetch(`/api/v1/namespaces/${namespace}/configmaps`, {
    as: null,
    headers: { 'x-api-key': key },
    body: { metadata: { generateName: 'a-' } },
  });

it.each([
  { name: 'a known key', namespace: 'default', key: 'open sesame', status: 201 },
  { name: 'an unknown key', namespace: 'default', key: 'open', status: 401 },
  { name: 'a known key in a protected namespace', namespace: 'vault', key: 'open sesame', status: 403 },
])('$name gets $status', async ({ namespace, key, status }) => {
  expect((await create(namespace, key)).status).toBe(status);
});

it('the administrator may change a protected namespace', async () => {
  const answer = await cluster.fetch('/api/v1/namespaces/vault/configmaps', { body: { metadata: { name: 'gold' } } });
  expect(answer.status).toBe(201);
});
