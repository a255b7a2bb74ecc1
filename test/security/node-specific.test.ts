import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster({ users: [{ name: 'jane' }] });
});
afterAll(() => cluster[Symbol.asyncDispose]());

const namespace = '/api/v1/namespaces/default';
const rbac = 'rbac.authorization.k8s.io';

describe('known API server vulnerabilities', () => {
  it.each([
    { name: 'a namespaced resource without its namespace', path: '/api/v1/configmaps/a', want: 404 },
    { name: 'a cluster-scoped resource in a namespace (CVE-2019-11247)', path: `${namespace}/nodes/n`, want: 404 },
    // Equals the real server's response: the key is rejected, not resolved.
    { name: 'a namespace with path traversal (CVE-2015-5305)', path: '/api/v1/namespaces/%2e%2e/configmaps/a', want: 500 },
    { name: 'an escaped slash in a name', path: `${namespace}/configmaps/a%2fb`, want: 404 },
  ])('$name is not served', async ({ path, want }) => {
    expect((await cluster.fetch(path)).status).toBe(want);
  });

  it.each(['/metrics', '/debug/pprof/', '/debug/flags/v', '/logs/'])('%s requires permission (CVE-2019-11248)', async (path) => {
    const as = async (user: string | null): Promise<number> => (await cluster.fetch(path, { as: user })).status;
    expect([await as('jane'), await as(null)]).toEqual([403, 403]);
  });

  it('metric labels do not contain client input (CVE-2020-8552)', async () => {
    for (let i = 0; i < 300; i += 1) {
      await cluster.fetch(`/apis/g${i}.example.com/v1/r${i}`, { as: 'jane' });
      await cluster.fetch(`/made/up/${i}`, { as: 'jane', method: `VERB${i}` });
    }
    const text = await (await cluster.fetch('/metrics')).text();
    expect(text).not.toMatch(/g29\d\.example|made\/up|VERB29/);
  });

  it('a patch cannot grant permissions that the user lacks (CVE-2016-1905)', async () => {
    const create = (path: string, body: object, as = 'admin') => cluster.fetch(path, { body, as });
    const roles = `/apis/${rbac}/v1/namespaces/default/roles`;
    const rules = [{ apiGroups: [rbac], resources: ['roles', 'rolebindings'], verbs: ['*'] }].map((rule) => ({
      ...rule,
      verbs: ['get', 'create', 'patch', 'update'],
    }));
    await create(roles, { apiVersion: `${rbac}/v1`, kind: 'Role', metadata: { name: 'editor' }, rules });
    await create(`/apis/${rbac}/v1/namespaces/default/rolebindings`, {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name: 'editor' },
      roleRef: { apiGroup: rbac, kind: 'Role', name: 'editor' },
      subjects: [{ apiGroup: rbac, kind: 'User', name: 'jane' }],
    });
    const grab = { rules: [...rules, { apiGroups: [''], resources: ['secrets'], verbs: ['get'] }] };
    const patch = (type: string) =>
      cluster.fetch(`${roles}/editor`, { method: 'PATCH', as: 'jane', headers: { 'content-type': type }, body: grab });
    expect((await patch('application/merge-patch+json')).status).toBe(403);
    expect((await patch('application/strategic-merge-patch+json')).status).toBe(403);
    const applied = { apiVersion: `${rbac}/v1`, kind: 'Role', metadata: { name: 'editor' }, ...grab };
    const apply = await cluster.fetch(`${roles}/editor?fieldManager=x&force=true`, {
      method: 'PATCH',
      as: 'jane',
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: applied,
    });
    expect(apply.status).toBe(403);
    expect(await apply.json()).toMatchObject({
      message: expect.stringContaining(
        'attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}',
      ),
    });
  });

  it('a WebSocket exec requires the create permission', async () => {
    const roles = `/apis/${rbac}/v1/namespaces/default`;
    await cluster.fetch(`${roles}/roles`, {
      body: {
        apiVersion: `${rbac}/v1`,
        kind: 'Role',
        metadata: { name: 'getter' },
        rules: [{ apiGroups: [''], resources: ['pods/exec'], verbs: ['get'] }],
      },
    });
    await cluster.fetch(`${roles}/rolebindings`, {
      body: {
        apiVersion: `${rbac}/v1`,
        kind: 'RoleBinding',
        metadata: { name: 'getter' },
        roleRef: { apiGroup: rbac, kind: 'Role', name: 'getter' },
        subjects: [{ apiGroup: rbac, kind: 'User', name: 'jane' }],
      },
    });
    const response = await cluster.fetch(`${namespace}/pods/p/exec?command=sh`, {
      as: 'jane',
      headers: { connection: 'Upgrade', upgrade: 'websocket' },
    });
    expect([response.status, await response.json()]).toMatchObject([
      403,
      { message: expect.stringContaining('cannot create resource "pods/exec"') },
    ]);
  });
});

describe('threats specific to this runtime', () => {
  it('prototype keys are plain data', async () => {
    const data = JSON.parse('{"__proto__": "a", "constructor": "b", "toString": "c"}') as object;
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'keys', labels: { constructor: 'x' } }, data };
    expect((await cluster.fetch(`${namespace}/configmaps`, { body })).status).toBe(201);
    const stored = (await (await cluster.fetch(`${namespace}/configmaps/keys`)).json()) as { data: object };
    expect(Object.entries(stored.data)).toEqual(
      expect.arrayContaining([
        ['__proto__', 'a'],
        ['constructor', 'b'],
        ['toString', 'c'],
      ]),
    );
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
  });

  it.each(['__proto__', 'constructor', 'impersonate-extra-__proto__'])('a header named %s has no effect', async (name) => {
    const response = await cluster.fetch('/version', { headers: { [name]: 'x' } });
    expect([200, 400]).toContain(response.status);
  });

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])('a resource named %s does not exist', async (name) => {
    const statuses = await Promise.all(
      [`/api/v1/${name}`, `/apis/${name}/v1/pods`, `${namespace}/pods/p/${name}`].map(async (path) => (await cluster.fetch(path)).status),
    );
    expect(statuses).toEqual([404, 404, 404]);
  });
});
