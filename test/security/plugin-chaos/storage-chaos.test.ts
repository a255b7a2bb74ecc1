import { Buffer } from 'node:buffer';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { GuardedStorage } from '#apiserver/plugins/guard-storage';
import type { LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import { loadPlugins } from '#apiserver/plugins/load-plugins';
import type { Storage, StorageEvent, StorageRecord } from '#apiserver/storage/storage';
import type { StorageBackendOptions } from '#apiserver/storage/storage-backend-plugin';
import { EmbeddedStorage } from '#plugins/storage/embedded/embedded-storage';
import { startTestCluster, type TestCluster } from '#testing/index';
import { writeChaoticPackages } from './chaotic-package.ts';
import { failures, maps, OtherClient } from './other-client.ts';

/** Calls a method of the store, in a wrong way. */
type Fault = (real: () => Promise<never>, ...args: never[]) => unknown;
type Events = (events: AsyncIterable<StorageEvent>) => AsyncIterable<unknown>;

/** The faults of the store by method; `watch` replaces the events. */
const faults = new Map<keyof Storage, Fault>();
let eventFault: Events | undefined;

/** A store whose methods are wrong for the keys that a test uses, and right for the rest of the server. */
function wild(store: EmbeddedStorage): Storage {
  return new Proxy(store as Storage, {
    get(target, property: keyof Storage) {
      const found = target[property] as unknown;
      if (typeof found !== 'function') return found;
      return (...args: unknown[]): unknown => {
        const real = (): Promise<never> => Reflect.apply(found, target, args) as Promise<never>;
        if (property === 'watch') return wildEvents(real() as unknown as AsyncIterable<StorageEvent>);
        const fault = faults.get(property);
        return fault && String(args[0]).startsWith('/configmaps/default/') ? fault(real, ...(args as never[])) : real();
      };
    },
  });
}

async function* wildEvents(events: AsyncIterable<StorageEvent>): AsyncGenerator<unknown> {
  const iterator = events[Symbol.asyncIterator]();
  const rest: AsyncIterable<StorageEvent> = { [Symbol.asyncIterator]: () => iterator };
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
    const fault = next.value.key.startsWith('/configmaps/default/') ? eventFault : undefined;
    if (!fault) {
      yield next.value;
      continue;
    }
    eventFault = undefined;
    const first = next.value;
    yield* fault(
      (async function* () {
        yield first;
        yield* rest;
      })(),
    );
    return;
  }
}

const subject = 'storage backend "Wild" of package @acme/storage';
let folder: string;
let cluster: TestCluster;
let other: OtherClient;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-chaos-'));
  await writeChaoticPackages(folder);
  const store = await EmbeddedStorage.open({ file: undefined });
  Object.assign(globalThis, { storeOfTest: () => wild(store) });
  const plugins = await loadPlugins([{ package: './storage', guard: { timeoutMs: 300 } }], folder);
  const [contribution] = plugins as [LoadedContribution];
  const { open } = contribution.described.options as StorageBackendOptions;
  const storage = {
    backend: 'contributed',
    open: (recorded: Parameters<typeof GuardedStorage.open>[2]) => GuardedStorage.open(() => open({}), contribution, recorded),
  } as const;
  cluster = await startTestCluster({ config: { plugins, storage }, quiet: true });
  expect((await cluster.fetch(maps, { body: present })).status).toBe(201);
  other = new OtherClient(cluster);
}, 60_000);
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  delete (globalThis as { storeOfTest?: unknown }).storeOfTest;
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => other.begin());
afterEach(async () => {
  faults.clear();
  eventFault = undefined;
  await other.end();
});

const present = { data: { a: 'b' }, metadata: { name: 'present', labels: { team: 'a' } } };
let last = 0;

async function names(): Promise<string[]> {
  const list = (await (await cluster.fetch(maps)).json()) as { kind: string; items: KubeObject[] };
  expect(list.kind).toBe('ConfigMapList');
  for (const item of list.items) expect(item).toMatchObject({ metadata: { namespace: 'default' }, data: present.data });
  return list.items.map(({ metadata }) => metadata.name ?? '');
}

/** The list has the object or not, as the store has, and objects can be written and read. */
async function expectRightState(written: string, wants: readonly boolean[]): Promise<void> {
  faults.clear();
  await vi.waitFor(
    async () => {
      const found = await names();
      expect(found).toContain('present');
      const { status } = await cluster.fetch(`${maps}/${written}`);
      expect(status).toBe(found.includes(written) ? 200 : 404);
      expect(wants).toContain(found.includes(written));
    },
    { interval: 100 },
  );
  expect((await cluster.fetch(maps, { body: { ...present, metadata: { name: `${written}-after` } } })).status).toBe(201);
  await vi.waitFor(async () => expect(await names()).toContain(`${written}-after`), { interval: 100 });
  for (const name of [written, `${written}-after`]) await cluster.fetch(`${maps}/${name}`, { method: 'DELETE' });
}

const fails = (): never => {
  throw new TypeError('undefined is not a function');
};
const anywhere: readonly [string, Fault][] = [
  ['throws', fails],
  ['throws nothing', () => Promise.reject(undefined as unknown as Error)],
  ['rejects', () => Promise.reject(new TypeError('undefined is not a function'))],
  ['hangs', () => new Promise(() => {})],
  ['returns text', () => 'text'],
  ['returns a BigInt', () => 1n],
  ['returns a function', () => () => 1],
  ['returns nothing', () => undefined],
];
const secret = Buffer.from(JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a', namespace: 'default' } }));
/** Ways to be wrong about a record that was written. */
const afterwards: readonly [string, Fault][] = [
  ['returns the bytes of another kind', async (real) => ({ ...copyOf(await real()), value: secret })],
  ['returns another key', async (real) => ({ ...copyOf(await real()), key: '/secrets/default/a' })],
  ['returns an older revision', async (real) => ({ ...copyOf(await real()), revision: 1 })],
  ['returns a newer revision', async (real) => ({ ...copyOf(await real()), revision: 2 ** 40 })],
  ['returns a revision that is text', async (real) => ({ ...copyOf(await real()), revision: '7' })],
  [
    'writes and then rejects',
    async (real) => {
      await real();
      fails();
    },
  ],
  [
    'writes and then hangs',
    async (real) => {
      await real();
      await new Promise(() => {});
    },
  ],
];

function copyOf({ key, revision, createRevision, value }: StorageRecord): StorageRecord {
  return { key, revision, createRevision, value };
}

/** The answer is an error that names the package, and the failure is counted. */
async function expectFault(response: Response, before: number): Promise<void> {
  const answer = (await response.json()) as object;
  expect(answer).toMatchObject({ kind: 'Status', code: 504, message: expect.stringContaining(subject) as unknown });
  expect(JSON.stringify(answer)).not.toContain('undefined is not a function');
  expect(await failures(cluster, 'storage')).toBeGreaterThan(before);
}

describe.each(['create', 'update', 'delete'] as const)('a store whose `%s`', (method) => {
  it.each([...anywhere, ...(method === 'delete' ? [] : afterwards)])('%s', async (way, fault) => {
    const name = `wrong-${++last}`;
    const body = { ...present, metadata: { name, labels: { step: 'one' } } };
    if (method !== 'create') expect((await cluster.fetch(maps, { body })).status).toBe(201);
    const before = await failures(cluster, 'storage');
    faults.set(method, fault);
    const requests = {
      create: () => cluster.fetch(maps, { body }),
      update: () => cluster.fetch(`${maps}/${name}`, { method: 'PUT', body: { ...body, metadata: { name, labels: { step: 'two' } } } }),
      delete: () => cluster.fetch(`${maps}/${name}`, { method: 'DELETE' }),
    };
    await expectFault(await requests[method](), before);
    const wasWritten = afterwards.some(([one]) => one === way);
    await expectRightState(name, method === 'create' ? [wasWritten] : [true]);
  });
});

describe('a store whose watch', () => {
  const event = (more: object): Events =>
    async function* (events) {
      for await (const one of events) yield { ...eventOf(one), ...more };
    };
  const ways: readonly [string, Events][] = [
    ['throws', fails],
    ['ends', async function* () {}],
    [
      'leaves out an event',
      async function* (events) {
        let isFirst = true;
        for await (const one of events) {
          if (!isFirst) yield one;
          isFirst = false;
        }
      },
    ],
    ['never yields again', () => forever()],
    [
      'repeats its events',
      async function* (events) {
        for await (const one of events) {
          yield one;
          yield one;
        }
      },
    ],
    [
      'sends events out of order',
      async function* (events) {
        let held: StorageEvent | undefined;
        for await (const one of events) {
          if (held) {
            yield one;
            yield held;
          }
          held = one;
        }
      },
    ],
    [
      'floods',
      async function* (events) {
        for await (const one of events) for (;;) yield one;
      },
    ],
    [
      'sends another kind',
      async function* (events) {
        for await (const one of events) yield { ...eventOf(one), record: { ...copyOf(one.record as StorageRecord), value: secret } };
      },
    ],
    ['sends events of another key', event({ key: '/secrets/default/a' })],
    ['sends revisions far above', event({ revision: 2 ** 40 })],
    ['sends progress far above', event({ type: 'PROGRESS', revision: 2 ** 40 })],
    ['sends no revision', event({ revision: undefined })],
    ['sends no record', event({ record: undefined })],
    [
      'sends null',
      async function* (events) {
        for await (const _one of events) yield null;
      },
    ],
  ];

  async function* forever(): AsyncGenerator<never> {
    await new Promise(() => {});
    yield* [];
  }

  function eventOf({ type, key, revision, record, previous }: StorageEvent): StorageEvent {
    return { type, key, revision, record, previous };
  }

  it.each(ways)(
    '%s',
    async (_way, fault) => {
      const name = `watched-${++last}`;
      const before = await failures(cluster, 'storage');
      eventFault = fault;
      for (const one of [name, `${name}-next`])
        expect((await cluster.fetch(maps, { body: { ...present, metadata: { name: one } } })).status).toBe(201);
      await vi.waitFor(async () => expect((await names()).filter((one) => one.startsWith(name))).toHaveLength(2), { interval: 100 });
      await vi.waitFor(async () => expect(await failures(cluster, 'storage')).toBeGreaterThan(before));
      await cluster.fetch(`${maps}/${name}-next`, { method: 'DELETE' });
      await expectRightState(name, [true]);
    },
    40_000,
  );
});
