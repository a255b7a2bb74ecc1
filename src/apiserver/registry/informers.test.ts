import { afterEach, beforeEach, expect, it } from 'vitest';
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
  informer = new CacherInformer(cacher, keyOf, (namespace) => (namespace === '' ? '/things/' : `/things/${namespace}/`));
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
