import { expect, it } from 'vitest';
import type { GroupResource, KubeObject } from '#apimachinery/meta/types';
import type { Informers } from '#apiserver/registry/informers';
import { FollowedResources } from './followed-resources.ts';
import { MirroredInformers } from './mirrored-informers.ts';

const maps: GroupResource = { group: '', resource: 'configmaps' };
const map = (name: string, value = 'a'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'shop' },
  data: { value },
});

type Subscription = Parameters<ReturnType<Informers['for']>['subscribe']>;

/** A server and a thread without threads: what one sends, the other receives at once. */
class Connection {
  #listener: Subscription[0] = () => {};
  #progress: NonNullable<Subscription[1]> = {};
  isDisposed = false;
  isOverflowed = false;
  isDelivering = true;

  readonly followed: FollowedResources;
  readonly mirrored = new MirroredInformers((resource) => this.followed.follow(this.#informers, resource));

  constructor(maxUnread = 1_000) {
    this.followed = new FollowedResources(
      (resource, event) => {
        if (!this.isDelivering) return;
        if ('text' in event) this.followed.read(event.text.length);
        this.mirrored.receive(resource, event);
      },
      maxUnread,
      () => {
        this.isOverflowed = true;
      },
    );
  }

  readonly #informers: Informers = {
    for: () => ({
      get: () => undefined,
      list: () => [],
      subscribe: (listener, progress = {}) => {
        this.#listener = listener as Subscription[0];
        this.#progress = progress;
        return {
          [Symbol.dispose]: () => {
            this.isDisposed = true;
          },
        };
      },
    }),
  };

  send(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): void {
    this.#listener(type, object);
  }

  restart(objects: readonly KubeObject[]): void {
    this.#progress.restarted?.();
    for (const object of objects) this.send('ADDED', object);
    this.#progress.synced?.();
  }
}

it('mirrors the objects of a resource, frozen', async () => {
  const connection = new Connection();
  const informer = connection.mirrored.for(maps);
  expect(connection.mirrored.for(maps)).toBe(informer);
  connection.send('ADDED', map('one'));
  connection.send('ADDED', map('two'));
  const synced = connection.mirrored.whenSynced();
  expect(synced).toBeDefined();
  connection.restart([map('one', 'b'), map('three')]);
  await synced;
  expect(connection.mirrored.whenSynced()).toBeUndefined();
  connection.send('MODIFIED', map('three', 'c'));
  expect(informer.list()).toEqual([map('one', 'b'), map('three', 'c')]);
  expect(informer.list('shop')).toEqual(informer.list());
  expect(informer.list('other')).toEqual([]);
  expect(() => Object.assign(informer.get('shop', 'one')!, { kind: 'Secret' })).toThrow(TypeError);
  connection.send('DELETED', map('one', 'b'));
  expect(informer.get('shop', 'one')).toBeUndefined();
});

it('refuses reads until it has all objects', () => {
  const connection = new Connection();
  const informer = connection.mirrored.for(maps);
  connection.send('ADDED', map('one'));
  expect(() => informer.list()).toThrow('configmaps are not read yet');
  expect(() => informer.get('shop', 'two')).toThrow('configmaps are not read yet');
  connection.restart([map('one')]);
  expect([informer.list(), informer.get('shop', 'two')]).toEqual([[map('one')], undefined]);
});

it('keeps the objects that it had while the cache of the server starts again', () => {
  const connection = new Connection();
  const informer = connection.mirrored.for(maps);
  connection.restart([map('one')]);
  connection.mirrored.receive(maps, { type: 'restarted' });
  expect(informer.get('shop', 'one')).toEqual(map('one'));
  connection.mirrored.receive(maps, { type: 'synced' });
  expect(informer.list()).toEqual([]);
});

it('calls listeners with the current objects and the changes until they are disposed of', async () => {
  const connection = new Connection();
  const informer = connection.mirrored.for(maps);
  connection.restart([map('one')]);
  const seen: string[] = [];
  const subscription = informer.subscribe((type, { metadata }) => seen.push(`${type} ${metadata.name}`), {
    restarted: () => seen.push('restarted'),
    synced: () => seen.push('synced'),
  });
  expect(seen).toEqual([]);
  await Promise.resolve();
  connection.send('DELETED', map('one'));
  connection.restart([map('two')]);
  subscription[Symbol.dispose]();
  connection.send('ADDED', map('three'));
  expect(seen).toEqual(['ADDED one', 'synced', 'DELETED one', 'restarted', 'ADDED two', 'synced']);
});

it('reports a thread that does not receive what it follows', () => {
  const connection = new Connection(1_000);
  connection.mirrored.for(maps);
  for (let i = 0; i < 100; i += 1) connection.send('MODIFIED', map('one'));
  expect(connection.isOverflowed).toBe(false);
  connection.isDelivering = false;
  for (let i = 0; i < 100; i += 1) connection.send('MODIFIED', map('one'));
  expect(connection.isOverflowed).toBe(true);
  connection.followed[Symbol.dispose]();
  expect(connection.isDisposed).toBe(true);
});
