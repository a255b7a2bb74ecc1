import { afterEach, describe, expect, it } from 'vitest';
import { isConflict } from '#apimachinery/api/errors';
import type { KubeObject, ObjectMeta } from '#apimachinery/meta/types';
import { parseEncoded } from '#apimachinery/runtime/json/json';
import { fieldPath, invalid } from '#apimachinery/validation/field';
import { Cacher } from '#apiserver/storage/cacher/cacher';
import { FakeStorageWithFeed } from '#apiserver/storage/fake-storage';
import type { Strategy } from './resource-definition.ts';
import { Store } from './store.ts';
import { schemas, type Thing, thing, thingDefinition } from './test-things.ts';
import type { StoreHooks, WriteRequest } from './write.ts';

const now = '2026-01-01T00:00:00Z';
const open: Cacher[] = [];
afterEach(() => {
  for (const cacher of open.splice(0)) cacher.close();
});

/** A store of things, and the calls of admission and hooks in their order. */
async function storeOf({ strategy = {}, hooks = {} }: { strategy?: Strategy<Thing>; hooks?: StoreHooks } = {}) {
  const storage = new FakeStorageWithFeed();
  const parse = (bytes: Buffer): KubeObject => parseEncoded(bytes) as KubeObject;
  const cacher = new Cacher({ storage, prefix: '/things/', parse, fields: () => ({}) });
  open.push(cacher);
  await cacher.whenReady();
  const calls: string[] = [];
  const store = new Store(thingDefinition({ strategy: strategy as Strategy }), storage, cacher, schemas, hooks);
  const request = (more: Partial<WriteRequest> = {}): WriteRequest => ({
    namespace: 'ns',
    user: { name: 'jane', groups: [] },
    dryRun: false,
    now,
    bodyBytes: 100,
    warn: (text) => calls.push(`warning: ${text}`),
    admit: (operation) => void calls.push(`admit ${operation}`),
    validate: (operation) => void calls.push(`validate ${operation}`),
    ...more,
  });
  const colorOf = async (name: string): Promise<string | undefined> => {
    const found = cacher.peek(`/things/ns/${name}`);
    return (found?.object as Thing | undefined)?.spec?.color;
  };
  return { store, storage, calls, request, colorOf };
}

const paint =
  (color: string, metadata: ObjectMeta = {}) =>
  (existing: KubeObject | undefined): Thing => ({
    ...((existing ?? thing('', { name: 'a' })) as Thing),
    metadata: { ...(existing?.metadata ?? { name: 'a', namespace: 'ns' }), ...metadata },
    spec: { color },
  });

describe('create', () => {
  it('admits, prepares, validates and stores with the system fields of the server', async () => {
    const prepared: string[] = [];
    const { store, calls, request } = await storeOf({
      strategy: {
        generation: 'spec',
        prepareForCreate: ({ spec }) => void prepared.push(`prepare ${spec?.color}`),
        validate: () => {
          prepared.push('validate');
          return [];
        },
        warningsOnCreate: () => ['careful'],
      },
    });
    const { object, created, bytes } = await store.create(request(), thing('red', { name: 'a', uid: 'mine', creationTimestamp: 'never' }));
    expect([calls, prepared]).toEqual([
      ['admit CREATE', 'warning: careful', 'validate CREATE'],
      ['prepare red', 'validate'],
    ]);
    expect(created).toBe(true);
    expect(object.metadata).toMatchObject({ generation: 1, creationTimestamp: now, uid: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect(JSON.parse(bytes.toString())).toEqual(object);
  });

  it('rejects an existing name with 409', async () => {
    const { store, request } = await storeOf();
    await store.create(request(), thing('red'));
    await expect(store.create(request(), thing('blue'))).rejects.toThrow('things.things.example.com "a" already exists');
  });

  it.each([false, true])('reports that the existing object is being deleted; dry run: %s', async (dryRun) => {
    const { store, request } = await storeOf();
    await store.create(request(), thing('red', { name: 'a', finalizers: ['x.example.com/y'] }));
    await store.delete(request(), 'a', {});
    const again = store.create(request({ dryRun }), thing('blue'));
    await expect(again).rejects.toThrow('object is being deleted: things.things.example.com "a" already exists');
  });

  it('tries another generated name if one exists', async () => {
    const { store, storage, request } = await storeOf();
    const create = storage.create.bind(storage);
    const keys: string[] = [];
    storage.create = async (key, ...rest) => {
      keys.push(key);
      if (keys.length === 1) await create(key, ...rest);
      return create(key, ...rest);
    };
    const { object } = await store.create(request(), thing('red', { generateName: 'a-' }));
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(2);
    expect(object.metadata.name).toMatch(/^a-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(keys[1]).toBe(`/things/ns/${object.metadata.name}`);
  });

  it('stores nothing in a dry run', async () => {
    const { store, storage, calls, request } = await storeOf();
    await store.create(request({ dryRun: true }), thing('red'));
    expect([storage.events, calls]).toEqual([[], ['admit CREATE', 'validate CREATE']]);
  });

  it('reports the errors of the kind after those of the metadata', async () => {
    const { store, storage, request } = await storeOf({
      strategy: { validate: () => [invalid(fieldPath('spec').child('color'), 'red', 'no')] },
    });
    await expect(store.create(request(), thing('red', { name: 'A_' }))).rejects.toThrow(
      /metadata\.name: Invalid value.*spec\.color: Invalid value/,
    );
    expect(storage.events).toEqual([]);
  });

  it.each([
    { name: 'true after the write', existing: [], stored: true },
    { name: 'false after a failure', existing: ['a'], stored: false },
  ])('finishes its hook with $name', async ({ existing, stored }) => {
    const finished: boolean[] = [];
    const { store, request } = await storeOf({ hooks: { beginCreate: () => (isStored) => void finished.push(isStored) } });
    for (const name of existing) await store.create(request(), thing('red', { name }));
    finished.length = 0;
    await store.create(request(), thing('red')).catch(() => {});
    expect(finished).toEqual([stored]);
  });
});

describe('update', () => {
  it('writes the produced object with the identity of the stored one', async () => {
    const { store, calls, request, colorOf } = await storeOf({ strategy: { generation: 'spec' } });
    const first = await store.create(request(), thing('red'));
    calls.length = 0;
    const { object, created } = await store.update(request(), 'a', paint('blue', { generation: 7, creationTimestamp: 'never' }));
    expect([created, calls, await colorOf('a')]).toEqual([false, ['validate UPDATE'], 'blue']);
    const { uid = '', creationTimestamp = '' } = first.object.metadata;
    expect(object.metadata).toMatchObject({ uid, creationTimestamp, generation: 2 });
  });

  it('does not write an unchanged object', async () => {
    const { store, storage, request } = await storeOf();
    const { bytes } = await store.create(request(), thing('red'));
    const again = await store.update(request(), 'a', paint('red'));
    expect([storage.events.length, again.bytes.equals(bytes)]).toEqual([1, true]);
  });

  it('produces the object again after another writer was faster', async () => {
    const { store, storage, request, colorOf } = await storeOf();
    await store.create(request(), thing('red'));
    const seen: (string | undefined)[] = [];
    const { update } = storage;
    storage.update = async (...args) => {
      storage.update = update.bind(storage);
      await store.update(request(), 'a', paint('green', { labels: { by: 'another' } }));
      return update.apply(storage, args);
    };
    await store.update(request(), 'a', (existing, _pace) => {
      seen.push((existing as Thing).spec?.color);
      const { resourceVersion: _, ...metadata } = (existing as Thing).metadata;
      return { ...(existing as Thing), metadata, spec: { color: 'blue' } };
    });
    expect([seen, await colorOf('a')]).toEqual([['red', 'green'], 'blue']);
  });

  it.each([
    { name: 'another resourceVersion', metadata: { resourceVersion: '999' }, options: {}, message: 'the object has been modified' },
    { name: 'another uid', metadata: {}, options: { uid: 'other' }, message: 'UID in precondition: other' },
  ])('rejects $name with 409', async ({ metadata, options, message }) => {
    const { store, request } = await storeOf();
    await store.create(request(), thing('red'));
    const failed = await store.update(request(), 'a', paint('blue', metadata), options).catch((error: unknown) => error);
    expect([isConflict(failed), (failed as Error).message]).toEqual([true, expect.stringContaining(message)]);
  });

  it('requires a resourceVersion if the strategy does', async () => {
    const { store, request } = await storeOf({ strategy: { allowUnconditionalUpdate: false } });
    await store.create(request(), thing('red'));
    await expect(store.update(request(), 'a', paint('blue', { resourceVersion: '' }))).rejects.toThrow('must be specified for an update');
  });

  it.each([
    { name: 'rejects a missing object with 404', strategy: {}, options: {}, want: 'not found' },
    { name: 'creates a missing object if the strategy allows it', strategy: { allowCreateOnUpdate: true }, options: {}, want: 'created' },
    { name: 'creates a missing object for an apply', strategy: {}, options: { forceAllowCreate: true }, want: 'created' },
  ])('$name', async ({ strategy, options, want }) => {
    const { store, calls, request } = await storeOf({ strategy });
    const outcome = await store.update(request(), 'a', paint('red'), options).then(
      ({ created }) => (created ? 'created' : 'updated'),
      (error: Error) => error.message,
    );
    expect(outcome).toContain(want);
    expect(calls).toEqual(want === 'created' ? ['admit CREATE', 'validate CREATE'] : []);
  });

  it('removes an object that is being deleted with its last finalizer', async () => {
    const removed: (string | undefined)[] = [];
    const { store, storage, request } = await storeOf({ hooks: { afterDelete: ({ metadata }) => void removed.push(metadata.name) } });
    await store.create(request(), thing('red', { name: 'a', finalizers: ['x.example.com/y'] }));
    expect((await store.delete(request(), 'a', {})).gone).toBe(false);
    await store.update(request(), 'a', paint('red', { finalizers: [] }));
    expect([storage.events.at(-1)?.type, removed]).toEqual(['DELETE', ['a']]);
  });
});

describe('delete', () => {
  it('removes the object and returns its last state', async () => {
    const { store, storage, calls, request } = await storeOf();
    await store.create(request(), thing('red'));
    calls.length = 0;
    const { gone, stored } = await store.delete(request(), 'a', {});
    expect([gone, (stored.object as Thing).spec?.color, calls]).toEqual([true, 'red', ['validate DELETE']]);
    expect(stored.object.metadata.resourceVersion).toBe(String(storage.events.at(-1)?.revision));
  });

  it.each([
    { name: 'finalizers', metadata: { finalizers: ['x.example.com/y'] }, options: {} },
    { name: 'a propagation policy', metadata: {}, options: { propagationPolicy: 'Foreground' } },
  ])('only marks an object with $name', async ({ metadata, options }) => {
    const { store, storage, request } = await storeOf();
    await store.create(request(), thing('red', { name: 'a', ...metadata }));
    const { gone, stored } = await store.delete(request(), 'a', options);
    expect([gone, storage.events.at(-1)?.type]).toEqual([false, 'PUT']);
    expect(stored.object.metadata).toMatchObject({ deletionTimestamp: now, deletionGracePeriodSeconds: 0 });
    const again = await store.delete(request(), 'a', {});
    expect([again.gone, storage.events.length]).toEqual([false, 2]);
  });

  it('changes nothing in a dry run', async () => {
    const { store, storage, request } = await storeOf();
    await store.create(request(), thing('red'));
    expect((await store.delete(request({ dryRun: true }), 'a', {})).gone).toBe(true);
    expect(storage.events).toHaveLength(1);
  });

  it('does not remove an object that validating admission denies', async () => {
    const { store, storage, request } = await storeOf();
    await store.create(request(), thing('red'));
    const denying = request({ validate: () => Promise.reject(new Error('denied')) });
    await expect(store.delete(denying, 'a', {})).rejects.toThrow('denied');
    expect(storage.events).toHaveLength(1);
  });

  it('rejects a missing object with 404', async () => {
    const { store, request } = await storeOf();
    await expect(store.delete(request(), 'a', {})).rejects.toThrow('things.things.example.com "a" not found');
  });
});

describe('key', () => {
  it.each([
    { namespace: 'ns', name: 'a', want: '/things/ns/a' },
    { namespace: 'ns', name: '', want: '/things/ns/' },
    { namespace: 'ns', name: '..', want: /Name parameter invalid/ },
    { namespace: 'ns', name: 'a/b', want: /Name parameter invalid/ },
    { namespace: 'ns', name: 'a%b', want: /Name parameter invalid/ },
    { namespace: '..', name: 'a', want: /invalid key: "\/things\/\.\.\/a"/ },
  ])('joins "$namespace" and "$name": $want', async ({ namespace, name, want }) => {
    const { store } = await storeOf();
    if (typeof want === 'string') expect(store.key(namespace, name)).toBe(want);
    else expect(() => store.key(namespace, name)).toThrow(want);
  });
});
