import { startTestCluster, type TestCluster } from 'kubenest/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster({ controllers: ['namespace-controller'] });
});
afterAll(() => cluster[Symbol.asyncDispose]());

const at = (namespace: string, rest = ''): string => `/api/v1/namespaces/${namespace}${rest}`;
const create = (path: string, body: object): Promise<Response> => cluster.fetch(path, { body });
const conditions = async (namespace: string): Promise<Record<string, string>> => {
  const { status } = (await (await cluster.fetch(at(namespace))).json()) as {
    status: { conditions?: { type: string; status: string; message: string }[] };
  };
  return Object.fromEntries((status.conditions ?? []).map(({ type, status, message }) => [type, `${status}: ${message}`]));
};

it('deletes a namespace with its content', async () => {
  await create('/api/v1/namespaces', { metadata: { name: 'a' } });
  for (let i = 0; i < 20; i++) await create(at('a', '/configmaps'), { metadata: { name: `c${i}` } });
  await create('/apis/apps/v1/namespaces/a/deployments', {
    metadata: { name: 'd' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  });
  expect((await cluster.fetch(at('a'), { method: 'DELETE' })).status).toBe(200);
  await vi.waitFor(async () => expect((await cluster.fetch(at('a'))).status).toBe(404));
  const left = (await (await cluster.fetch('/api/v1/configmaps')).json()) as { items: { metadata: { namespace: string } }[] };
  expect(left.items.filter(({ metadata }) => metadata.namespace === 'a')).toEqual([]);
});

it('reports the objects that a finalizer keeps, and ends when it is removed', async () => {
  await create('/api/v1/namespaces', { metadata: { name: 'b' } });
  await create(at('b', '/configmaps'), { metadata: { name: 'kept', finalizers: ['example.com/keep'] } });
  await cluster.fetch(at('b'), { method: 'DELETE' });
  await vi.waitFor(async () =>
    expect(await conditions('b')).toEqual({
      NamespaceDeletionDiscoveryFailure: 'False: All resources successfully discovered',
      NamespaceDeletionGroupVersionParsingFailure: 'False: All legacy kube types successfully parsed',
      NamespaceDeletionContentFailure: 'False: All content successfully deleted, may be waiting on finalization',
      NamespaceContentRemaining: 'True: Some resources are remaining: configmaps. has 1 resource instances',
      NamespaceFinalizersRemaining:
        'True: Some content in the namespace has finalizers remaining: example.com/keep in 1 resource instances',
    }),
  );
  const headers = { 'content-type': 'application/merge-patch+json' };
  await cluster.fetch(at('b', '/configmaps/kept'), { method: 'PATCH', headers, body: { metadata: { finalizers: null } } });
  await vi.waitFor(async () => expect((await cluster.fetch(at('b'))).status).toBe(404));
});
