import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';
import { customKinds, kind, open as anything, patch } from './custom-kinds.ts';

const open = kind(anything);
let cluster: TestCluster;
let kinds: ReturnType<typeof customKinds>;
beforeAll(async () => {
  cluster = await startTestCluster();
  kinds = customKinds(cluster);
  await kinds.define(open);
});
afterAll(() => cluster[Symbol.asyncDispose]());

const object = (name: string, characters: number) => ({
  apiVersion: `${open.group}/v1`,
  kind: 'Widget',
  metadata: { name },
  spec: { text: 'x'.repeat(characters) },
});
const tooLarge = { code: 500, message: 'etcdserver: request is too large' };
const muchTooLarge = {
  code: 500,
  message: expect.stringMatching(
    /^rpc error: code = ResourceExhausted desc = trying to send message larger than max \(22\d{5} vs. 2097152\)$/,
  ),
};

// Responses equal those of kube-apiserver on an etcd with default limits.
it.each([
  { name: 'fits', characters: 1_500_000, want: { code: 201, message: undefined } },
  { name: 'large', characters: 1_573_000, want: tooLarge },
  { name: 'larger', characters: 2_000_000, want: tooLarge },
  { name: 'largest', characters: 2_200_000, want: muchTooLarge },
])('a custom resource with a string of $characters characters: $want.code', async ({ name, characters, want }) => {
  const { code, body } = await kinds.call(open.path(), { body: object(name, characters) });
  expect({ code, message: body['message'] }).toEqual(want);
  expect((await kinds.call(`${open.path()}/${name}`)).code).toBe(want.code === 201 ? 200 : 404);
});

it('an object that grows too large is rejected, one that only might is accepted', async () => {
  await kinds.call(open.path(), { body: object('grows', 1_000_000) });
  const grow = (query: string) => kinds.call(`${open.path()}/grows${query}`, patch('merge', { spec: { more: 'y'.repeat(600_000) } }));
  expect((await grow('?dryRun=All')).code).toBe(200);
  const { code, body } = await grow('');
  expect({ code, message: body['message'] }).toEqual(tooLarge);
  expect((await kinds.call(`${open.path()}/grows`)).body['spec'].more).toBe(undefined);
  expect((await kinds.call(`${open.path()}/grows`, { method: 'DELETE' })).code).toBe(200);
});

/** Rows by the number of keys without values of a ConfigMap: the lengths of the managers' fields in the response. */
const configMaps = '/api/v1/namespaces/default/configmaps';
const withKeys = (name: string, count: number) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, ''])),
});
const outcomeOf = ({ code, body }: Awaited<ReturnType<typeof kinds.call>>) =>
  code < 300 ? { code, managers: body['metadata'].managedFields?.length ?? 0 } : { code, message: body['message'] };

// The rows are the responses of kube-apiserver 1.36.3, which stores built-in kinds as protobuf, and objects that would be
// too large without managers.
it('an object that is too large with its managers is stored without them, unless it is applied', { timeout: 150_000 }, async () => {
  const create = async (name: string, count: number, query = '') =>
    outcomeOf(await kinds.call(`${configMaps}${query}`, { body: withKeys(name, count) }));
  expect(await create('small', 52_000)).toEqual({ code: 201, managers: 1 });
  expect(await create('larger', 80_000)).toEqual({ code: 201, managers: 0 });
  expect(await create('dry', 160_000, '?dryRun=All')).toEqual({ code: 201, managers: 1 });
  expect(await create('large', 150_000)).toEqual({ code: 500, message: tooLarge.message });
  expect(await create('largest', 180_000)).toEqual({
    code: 500,
    message: expect.stringMatching(/larger than max \(222\d{4} vs\. 2097152\)$/),
  });
  const changed = `${configMaps}/changed`;
  expect(await create('changed', 10)).toEqual({ code: 201, managers: 1 });
  const put = async (count: number) => outcomeOf(await kinds.call(changed, { method: 'PUT', body: withKeys('changed', count) }));
  expect(await put(80_000)).toEqual({ code: 200, managers: 0 });
  expect(await put(160_000)).toEqual({ code: 500, message: tooLarge.message });
  expect(await put(10)).toEqual({ code: 200, managers: 0 });
  expect(outcomeOf(await kinds.call(changed, patch('merge', { data: withKeys('', 80_000).data })))).toEqual({ code: 200, managers: 0 });
  const apply = async (count: number) =>
    outcomeOf(await kinds.call(`${configMaps}/applied?fieldManager=e`, patch('apply', withKeys('applied', count))));
  expect(await apply(10)).toEqual({ code: 201, managers: 1 });
  expect(await apply(80_000)).toEqual({ code: 500, message: tooLarge.message });
  expect(await apply(11)).toEqual({ code: 200, managers: 1 });
});
