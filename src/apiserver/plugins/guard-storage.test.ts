import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import { CompactedError, ConflictError, UnavailableError, UnknownOutcomeError } from '#apiserver/storage/errors';
import { storageConformance } from '#sdk/testing/storage';
import { FakeStorage } from '#apiserver/storage/fake-storage';
import type { Storage, StorageEvent, StorageRecord } from '#apiserver/storage/storage';
import { GuardedStorage } from './guard-storage.ts';
import { defaultGuard } from './guard-admission.ts';
import type { Guarded } from './guard-access.ts';
import { PluginFailures } from './plugin-failures.ts';

const contribution = {
  described: { kind: 'StorageBackend', options: { name: 'Wild' } },
  guard: { ...defaultGuard, timeoutMs: 100, startTimeoutMs: 100 },
  origin: { package: '@acme/wild' },
} as unknown as Guarded;
const subject = 'storage backend "Wild" of package @acme/wild';

/** Reasons of the recorded failures. */
function recorder(): { readonly failures: PluginFailures; readonly reasons: string[] } {
  const reasons: string[] = [];
  const ignore = (): void => {};
  const metric = { inc: (labels: { reason: string }) => reasons.push(labels.reason), set: ignore, observe: ignore };
  const metrics = { counter: () => metric, gauge: () => metric, histogram: () => metric } as never;
  return { failures: new PluginFailures({ info: ignore, warn: ignore, error: ignore }, metrics), reasons };
}

storageConformance('a store without faults behind the guard', async () => {
  const storage = await GuardedStorage.open(() => new FakeStorage(), { ...contribution, guard: defaultGuard }, recorder().failures);
  return { storage, cleanup: () => storage.close() };
});

type Methods = { readonly [method in keyof Storage]?: (store: FakeStorage, ...args: never[]) => unknown };

interface Wild {
  readonly store: FakeStorage;
  readonly guarded: GuardedStorage;
  readonly reasons: string[];
}

/** Returns a store with one record, `/a/one` at revision 2, some of whose methods are replaced. */
async function wild(methods: Methods): Promise<Wild> {
  const store = new FakeStorage();
  await store.create('/a/one', encode);
  const replaced = new Proxy(store, {
    get(target, property: keyof FakeStorage) {
      const own = methods[property as keyof Storage] as ((...args: unknown[]) => unknown) | undefined;
      if (own) return (...args: unknown[]) => own(target, ...args);
      const found = target[property] as unknown;
      return typeof found === 'function' ? found.bind(target) : found;
    },
  });
  const { failures, reasons } = recorder();
  return { store, guarded: await GuardedStorage.open(() => replaced, contribution, failures), reasons };
}

const encode = (revision: number): Buffer => Buffer.from(`object ${revision}`);
const record = (more: object = {}): StorageRecord => ({ key: '/a/one', revision: 2, createRevision: 2, value: encode(2), ...more });
const list = (more: object = {}): object => ({ records: [record()], revision: 2, more: false, count: 1, ...more });
const hangs = (): Promise<never> => new Promise(() => {});
const fails = (): never => {
  throw new TypeError('undefined is not a function');
};
const throwsNothing = (): never => {
  // eslint-disable-next-line @typescript-eslint/only-throw-error
  throw undefined;
};
const anywhere: readonly [string, () => unknown][] = [
  ['throws', fails],
  ['throws nothing', throwsNothing],
  ['rejects', () => Promise.reject(new TypeError('undefined is not a function'))],
  ['hangs', hangs],
  ['returns text', () => 'text'],
  ['returns a BigInt', () => 1n],
  ['returns a function', () => () => 1],
  ['returns null', () => null],
];
const reads: readonly [keyof Storage, string, () => unknown][] = [
  ...(['currentRevision', 'get', 'list', 'compactRevision'] as const).flatMap((method) =>
    anywhere.map(([way, be]) => [method, way, be] as [keyof Storage, string, () => unknown]),
  ),
  ...(['healthy', 'compact'] as const).flatMap((method) =>
    anywhere.slice(0, 4).map(([way, be]) => [method, way, be] as [keyof Storage, string, () => unknown]),
  ),
  ['currentRevision', 'returns 0', () => 0],
  ['currentRevision', 'returns a fraction', () => 2.5],
  ['currentRevision', 'returns NaN', () => Number.NaN],
  ['get', 'returns another key', () => record({ key: '/a/two' })],
  ['get', 'returns no revision', () => record({ revision: undefined })],
  ['get', 'returns a record from before its creation', () => record({ createRevision: 3 })],
  ['list', 'returns a record of another prefix', () => list({ records: [record({ key: '/b/one' })] })],
  ['list', 'returns a record twice', () => list({ records: [record(), record()] })],
  ['list', 'returns records out of order', () => list({ records: [record({ key: '/a/two' }), record()] })],
  ['list', 'returns a record above its revision', () => list({ records: [record({ revision: 9 })] })],
  ['list', 'returns no records', () => list({ records: {} })],
  ['list', 'returns an endless list', () => list({ records: [], more: true })],
  ['list', 'returns more than the limit', () => list({ records: [record(), record({ key: '/a/two' }), record({ key: '/a/zwei' })] })],
  ['list', 'returns no count', () => list({ count: '1' })],
];

it.each(reads)('%s %s: the read fails, and the error names the package', async (method, _way, be) => {
  const { guarded, reasons } = await wild({ [method]: be });
  const calls: Partial<Record<keyof Storage, () => Promise<unknown>>> = {
    currentRevision: () => guarded.currentRevision(),
    get: () => guarded.get('/a/one'),
    list: () => guarded.list('/a/', { limit: 2 }),
    compactRevision: () => guarded.compactRevision(),
    healthy: () => guarded.healthy(),
    compact: () => guarded.compact(2),
  };
  const error: unknown = await calls[method]?.().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(UnavailableError);
  expect((error as Error).message).toMatch(new RegExp(`^${subject}: ${method} (?!.*undefined is not a function)`));
  expect(reasons).toHaveLength(1);
});

it('the value of a record that is not a Buffer is found when it is read', async () => {
  const { guarded } = await wild({ get: () => record({ value: 'text' }) });
  const found = await guarded.get('/a/one');
  expect(() => found?.value).toThrow('the value of /a/one is no Buffer');
});

it('does not believe that a package verifies its values, and does not use its commit feed', async () => {
  const store = Object.assign(new FakeStorage(), { verifiesValues: true, onCommit: fails });
  const guarded: Storage = await GuardedStorage.open(() => store, contribution, recorder().failures);
  expect([guarded.verifiesValues ?? false, 'onCommit' in guarded]).toEqual([false, false]);
});

type Encoding = (revision: number) => Buffer;
const writes: readonly [string, Methods][] = [
  ...anywhere.flatMap(([way, be]) =>
    (['create', 'update', 'delete'] as const).map((method) => [`${method} ${way}`, { [method]: be }] as [string, Methods]),
  ),
  ['create returns a record that it did not encode', { create: () => record({ key: '/a/new', revision: 3, createRevision: 3 }) }],
  ['create returns another key', { create: (store: FakeStorage, _key: never, put: never) => store.create('/a/other', put as Encoding) }],
  [
    'create returns an old revision',
    {
      create: (_store: FakeStorage, key: never, put: never) => ({ key, revision: 1, createRevision: 1, value: (put as Encoding)(1) }),
    },
  ],
  [
    'create returns bytes of another object',
    {
      create: async (store: FakeStorage, key: never, put: never) => ({ ...(await store.create(key, put as Encoding)), value: encode(7) }),
    },
  ],
  ['create encodes at a wrong revision', { create: (_store: FakeStorage, _key: never, put: never) => (put as Encoding)(-1) }],
  ['update returns the old record', { update: () => record() }],
  ['update rejects with a conflict without a record', { update: () => Promise.reject(new ConflictError('/a/one', 1 as never)) }],
  ['delete returns an old revision', { delete: () => ({ record: record(), revision: 2 }) }],
  ['delete returns another record', { delete: () => ({ record: record({ key: '/a/two' }), revision: 3 }) }],
  [
    'delete returns another revision of the record',
    { delete: () => ({ record: record({ revision: 1, createRevision: 1 }), revision: 3 }) },
  ],
];

it.each(writes)('%s: the outcome of the write is unknown, and the error names the package', async (way, methods) => {
  const { guarded, reasons } = await wild(methods);
  await guarded.currentRevision();
  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    create: () => guarded.create('/a/new', encode),
    update: () => guarded.update('/a/one', 2, encode),
    delete: () => guarded.delete('/a/one', 2),
  };
  const error: unknown = await calls[way.split(' ', 1)[0] as string]?.().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(UnknownOutcomeError);
  expect((error as Error).message).toContain(subject);
  expect(reasons).toHaveLength(1);
});

it('an object cannot be encoded after its write has ended', async () => {
  let kept: Encoding | undefined;
  const create = (_store: FakeStorage, _key: never, put: never): Promise<never> => {
    kept = put;
    return hangs();
  };
  const { guarded } = await wild({ create });
  await expect(guarded.create('/a/new', encode)).rejects.toThrow('no answer within 100 ms');
  expect(() => kept?.(9)).toThrow('after the write had ended');
});

it('a revision that is lower than one that was acknowledged is refused', async () => {
  let answer = 9;
  const { guarded } = await wild({ currentRevision: () => answer });
  expect(await guarded.currentRevision()).toBe(9);
  answer = 8;
  await expect(guarded.currentRevision()).rejects.toThrow('returned revision 8, although revision 9 existed');
  await expect(guarded.list('/a/')).rejects.toThrow('returned revision 2, although revision 9 existed');
});

const put = (revision: number, more: object = {}): StorageEvent => ({
  type: 'PUT',
  key: '/a/one',
  revision,
  record: record({ revision }),
  previous: undefined,
  ...more,
});

const wrongEvents: readonly [string, readonly unknown[]][] = [
  ['out of order', [put(4), put(3)]],
  ['twice', [put(4), put(4)]],
  ['from before its start', [put(1, { record: record({ revision: 1, createRevision: 1 }) })]],
  ['of another prefix', [put(4, { key: '/b/one', record: record({ key: '/b/one', revision: 4 }) })]],
  ['of an unknown type', [put(4, { type: 'MOVE' })]],
  ['without a record', [put(4, { record: undefined })]],
  ['with the record of another key', [put(4, { record: record({ key: '/a/two', revision: 4 }) })]],
  ['with the record of another revision', [put(4, { record: record({ revision: 5 }) })]],
  ['far above the store', [put(1_000_000)]],
  ['with progress far above the store', [{ type: 'PROGRESS', key: '', revision: 1_000_000 }]],
  ['with progress below its events', [put(4), { type: 'PROGRESS', key: '', revision: 3 }]],
  ['that are not objects', ['text']],
  ['that are null', [null]],
];

// Each waits for the pause before the caches list again.
it.concurrent.each(wrongEvents)('a watch with events %s is refused, so that its caches list again', async (_way, events) => {
  const { guarded, reasons } = await wild({
    async *watch() {
      yield* events;
      await hangs();
    },
  } as Methods);
  await guarded.currentRevision();
  const seen: number[] = [];
  const watching = (async () => {
    for await (const { revision } of guarded.watch('/a/', 2, new AbortController().signal)) seen.push(revision);
  })();
  await expect(watching).rejects.toThrow(CompactedError);
  expect(reasons).toEqual(['contract']);
  expect(seen.length).toBeLessThan(events.length);
});

it.each([
  ['ends', () => []],
  ['throws', fails],
  ['returns no events', () => undefined],
])('a watch that %s is a failure after which it can be resumed', async (_way, watch) => {
  const { guarded, reasons } = await wild({
    watch: watch as never,
  });
  const watching = (async () => {
    for await (const _event of guarded.watch('/a/', 2, new AbortController().signal));
  })();
  await expect(watching).rejects.toThrow();
  await expect(watching).rejects.not.toThrow(CompactedError);
  expect(reasons).toEqual(['error']);
});

it.concurrent.each(['leaves out the event of a write', 'sends nothing more'])(
  'a watch that %s is refused, so that its caches list again',
  async (way) => {
    const { guarded, reasons } = await wild({
      async *watch(store: FakeStorage, ...args: never[]) {
        for await (const event of store.watch(...(args as unknown as Parameters<FakeStorage['watch']>))) {
          if (event.revision === 4 && way === 'sends nothing more') await hangs();
          if (event.revision !== 4) yield event;
        }
      },
    } as Methods);
    const seen: number[] = [];
    const watching = (async () => {
      for await (const { revision } of guarded.watch('/a/', 2, new AbortController().signal)) seen.push(revision);
    })();
    for (const name of ['b', 'c', 'd']) await guarded.create(`/a/${name}`, encode);
    await expect(watching).rejects.toThrow(CompactedError);
    expect([seen, reasons]).toEqual([[3], ['contract']]);
  },
);

it('a watch that does not end when it is aborted ends for its reader', async () => {
  const { guarded, reasons } = await wild({
    async *watch() {
      yield put(3);
      await hangs();
    },
  } as Methods);
  const ending = new AbortController();
  const seen: number[] = [];
  for await (const { revision } of guarded.watch('/a/', 2, ending.signal)) {
    seen.push(revision);
    setImmediate(() => ending.abort());
  }
  expect([seen, reasons]).toEqual([[3], []]);
});

it('a store that does not close is left after the timeout', async () => {
  const { guarded, reasons } = await wild({ close: hangs });
  await guarded.close();
  expect(reasons).toEqual(['timeout']);
});

it.each([
  ['throws', fails, 'undefined is not a function'],
  ['hangs', hangs, 'no answer within 100 ms'],
  ['returns text', () => 'text', 'open returned no store: currentRevision, get'],
  ['returns nothing', () => undefined, 'open returned no store'],
  ['returns half a store', () => ({ get: fails }), 'list, create'],
])('open %s: the start fails, and the error names the package', async (_way, open, message) => {
  await expect(GuardedStorage.open(open, contribution, recorder().failures)).rejects.toThrow(
    new RegExp(`^${subject}.*${message.replaceAll(/[.*+?]/g, '\\$&')}`),
  );
});
