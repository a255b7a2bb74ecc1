import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';

const rbac = 'rbac.authorization.k8s.io';
const own = '/api/v1/namespaces/own';
const namespace = (name: string): object => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster({ users: [{ name: 'jane' }, { name: 'reader' }] });
  const make = async (path: string, body: object): Promise<void> => {
    const response = await cluster.fetch(path, { method: 'POST', body });
    expect(response.status).toBe(201);
  };
  for (const name of ['own', 'victim']) await make('/api/v1/namespaces', namespace(name));
  await make(`/apis/${rbac}/v1/namespaces/own/rolebindings`, {
    metadata: { name: 'all' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: rbac, kind: 'User', name: 'jane' }],
  });
  for (const name of ['open', 'hidden']) await make(`${own}/secrets`, { metadata: { name }, stringData: { a: 'b' } });
  await make(`/apis/${rbac}/v1/namespaces/own/roles`, {
    metadata: { name: 'one' },
    rules: [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['open'], verbs: ['list', 'watch'] }],
  });
  await make(`/apis/${rbac}/v1/namespaces/own/rolebindings`, {
    metadata: { name: 'one' },
    roleRef: { apiGroup: rbac, kind: 'Role', name: 'one' },
    subjects: [{ apiGroup: rbac, kind: 'User', name: 'reader' }],
  });
});
afterAll(() => cluster[Symbol.asyncDispose]());

describe('a user with all permissions in one namespace', () => {
  const patched = { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } } };
  it.each([
    ['GET', `${own}/namespaces`, undefined],
    ['GET', `${own}/namespaces?watch=true&timeoutSeconds=1`, undefined],
    ['GET', '/api/v1/watch/namespaces/own/namespaces?timeoutSeconds=1', undefined],
    ['GET', `${own}/namespaces/victim`, undefined],
    ['POST', `${own}/namespaces`, namespace('made')],
    ['PUT', `${own}/namespaces/victim`, namespace('victim')],
    ['PUT', `${own}/namespaces/victim/status`, namespace('victim')],
    ['PUT', `${own}/namespaces/victim/finalize`, namespace('victim')],
    ['PATCH', `${own}/namespaces/victim`, patched],
    ['DELETE', `${own}/namespaces/victim`, undefined],
    ['DELETE', `${own}/nodes`, undefined],
    ['GET', `${own}/nodes`, undefined],
  ])('gets 404 for %s %s', async (method, path, body) => {
    const headers = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {};
    const response = await cluster.fetch(path, { method, headers, as: 'jane', ...(body && { body }) });
    expect(response.status).toBe(404);
  });

  it('did not change the other namespace', async () => {
    const response = await cluster.fetch('/api/v1/namespaces/victim');
    expect(await response.json()).toMatchObject({ metadata: { name: 'victim' }, status: { phase: 'Active' } });
    expect((await cluster.fetch('/api/v1/namespaces/made')).status).toBe(404);
  });
});

describe('a user who can list one secret by name', () => {
  const list = (query: string): Promise<Response> => cluster.fetch(`${own}/secrets?${query}`, { as: 'reader' });

  it('can list it', async () => {
    const response = await list('fieldSelector=metadata.name%3Dopen');
    const { items } = (await response.json()) as { items: { metadata: { name: string } }[] };
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['open']);
  });

  it.each([
    'fieldSelector=metadata.name%3Dopen,type%3D%zz',
    'fieldSelector=metadata.name%3Dopen;',
    'fieldSelector=metadata.name%3Dopen,',
    'fieldSelector=metadata.name%3Dopen&labelSelector=%3D%3D',
    'fieldSelector=&fieldSelector=metadata.name%3Dopen',
    'fieldSelector=metadata.name%3Dhidden&fieldSelector=metadata.name%3Dopen',
    'fieldSelector=metadata.name%3Dopen%2Fhidden',
    '',
  ])('cannot list others with %j', async (query) => {
    const response = await list(query);
    const { items = [] } = (await response.json()) as { items?: { metadata: { name: string } }[] };
    expect(items.map(({ metadata }) => metadata.name)).not.toContain('hidden');
    expect(response.status).toBe(query.endsWith('open,') ? 200 : 403);
  });

  it('cannot watch another one by a field selector in addition to the name in the path', async () => {
    const path = '/api/v1/watch/namespaces/own/secrets/open?fieldSelector=metadata.name%3Dhidden';
    const response = await cluster.fetch(path, { as: 'reader' });
    expect(await response.json()).toMatchObject({ code: 400, message: "fieldSelector metadata.name doesn't match requested name" });
  });
});
