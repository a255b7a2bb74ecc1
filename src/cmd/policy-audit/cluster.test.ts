import { expect, it } from 'vitest';
import type { Api } from '#cmd/explain/api';
import { Cluster, pathOf } from './cluster.ts';

/** An API that answers by path, and records the paths of the requests. */
function apiOf(answers: Readonly<Record<string, { readonly status?: number; readonly body: object }>>): Api & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    ask({ path }) {
      asked.push(path);
      const { status = 200, body } = answers[path] ?? { status: 404, body: {} };
      return Promise.resolve({ status, headers: new Headers(), text: JSON.stringify(body) });
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

const pods = { group: '', version: 'v1', resource: 'pods' };
const page = (names: readonly string[], token?: string): { readonly body: object } => ({
  body: {
    apiVersion: 'v1',
    kind: 'PodList',
    metadata: { ...(token && { continue: token }) },
    items: names.map((name) => ({ metadata: { name } })),
  },
});
const expired = (token?: string): { readonly status: number; readonly body: object } => ({
  status: 410,
  body: {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code: 410,
    reason: 'Expired',
    message: 'too old',
    metadata: { ...(token && { continue: token }) },
  },
});

async function namesOf(api: Api): Promise<string[]> {
  const names: string[] = [];
  for await (const { kind, metadata } of new Cluster(api).objects(pods)) names.push(`${kind}/${metadata.name}`);
  return names;
}

it('reads lists in chunks', async () => {
  const api = apiOf({ '/api/v1/pods?limit=500': page(['a', 'b'], 't1'), '/api/v1/pods?limit=500&continue=t1': page(['c']) });
  expect(await namesOf(api)).toEqual(['Pod/a', 'Pod/b', 'Pod/c']);
  expect(api.asked).toHaveLength(2);
});

it('continues a list whose token has expired with the token of the server', async () => {
  const api = apiOf({
    '/api/v1/pods?limit=500': page(['a'], 't1'),
    '/api/v1/pods?limit=500&continue=t1': expired('t2'),
    '/api/v1/pods?limit=500&continue=t2': page(['b']),
  });
  expect(await namesOf(api)).toEqual(['Pod/a', 'Pod/b']);
});

it('repeats a request that the server answers with Retry-After, at most ten times', async () => {
  let asked = 0;
  const busyFor = (count: number): Api => ({
    ask() {
      asked += 1;
      const isBusy = asked <= count;
      const headers = new Headers(isBusy ? { 'retry-after': '0' } : {});
      return Promise.resolve({ status: isBusy ? 429 : 200, headers, text: isBusy ? 'busy' : JSON.stringify(page(['a']).body) });
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
  expect(await namesOf(busyFor(3))).toEqual(['Pod/a']);
  expect(asked).toBe(4);
  asked = 0;
  await expect(namesOf(busyFor(100))).rejects.toThrow();
  expect(asked).toBe(11);
});

it('rejects with the Status of the server', async () => {
  const api = apiOf({ '/api/v1/pods?limit=500': page(['a'], 't1'), '/api/v1/pods?limit=500&continue=t1': expired() });
  await expect(namesOf(api)).rejects.toThrow('too old');
});

it('discovers what can be listed and created, the preferred version first, and reports groups that are down', async () => {
  const resource = (name: string, verbs: readonly string[] = ['list', 'create']): object => ({ name, kind: 'K', namespaced: true, verbs });
  const api = apiOf({
    '/apis': {
      body: {
        groups: [
          {
            versions: [{ groupVersion: 'g.example/v1' }, { groupVersion: 'g.example/v2' }],
            preferredVersion: { groupVersion: 'g.example/v2' },
          },
          { versions: [{ groupVersion: 'down.example/v1' }] },
        ],
      },
    },
    '/api/v1': { body: { resources: [resource('pods'), resource('pods/status'), resource('bindings', ['create'])] } },
    '/apis/g.example/v1': { body: { resources: [resource('as')] } },
    '/apis/g.example/v2': { body: { resources: [resource('as')] } },
    '/apis/down.example/v1': { status: 503, body: {} },
  });
  const down: string[] = [];
  const found = await new Cluster(api).resources((groupVersion) => down.push(groupVersion));
  expect(found.map(({ group, version, resource: name }) => `${group}/${version}/${name}`)).toEqual([
    '/v1/pods',
    'g.example/v2/as',
    'g.example/v1/as',
  ]);
  expect(down).toEqual(['down.example/v1']);
});

it.each([
  { namespace: '', name: undefined, path: '/api/v1/pods' },
  { namespace: 'shop', name: undefined, path: '/api/v1/namespaces/shop/pods' },
  { namespace: 'shop', name: 'a b', path: '/api/v1/namespaces/shop/pods/a%20b' },
])('builds the path $path', ({ namespace, name, path }) => {
  expect(pathOf(pods, namespace, name)).toBe(path);
});
