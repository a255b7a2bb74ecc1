import { startTestCluster, type TestCluster } from 'kubenest/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster({ controllers: ['resourcequota-controller'] });
});
afterAll(() => cluster[Symbol.asyncDispose]());

const core = '/api/v1/namespaces/default';
const post = async (path: string, body: object): Promise<number> => (await cluster.fetch(path, { body })).status;
const statusOf = async (quota: string): Promise<unknown> =>
  ((await (await cluster.fetch(`${core}/resourcequotas/${quota}`)).json()) as { status: unknown }).status;
const pod = (name: string, cpu: string, priorityClassName?: string): object => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }], priorityClassName },
});

it('counts objects that exist, those that are created, and those that are deleted', async () => {
  expect(await post(`${core}/pods`, pod('before', '200m'))).toBe(201);
  const hard = { pods: '3', 'requests.cpu': '1', 'count/configmaps': '5', 'count/deployments.apps': '1', configmaps: '5' };
  expect(await post(`${core}/resourcequotas`, { metadata: { name: 'all' }, spec: { hard } })).toBe(201);
  const used = { pods: '1', 'requests.cpu': '200m', 'count/configmaps': '0', 'count/deployments.apps': '0', configmaps: '0' };
  await vi.waitFor(async () => expect(await statusOf('all')).toEqual({ hard, used }));
  expect(await post(`${core}/configmaps`, { metadata: { name: 'c' } })).toBe(201);
  expect(await post(`${core}/pods`, pod('second', '700m'))).toBe(201);
  expect(await post(`${core}/pods`, pod('third', '200m'))).toBe(403);
  await vi.waitFor(async () =>
    expect(await statusOf('all')).toMatchObject({ used: { pods: '2', 'requests.cpu': '900m', 'count/configmaps': '1', configmaps: '1' } }),
  );
  await cluster.fetch(`${core}/pods/second?gracePeriodSeconds=0`, { method: 'DELETE' });
  await cluster.fetch(`${core}/configmaps/c`, { method: 'DELETE' });
  await vi.waitFor(async () => expect(await statusOf('all')).toEqual({ hard, used }));
  expect(await post(`${core}/pods`, pod('third', '200m'))).toBe(201);
  await cluster.fetch(`${core}/resourcequotas/all`, { method: 'DELETE' });
});

it('follows a change of the limits and the scopes', async () => {
  const quota = { metadata: { name: 'scoped' }, spec: { hard: { pods: '5' }, scopes: ['BestEffort'] } };
  expect(await post(`${core}/resourcequotas`, quota)).toBe(201);
  expect(await post(`${core}/pods`, { metadata: { name: 'best' }, spec: { containers: [{ name: 'c', image: 'i' }] } })).toBe(201);
  await vi.waitFor(async () => expect(await statusOf('scoped')).toEqual({ hard: { pods: '5' }, used: { pods: '1' } }));
  const headers = { 'content-type': 'application/merge-patch+json' };
  await cluster.fetch(`${core}/resourcequotas/scoped`, { method: 'PATCH', headers, body: { spec: { hard: { pods: '7' } } } });
  await vi.waitFor(async () => expect(await statusOf('scoped')).toEqual({ hard: { pods: '7' }, used: { pods: '1' } }));
});
