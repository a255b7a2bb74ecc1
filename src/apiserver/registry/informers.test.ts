import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { parseEncoded } from '#apimachinery/runtime/json/json';
import { Cacher } from '#apiserver/storage/cacher/cacher';
import { FakeStorageWithFeed } from '#apiserver/storage/fake-storage';
import { CacherInformer } from './informers.ts';
import { type Thing, thing } from './test-things.ts';

let storage: FakeStorageWithFeed;
let cacher: Cacher;
let informer: CacherInformer<Thing>;
const keyOf = (namespace: string, name: string): string => `/things/${namespace}/${name}`;
const prefixOf = (namespace: string): string => (namespace === '' ? '/things/' : `/things/${namespace}/`);
const put = async (color: string, name: string, namespace = 'ns'): Promise<number> => {
  const key = keyOf(namespace, name);
  const encode = (revision: number) =>
    Buffer.from(`${JSON.stringify(thing(color, { name, namespace, resourceVersion: String(revision) }))}\n`);
  const current = await storage.get(key);
  const { revision } = current ? await storage.update(key, current.revision, encode) : await storage.create(key, encode);
  return revision;
};

beforeEach(() => {
  storage = new FakeStorageWithFeed();
  const parse = (bytes: Buffer): KubeObject => parseEncoded(bytes) as KubeObject;
  cacher = new Cacher({ storage, prefix: '/things/', parse, fields: () => ({}) });
  informer = new CacherInformer({ cacher, keyOf, prefixOf });
});
afterEach(() => cacher.close());

const summary = ({ metadata, spec }: Thing): string => `${metadata.namespace}/${metadata.name} ${spec?.color}`;

it('reads the current objects of all namespaces and of one', async () => {
  await cacher.whenReady();
  await put('red', 'a');
  await put('blue', 'b', 'other');
  expect(informer.list().map(summary)).toEqual(['ns/a red', 'other/b blue']);
  expect(informer.list('other').map(summary)).toEqual(['other/b blue']);
  expect(informer.get('ns', 'a')?.spec).toEqual({ color: 'red' });
});

it.each(['', 'c', '..', 'a/b', 'a%b'])('has no object with the name "%s"', async (name) => {
  await cacher.whenReady();
  await put('red', 'a');
  expect(informer.get('ns', name)).toBeUndefined();
});

it('sends the current objects, then changes, until it is disposed of', async () => {
  await cacher.whenReady();
  await put('red', 'a');
  const seen: string[] = [];
  const synced = Promise.withResolvers<void>();
  const changed = Promise.withResolvers<void>();
  const subscription = informer.subscribe(
    (type, object) => {
      seen.push(`${type} ${summary(object)}`);
      if (type === 'DELETED') changed.resolve();
    },
    {
      synced: () => {
        seen.push('synced');
        synced.resolve();
      },
    },
  );
  await synced.promise;
  const revision = await put('green', 'a');
  await storage.delete(keyOf('ns', 'a'), revision);
  await changed.promise;
  subscription[Symbol.dispose]();
  await put('blue', 'b');
  expect(seen).toEqual(['ADDED ns/a red', 'synced', 'MODIFIED ns/a green', 'DELETED ns/a green']);
});

it('sends nothing if it is disposed of before the cache is ready', async () => {
  const seen: string[] = [];
  informer.subscribe((type) => void seen.push(type))[Symbol.dispose]();
  await cacher.whenReady();
  await put('red', 'a');
  expect(seen).toEqual([]);
});

it('changes to the cache that replaces a closed one, and has no objects while there is none', async () => {
  const newCacher = (): Cacher =>
    new Cacher({ storage, prefix: '/things/', parse: (bytes) => parseEncoded(bytes) as KubeObject, fields: () => ({}) });
  let present: Cacher | undefined = newCacher();
  const following = new CacherInformer<Thing>(() => present && { cacher: present, keyOf, prefixOf });
  const seen: string[] = [];
  using _subscription = following.subscribe((type, object) => void seen.push(`${type} ${summary(object)}`), {
    restarted: () => void seen.push('restarted'),
  });
  await present.whenReady();
  await put('red', 'a');
  await vi.waitFor(() => expect(seen).toEqual(['ADDED ns/a red']));
  present.close();
  present = undefined;
  expect([following.list(), following.get('ns', 'a')]).toEqual([[], undefined]);
  const next = newCacher();
  present = next;
  expect(() => following.get('ns', 'a')).toThrow('informer: the cache is not ready yet');
  await next.whenReady();
  await put('blue', 'b');
  await vi.waitFor(() => expect(seen).toEqual(['ADDED ns/a red', 'restarted', 'ADDED ns/a red', 'ADDED ns/b blue']));
  expect(following.get('ns', 'b')?.spec).toEqual({ color: 'blue' });
  next.close();
});
