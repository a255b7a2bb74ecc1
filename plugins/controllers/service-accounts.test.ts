import { Buffer } from 'node:buffer';
import { startTestCluster, type TestCluster } from 'kubenest/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster({
    listen: true,
    controllers: [
      'serviceaccount-controller',
      'serviceaccount-token-controller',
      'root-ca-certificate-publisher-controller',
      'clusterrole-aggregation-controller',
    ],
  });
});
afterAll(() => cluster[Symbol.asyncDispose]());

interface Shown {
  readonly metadata: {
    readonly annotations?: Record<string, string>;
    readonly managedFields?: { readonly manager: string; operation: string }[];
  };
  readonly data?: Record<string, string>;
  readonly rules?: unknown[];
  readonly secrets?: unknown[];
}
const read = async (path: string): Promise<Shown> => {
  const response = await cluster.fetch(path);
  expect(response.status, path).toBe(200);
  return (await response.json()) as Shown;
};
const status = async (path: string): Promise<number> => (await cluster.fetch(path)).status;
const text = (base64 = ''): string => Buffer.from(base64, 'base64').toString();

it('creates the default service account and the root authority in each namespace, and restores them', async () => {
  await cluster.fetch('/api/v1/namespaces', { body: { metadata: { name: 'a' } } });
  for (const namespace of ['default', 'kube-system', 'a']) {
    const account = `/api/v1/namespaces/${namespace}/serviceaccounts/default`;
    await vi.waitFor(() => read(account));
    const authority = await vi.waitFor(() => read(`/api/v1/namespaces/${namespace}/configmaps/kube-root-ca.crt`));
    expect(authority.data).toEqual({ 'ca.crt': cluster.certificateAuthority });
    expect(authority.metadata.managedFields).toMatchObject([{ manager: 'kube-controller-manager', operation: 'Update' }]);
  }
  await cluster.fetch('/api/v1/namespaces/a/serviceaccounts/default', { method: 'DELETE' });
  await cluster.fetch('/api/v1/namespaces/a/configmaps/kube-root-ca.crt', {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { data: { 'ca.crt': 'x', other: 'y' } },
  });
  await vi.waitFor(() => read('/api/v1/namespaces/a/serviceaccounts/default'));
  await vi.waitFor(async () =>
    expect((await read('/api/v1/namespaces/a/configmaps/kube-root-ca.crt')).data).toEqual({ 'ca.crt': cluster.certificateAuthority }),
  );
});

it('fills token Secrets with a token that authenticates, and deletes those of a deleted account', async () => {
  await cluster.fetch('/api/v1/namespaces/default/serviceaccounts', {
    body: { metadata: { name: 'robot' }, secrets: [{ name: 'robot' }] },
  });
  const annotations = { 'kubernetes.io/service-account.name': 'robot' };
  const secret = { metadata: { name: 'robot', annotations }, type: 'kubernetes.io/service-account-token' };
  await cluster.fetch('/api/v1/namespaces/default/secrets', { body: secret });
  const path = '/api/v1/namespaces/default/secrets/robot';
  const filled = await vi.waitFor(async () => {
    const shown = await read(path);
    expect(shown.data).toHaveProperty('token');
    return shown;
  });
  expect(text(filled.data?.['namespace'])).toBe('default');
  expect(text(filled.data?.['ca.crt'])).toBe(cluster.certificateAuthority);
  expect(filled.metadata.annotations).toMatchObject({ 'kubernetes.io/service-account.uid': expect.any(String) });
  const review = await cluster.fetch('/apis/authentication.k8s.io/v1/tokenreviews', {
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: text(filled.data?.['token']) } },
  });
  expect(await review.json()).toMatchObject({
    status: { authenticated: true, user: { username: 'system:serviceaccount:default:robot' } },
  });
  await cluster.fetch('/api/v1/namespaces/default/serviceaccounts/robot', { method: 'DELETE' });
  await vi.waitFor(async () => expect(await status(path)).toBe(404));
});

it('removes a deleted Secret from its service account', async () => {
  await cluster.fetch('/api/v1/namespaces/default/serviceaccounts', {
    body: { metadata: { name: 'two' }, secrets: [{ name: 's' }, { name: 't' }] },
  });
  await cluster.fetch('/api/v1/namespaces/default/secrets', { body: { metadata: { name: 's' } } });
  await cluster.fetch('/api/v1/namespaces/default/secrets/s', { method: 'DELETE' });
  await vi.waitFor(async () => expect((await read('/api/v1/namespaces/default/serviceaccounts/two')).secrets).toEqual([{ name: 't' }]));
});

it('aggregates the rules of ClusterRoles, for the built-in ones and for new ones', async () => {
  const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
  for (const name of ['view', 'edit', 'admin'])
    await vi.waitFor(async () => expect((await read(`${roles}/${name}`)).rules?.length).toBeGreaterThan(5));
  const rule = { apiGroups: ['example.com'], resources: ['widgets'], verbs: ['get'] };
  await cluster.fetch(roles, {
    body: { metadata: { name: 'widgets', labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } }, rules: [rule] },
  });
  // admin includes edit, which includes view.
  for (const name of ['view', 'edit', 'admin'])
    await vi.waitFor(async () => expect((await read(`${roles}/${name}`)).rules).toContainEqual(rule));
  await cluster.fetch(`${roles}/widgets`, { method: 'DELETE' });
  await vi.waitFor(async () => expect((await read(`${roles}/admin`)).rules).not.toContainEqual(rule));
});

it('their component is healthy, as the server itself runs it', async () => {
  await vi.waitFor(async () => {
    const response = await cluster.fetch('/api/v1/componentstatuses/controller-manager');
    expect(await response.json()).toMatchObject({ conditions: [{ type: 'Healthy', status: 'True', message: 'ok' }] });
  });
});
