/** The feature gate ShardedListAndWatch, with the answers of kube-apiserver v1.36.3. */
import { expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from 'kubenest/testing';

const path = '/api/v1/namespaces/default/configmaps';
const half = (from: string, to: string): string => `shardRange(object.metadata.uid, '0x${from}', '0x${to}')`;
const lower = half('0000000000000000', '8000000000000000');
const upper = half('8000000000000000', '10000000000000000');

interface List {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

async function list(cluster: TestCluster, shardSelector: string, rest = ''): Promise<List> {
  const response = await cluster.fetch(`${path}?shardSelector=${encodeURIComponent(shardSelector)}&labelSelector=a${rest}`);
  expect(response.status).toBe(200);
  return (await response.json()) as List;
}

const names = ({ items }: List): string[] => items.map(({ metadata }) => metadata.name);

async function createMaps(cluster: TestCluster, count: number): Promise<string[]> {
  const created = Array.from({ length: count }, (_, i) => `m${String(i).padStart(2, '0')}`);
  for (const name of created) await cluster.fetch(path, { body: { metadata: { name, labels: { a: 'b' } } } });
  return created;
}

it('lists, watches and deletes the objects of a shard', async () => {
  await using cluster = await startTestCluster({ flags: ['--feature-gates=ShardedListAndWatch=true'] });
  const all = await createMaps(cluster, 24);
  const [low, high] = [await list(cluster, lower), await list(cluster, upper)];
  expect(low.metadata).toEqual({ resourceVersion: expect.any(String) as unknown, shardInfo: { selector: lower } });
  expect([names(low).length, names(high).length]).not.toContain(0);
  expect([...names(low), ...names(high)].sort()).toEqual(all);
  expect(names(await list(cluster, `${lower} || ${upper}`))).toEqual(all);

  const page = await list(cluster, upper, '&limit=1');
  expect(names(page)).toEqual(names(high).slice(0, 1));
  expect(page.metadata).toMatchObject({ continue: expect.any(String) as unknown, shardInfo: { selector: upper } });
  const unlabelled = await cluster.fetch(`${path}?shardSelector=${encodeURIComponent(upper)}&limit=1`);
  const total = ((await (await cluster.fetch(path)).json()) as List).items.length;
  expect(((await unlabelled.json()) as List).metadata.remainingItemCount).toBe(total - 1);

  const watch = await cluster.fetch(`${path}?watch=true&timeoutSeconds=1&labelSelector=a&shardSelector=${encodeURIComponent(lower)}`);
  const added = (await watch.text()).split('\n').filter((line) => line.includes('"ADDED"'));
  expect(added.map((line) => (JSON.parse(line) as { object: List['items'][number] }).object.metadata.name).sort()).toEqual(names(low));
  const metrics = await (await cluster.fetch('/metrics')).text();
  expect(metrics).toContain(`apiserver_watch_filtered_events_total{group="",resource="configmaps"} ${total - names(low).length}`);

  const invalid = await cluster.fetch(`${path}?shardSelector=x`);
  expect([invalid.status, ((await invalid.json()) as { message: string }).message]).toEqual([
    500,
    'invalid shard selector: unexpected expression kind 3; expected shardRange() call or || operator',
  ]);

  await cluster.fetch(`${path}?labelSelector=a&shardSelector=${encodeURIComponent(lower)}`, { method: 'DELETE' });
  expect(names(await list(cluster, `${lower} || ${upper}`))).toEqual(names(high));
});

it('is ignored without the feature gate', async () => {
  await using cluster = await startTestCluster();
  const all = await createMaps(cluster, 3);
  const listed = await list(cluster, 'x');
  expect(names(listed)).toEqual(all);
  expect(listed.metadata).not.toHaveProperty('shardInfo');
});
