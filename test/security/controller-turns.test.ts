/**
 * Measures how long the work of controllers, scheduler and simulated nodes blocks the event loop when one client gives them much to do: the
 * CPU time of the thread between two turns, so that other processes do not count.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';
import { longestTurn } from './longest-turn.ts';

const atMostMs = 250;
const namespace = 'busy';
const containers = [{ name: 'c', image: 'i' }];

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startTestCluster({ controllers: ['*'], nodes: 3 });
  await create('/api/v1/namespaces', { metadata: { name: namespace } });
}, 60_000);
afterAll(() => cluster[Symbol.asyncDispose]());

async function create(path: string, object: object): Promise<void> {
  const { status } = await cluster.fetch(path, { method: 'POST', body: JSON.stringify(object) });
  expect(status).toBe(201);
}

/** Asks until the answer satisfies the condition. */
async function until(path: string, isDone: (status: number, body: string) => boolean): Promise<void> {
  const ask = async (): Promise<boolean> => {
    const answer = await cluster.fetch(path);
    return isDone(answer.status, await answer.text());
  };
  await vi.waitUntil(ask, { timeout: 110_000, interval: 100 });
}

it('an object with 5,000 absent owners', { timeout: 120_000 }, async () => {
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const ownerReferences = Array.from({ length: 5_000 }, (_, i) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: `n${i}`,
    uid: `00000000-0000-4000-8000-${`${i}`.padStart(12, '0')}`,
  }));
  const turn = await longestTurn(async () => {
    await create(path, { metadata: { name: 'owned', ownerReferences } });
    await until(`${path}/owned`, (status) => status === 404);
  }, atMostMs);
  expect(turn).toBeLessThan(atMostMs);
});

it('a Deployment of 500 replicas, and the deletion of its namespace', { timeout: 120_000 }, async () => {
  const labels = { app: 'web' };
  const spec = { replicas: 500, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
  const turn = await longestTurn(async (attempt) => {
    const own = `replicas-${attempt}`;
    const path = `/apis/apps/v1/namespaces/${own}/deployments`;
    await create('/api/v1/namespaces', { metadata: { name: own } });
    await create(path, { metadata: { name: 'web' }, spec });
    await until(`${path}/web`, (_status, body) => body.includes('"readyReplicas":500,'));
    await cluster.fetch(`/api/v1/namespaces/${own}`, { method: 'DELETE' });
    await until(`/api/v1/namespaces/${own}`, (status) => status === 404);
  }, atMostMs);
  expect(turn).toBeLessThan(atMostMs);
});

it('a Job that wants a million pods at once', { timeout: 120_000 }, async () => {
  const path = '/apis/batch/v1/namespaces/default/jobs';
  const template = { spec: { containers, restartPolicy: 'Never' } };
  const turn = await longestTurn(async () => {
    await create(path, { metadata: { name: 'many' }, spec: { parallelism: 1_000_000, completions: 1_000_000, template } });
    await sleep(3_000);
    await cluster.fetch(`${path}/many?propagationPolicy=Background`, { method: 'DELETE' });
    await until('/api/v1/namespaces/default/pods?limit=1', (_status, body) => body.includes('"items":[]'));
    await until(`${path}/many`, (status) => status === 404);
  }, atMostMs);
  expect(turn).toBeLessThan(atMostMs);
});

it('pods in a namespace with large selectors', { timeout: 120_000 }, async () => {
  const large = 'selectors';
  const values = Array.from({ length: 100_000 }, (_, i) => `v${i}`);
  const namespaced = `namespaces/${large}`;
  const labels = { app: 'pods' };
  await create('/api/v1/namespaces', { metadata: { name: large } });
  const selector = { matchExpressions: [{ key: 'a', operator: 'NotIn', values }] };
  await create(`/apis/policy/v1/${namespaced}/poddisruptionbudgets`, { metadata: { name: 'b' }, spec: { minAvailable: '50%', selector } });
  const keys = Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`k${i}`, 'v']));
  await create(`/api/v1/${namespaced}/services`, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }], selector: keys } });
  const path = `/apis/apps/v1/${namespaced}/deployments`;
  const spec = { replicas: 50, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
  const turn = await longestTurn(async (attempt) => {
    const name = `web-${attempt}`;
    await create(path, { metadata: { name }, spec });
    await until(`${path}/${name}`, (_status, body) => body.includes('"readyReplicas":50,'));
    await cluster.fetch(`${path}/${name}`, { method: 'DELETE' });
  }, atMostMs);
  expect(turn).toBeLessThan(atMostMs);
});

it('a quota of 15,000 names', { timeout: 120_000 }, async () => {
  const path = '/api/v1/namespaces/default/resourcequotas';
  const counts = Array.from({ length: 15_000 }, (_, i) => [`count/x${i}.example.com`, '1']);
  const turn = await longestTurn(async (attempt) => {
    const name = `names-${attempt}`;
    await create(path, { metadata: { name }, spec: { hard: { pods: '100', ...Object.fromEntries(counts) } } });
    await until(`${path}/${name}`, (_status, body) => body.includes('"used":{"pods":'));
    await cluster.fetch(`${path}/${name}`, { method: 'DELETE' });
  }, atMostMs);
  expect(turn).toBeLessThan(atMostMs);
});

it('a pod whose affinity has many values', { timeout: 120_000 }, async () => {
  const path = '/api/v1/namespaces/default/pods';
  const values = Array.from({ length: 150_000 }, (_, i) => `v${i}`);
  const labelSelector = { matchExpressions: [{ key: 'a', operator: 'NotIn', values }] };
  const required = [{ topologyKey: 'kubernetes.io/hostname', labelSelector }];
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
  const turn = await longestTurn(async (attempt) => {
    const name = `values-${attempt}`;
    await create(path, { metadata: { name }, spec: { containers, affinity } });
    await until(`${path}/${name}`, (_status, body) => body.includes('"nodeName"'));
    await cluster.fetch(`${path}/${name}?gracePeriodSeconds=0`, { method: 'DELETE' });
  }, atMostMs);
  expect(turn).toBeLessThan(atMostMs);
});

describe('devices for pods', () => {
  const group = '/apis/resource.k8s.io/v1';
  const driver = 'gpu.example.com';
  const devices = Array.from({ length: 40 }, (_, i) => ({ name: `d${i}` }));
  const exactly = (name: string, more: object): object => ({ name, exactly: { deviceClassName: 'gpu', ...more } });
  const selecting = (expression: string): object => ({ selectors: [{ cel: { expression } }] });
  /** Patterns that take this thread 0.3 s each to compile. */
  const slow = (i: number): string => `device.driver.matches(${JSON.stringify(`^[${'\\pL\\PN'.repeat(700)}${i}]$`)})`;

  beforeAll(async () => {
    await create(`${group}/deviceclasses`, { metadata: { name: 'gpu' } });
    const pool = { name: 'p', generation: 1, resourceSliceCount: 1 };
    await create(`${group}/resourceslices`, { metadata: { name: 's' }, spec: { driver, pool, allNodes: true, devices } });
  });

  it.each<[name: string, requestsOf: (attempt: number) => object[], problem: string]>([
    [
      'more combinations than time',
      () => [exactly('any', { count: 20 }), exactly('none', selecting('false'))],
      'timed out trying to allocate',
    ],
    [
      'large patterns',
      (attempt) => Array.from({ length: 8 }, (_, i) => exactly(`r${i}`, selecting(`${slow(8 * attempt + i)} || true`))),
      '',
    ],
  ])('a claim with %s', { timeout: 120_000 }, async (name, requestsOf, problem) => {
    const turn = await longestTurn(async (attempt) => {
      const own = `${name.replaceAll(' ', '-')}-${attempt}`;
      const requests = requestsOf(attempt);
      await create(`${group}/namespaces/default/resourceclaims`, { metadata: { name: own }, spec: { devices: { requests } } });
      const spec = { containers, resourceClaims: [{ name: 'c', resourceClaimName: own }] };
      await create('/api/v1/namespaces/default/pods', { metadata: { name: own }, spec });
      await until(`/api/v1/namespaces/default/pods/${own}`, (_status, body) => body.includes(problem || '"nodeName"'));
    }, atMostMs);
    expect(turn).toBeLessThan(atMostMs);
  });
});
