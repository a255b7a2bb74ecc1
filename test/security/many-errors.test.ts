/** Tests objects with more errors than a response lists, and more than the call stack permits as arguments. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';

const items = `[${Array.from({ length: 200_000 }, () => '{}').join()}]`;
const container = (fields: string): string => `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":"a",${fields}}]}}`;

const configMaps = '/api/v1/namespaces/default/configmaps';

const rows = [
  {
    name: 'labels',
    path: configMaps,
    body: `{"metadata":{"name":"a","labels":{${Array.from({ length: 200_000 }, (_, i) => `"!${i}":""`).join()}}}}`,
  },
  {
    name: 'finalizers',
    path: configMaps,
    body: `{"metadata":{"name":"a","finalizers":[${Array.from({ length: 200_000 }, (_, i) => `"f${i}"`).join()}]}}`,
  },
  { name: 'variables of a container', path: '/api/v1/namespaces/default/pods', body: container(`"env":${items}`) },
  { name: 'mounts of a container', path: '/api/v1/namespaces/default/pods', body: container(`"volumeMounts":${items}`) },
  { name: 'ports of a service', path: '/api/v1/namespaces/default/services', body: `{"metadata":{"name":"a"},"spec":{"ports":${items}}}` },
  {
    name: 'rules of a role',
    path: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles',
    body: `{"metadata":{"name":"a"},"rules":${items}}`,
  },
  {
    name: 'rules of an ingress',
    path: '/apis/networking.k8s.io/v1/namespaces/default/ingresses',
    body: `{"metadata":{"name":"a"},"spec":{"rules":[{"http":{"paths":${items}}}]}}`,
  },
];

describe('200,000 errors are reported like a few', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startTestCluster();
  });
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
  });

  it.each(rows)('$name', { timeout: 60_000 }, async ({ path, body }) => {
    const answer = await cluster.fetch(path, { body });
    const status = (await answer.json()) as { reason?: string; message?: string; details?: { causes?: unknown[] } };
    expect([answer.status, status.reason, status.details?.causes?.length], status.message?.slice(0, 200)).toEqual([422, 'Invalid', 10_000]);
    expect((await cluster.fetch('/readyz')).status).toBe(200);
  });
});
