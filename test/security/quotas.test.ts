/** Measures how long creates in a namespace with many quotas of many resources block the event loop. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';
import { longestTurn } from './longest-turn.ts';

const atMostMs = 150;
const [quotas, resources, requests] = [50, 500, 100];
const namespace = '/api/v1/namespaces/quotas';

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startTestCluster({ controllers: ['resourcequota-controller'] });
}, 60_000);
afterAll(() => cluster[Symbol.asyncDispose]());

async function create(path: string, object: object): Promise<number> {
  const { status } = await cluster.fetch(path, { method: 'POST', body: JSON.stringify(object) });
  return status;
}

interface Quota {
  readonly status: { readonly used?: Readonly<Record<string, string>> };
}

async function usage(): Promise<(string | undefined)[]> {
  const list = await cluster.fetch(`${namespace}/resourcequotas`);
  const { items } = (await list.json()) as { items: readonly Quota[] };
  return items.map(({ status }) => status.used?.['count/configmaps']);
}

it('many creates at once, with 50 quotas of 500 resources each', { timeout: 120_000 }, async () => {
  await create('/api/v1/namespaces', { metadata: { name: 'quotas' } });
  const others = Array.from({ length: resources }, (_, i) => [`count/k${i}.example.com`, '1000']);
  const hard = Object.fromEntries([['count/configmaps', '1000'], ...others]) as Record<string, string>;
  for (let i = 0; i < quotas; i++)
    expect(await create(`${namespace}/resourcequotas`, { metadata: { name: `q${i}` }, spec: { hard } })).toBe(201);
  await vi.waitUntil(async () => !(await usage()).includes(undefined), { timeout: 60_000, interval: 100 });
  const codes: number[] = [];
  const turn = await longestTurn(async () => {
    const creating = Array.from({ length: requests }, () => create(`${namespace}/configmaps`, { metadata: { generateName: 'c' } }));
    codes.push(...(await Promise.all(creating)));
  }, atMostMs);
  expect(new Set(codes)).toEqual(new Set([201]));
  expect(new Set(await usage()).size).toBe(1);
  expect(turn).toBeLessThan(atMostMs);
});
