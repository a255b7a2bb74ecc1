import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type AdmissionHandler, AdmissionPlugin, type Attributes } from 'kubenest/sdk';
import { type Memos, memos } from '#apimachinery/runtime/memos';
import { contributionOf } from '#apiserver/plugins/loaded-contribution';
import { readPolicy } from '#apiserver/plugins/policy/plugin-policy';
import { startTestCluster } from '#testing/index';
import { randomOf, randomRequest } from './requests.ts';

const names = Object.keys(memos) as (keyof Memos)[];
const seeds = [1, 2];
const requestsOfEach = 400;

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'memos.memo.example.com' },
  spec: {
    group: 'memo.example.com',
    scope: 'Namespaced',
    names: { plural: 'memos', singular: 'memo', kind: 'Memo', listKind: 'MemoList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  word: { type: 'string', pattern: '^[ab]?$' },
                  count: { type: 'integer', default: 7 },
                  list: { type: 'array', items: { type: 'integer' } },
                  free: { 'x-kubernetes-preserve-unknown-fields': true },
                },
              },
            },
          },
        },
      },
    ],
  },
};

const match = [{ groups: ['*'], resources: ['*'], operations: ['CREATE', 'UPDATE', 'DELETE'] }] as const;

@AdmissionPlugin({ name: 'ByUser', match })
class ByUser implements AdmissionHandler {
  validate(request: Attributes): void {
    request.addWarning('the scope by user includes it');
  }
}

@AdmissionPlugin({ name: 'ByNamespace', match })
class ByNamespace implements AdmissionHandler {
  validate(request: Attributes): void {
    request.addWarning('the scope by labels of the namespace includes it');
  }
}

/** Plugins whose scopes differ between users, and between the labels that requests give the namespace. */
const plugins = [
  { ...contributionOf(ByUser), policy: readPolicy({ scope: { excludedUsers: ['jane'] } }, 'ByUser') },
  { ...contributionOf(ByNamespace), policy: readPolicy({ scope: { namespaceSelector: { matchLabels: { a: 'b' } } } }, 'ByNamespace') },
];

/** Removes the values that differ between two runs of a server from responses, stored bytes and watch events. */
function plain(text: string, ids: Map<string, string>): string {
  return text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => {
      if (!ids.has(id)) ids.set(id, `id-${ids.size}`);
      return ids.get(id)!;
    })
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME')
    .replace(/"(resourceVersion|continue)": ?"[^"]*"/g, '"$1":"N"')
    .replace(/Audit-ID.*/g, '');
}

// Field managers are sorted by time; a fixed clock makes their order deterministic.
beforeAll(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
});
afterAll(() => {
  vi.useRealTimers();
});

/** Plays the requests of a seed on a new server with some caches disabled. */
async function play(seed: number, off: readonly (keyof Memos)[]): Promise<string[]> {
  for (const name of off) memos[name] = false;
  try {
    await using cluster = await startTestCluster({
      objects: [definition],
      users: [{ name: 'jane', groups: ['system:masters'] }],
      config: { plugins },
    });
    const ids = new Map<string, string>();
    const transcript: string[] = [];
    const random = randomOf(seed);
    for (let i = 0; i < requestsOfEach; i += 1) {
      const { method, path, body, contentType, user } = randomRequest(random);
      const headers = { 'content-type': contentType };
      const response = await cluster.fetch(path, { method, as: user, ...(body && { body, headers }) });
      const text = await response.text();
      transcript.push(
        `${method} ${path} ${JSON.stringify(body)}\n${response.status} ${response.headers.get('warning') ?? ''} ${plain(text, ids)}`,
      );
    }
    for (const place of [
      'configmaps/default',
      'deployments/default',
      'pods/default',
      'endpointslices/default',
      'services/specs/default',
      'priorityclasses',
      'memo.example.com/memos/default',
    ]) {
      const { records } = await cluster.app.storage.storage.list(`/${place}/`);
      transcript.push(...records.map(({ key, value }) => `${key} ${plain(value.toString(), ids)}`));
    }
    return transcript;
  } finally {
    for (const name of off) memos[name] = true;
  }
}

/** Returns the first difference of two runs. */
function firstDifference(one: readonly string[], other: readonly string[]): readonly (string | undefined)[] {
  const at = one.findIndex((text, i) => text !== other[i]);
  return at < 0 ? [] : [one[at], other[at]];
}

describe.each(seeds)('random requests (seed %i)', (seed) => {
  let without: string[];
  beforeAll(async () => {
    without = await play(seed, names);
  }, 60_000);
  afterAll(() => {
    expect(Object.values(memos)).toEqual(names.map(() => true));
  });

  it('cover each kind of request', () => {
    const statuses = new Set(without.map((text) => / (\d{3}) |\n(\d{3}) /.exec(text)?.slice(1).find(Boolean)));
    for (const status of ['200', '201', '404', '409', '422']) expect(statuses).toContain(status);
    expect(without.length).toBeGreaterThan(requestsOfEach + 5);
  });

  it('have the same responses and stored bytes with all caches', async () => {
    const withAll = await play(seed, []);
    expect([firstDifference(withAll, without), withAll.length]).toEqual([[], without.length]);
  }, 60_000);

  it.each(names)(
    'have the same responses and stored bytes without %s',
    async (name) => {
      const others = await play(seed, [name]);
      expect([firstDifference(others, without), others.length]).toEqual([[], without.length]);
    },
    60_000,
  );
});
