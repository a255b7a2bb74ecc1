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

// As kube-apiserver answers on an etcd as it is by default.
it.each([
  { name: 'fits', characters: 1_500_000, want: { code: 201, message: undefined } },
  { name: 'large', characters: 1_573_000, want: tooLarge },
  { name: 'larger', characters: 2_000_000, want: tooLarge },
  { name: 'largest', characters: 2_200_000, want: muchTooLarge },
])('a custom resource with a text of $characters characters: $want.code', async ({ name, characters, want }) => {
  const { code, body } = await kinds.call(open.path(), { body: object(name, characters) });
  expect({ code, message: body['message'] }).toEqual(want);
  expect((await kinds.call(`${open.path()}/${name}`)).code).toBe(want.code === 201 ? 200 : 404);
});

it('what grows too large is refused, what only might is not', async () => {
  await kinds.call(open.path(), { body: object('grows', 1_000_000) });
  const grow = (query: string) => kinds.call(`${open.path()}/grows${query}`, patch('merge', { spec: { more: 'y'.repeat(600_000) } }));
  expect((await grow('?dryRun=All')).code).toBe(200);
  const { code, body } = await grow('');
  expect({ code, message: body['message'] }).toEqual(tooLarge);
  expect((await kinds.call(`${open.path()}/grows`)).body['spec'].more).toBe(undefined);
  expect((await kinds.call(`${open.path()}/grows`, { method: 'DELETE' })).code).toBe(200);
});

it('kinds of its own are smaller where upstream stores them', async () => {
  const data = Object.fromEntries(Array.from({ length: 150_000 }, (_, i) => [`k${i}`, '']));
  expect((await kinds.call('/api/v1/namespaces/default/configmaps', { body: { metadata: { name: 'keys' }, data } })).code).toBe(201);
});
