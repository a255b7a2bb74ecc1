import type { KubeObject } from '#apimachinery/meta/types';
import type { Informer, SubscriptionProgress } from '#apiserver/registry/informers';
import { expect, it } from 'vitest';
import { CachedSharedInformers, type SharedInformer } from './shared-informer.ts';

type Listener = Parameters<Informer['subscribe']>[0];

/** A source whose events the test sends. */
class Source implements Informer {
  send: Listener = () => {};
  progress: SubscriptionProgress = {};
  subscriptions = 0;

  get = (): undefined => undefined;
  list = (): [] => [];

  subscribe(listener: Listener, progress: SubscriptionProgress = {}): Disposable {
    this.subscriptions += 1;
    this.send = listener;
    this.progress = progress;
    return { [Symbol.dispose]: () => void (this.subscriptions -= 1) };
  }
}

const object = (name: string, resourceVersion = '1', labels: Record<string, string> = {}, uid = name): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'ns', name, uid, resourceVersion, labels },
});

const pods = { group: '', resource: 'pods' };
const newInformer = (): {
  source: Source;
  informers: CachedSharedInformers;
  informer: SharedInformer;
  events: string[];
  errors: unknown[];
} => {
  const source = new Source();
  const errors: unknown[] = [];
  const informers = new CachedSharedInformers({ late: <T extends KubeObject>() => source as unknown as Informer<T> }, (error) =>
    errors.push(error),
  );
  const informer = informers.for(pods);
  const events: string[] = [];
  const show = ({ metadata }: KubeObject): string => `${metadata.name}@${metadata.resourceVersion}`;
  informer.handle({
    added: (one) => events.push(`added ${show(one)}`),
    updated: (one, old) => events.push(`updated ${show(one)} from ${show(old)}`),
    deleted: (one) => events.push(`deleted ${show(one)}`),
  });
  return { source, informers, informer, events, errors };
};

it('shares one subscription for each resource, and ends it', () => {
  const { source, informers } = newInformer();
  expect(informers.for(pods)).toBe(informers.for({ resource: 'pods', group: '' }));
  expect(source.subscriptions).toBe(1);
  informers[Symbol.dispose]();
  expect(source.subscriptions).toBe(0);
});

it('reports additions, updates with the old state, and deletions with the last one', () => {
  const { source, informer, events } = newInformer();
  source.send('ADDED', object('a'));
  source.send('MODIFIED', object('a', '2'));
  expect(informer.get('ns', 'a')?.metadata.resourceVersion).toBe('2');
  source.send('DELETED', object('a', '3'));
  expect(informer.get('ns', 'a')).toBeUndefined();
  expect(events).toEqual(['added a@1', 'updated a@2 from a@1', 'deleted a@3']);
});

it('reports an object of the same name as another one', () => {
  const { source, events } = newInformer();
  source.send('ADDED', object('a', '1', {}, 'first'));
  source.send('ADDED', object('a', '5', {}, 'second'));
  expect(events).toEqual(['added a@1', 'deleted a@1', 'added a@5']);
});

it('reports after an interruption what changed and what was deleted meanwhile, and nothing else', () => {
  const { source, events } = newInformer();
  for (const name of ['kept', 'changed', 'deleted']) source.send('ADDED', object(name));
  events.length = 0;
  source.progress.restarted?.();
  source.send('ADDED', object('kept'));
  source.send('ADDED', object('changed', '2'));
  source.send('ADDED', object('new', '3'));
  source.progress.synced?.();
  expect(events).toEqual(['updated changed@2 from changed@1', 'added new@3', 'deleted deleted@1']);
});

it('keeps indexes up to date', () => {
  const { source, informer } = newInformer();
  source.send('ADDED', object('a', '1', { app: 'x' }));
  informer.addIndex('app', ({ metadata }) => [metadata.labels?.['app'] ?? []].flat());
  source.send('ADDED', object('b', '1', { app: 'x' }));
  source.send('MODIFIED', object('a', '2', { app: 'y' }));
  const names = (value: string): unknown[] => informer.byIndex('app', value).map(({ metadata }) => metadata.name);
  expect([names('x'), names('y'), names('z')]).toEqual([['b'], ['a'], []]);
  source.send('DELETED', object('b', '3', { app: 'x' }));
  expect(names('x')).toEqual([]);
  expect(informer.list('ns')).toHaveLength(1);
  expect(informer.list('other')).toEqual([]);
  expect(() => informer.byIndex('missing', 'x')).toThrow('unknown index "missing"');
});

it('reports a handler that throws, and calls the others', () => {
  const { source, informer, events, errors } = newInformer();
  const failing = informer.handle({
    added: () => {
      throw new Error('broken');
    },
  });
  source.send('ADDED', object('a'));
  failing[Symbol.dispose]();
  source.send('ADDED', object('b'));
  expect(errors).toEqual([new Error('broken')]);
  expect(events).toEqual(['added a@1', 'added b@1']);
});

it('is synced once the source has sent all objects', async () => {
  const { source, informer } = newInformer();
  let isSynced = false;
  const synced = informer.synced.then(() => {
    isSynced = true;
  });
  await new Promise(setImmediate);
  expect(isSynced).toBe(false);
  source.progress.synced?.();
  await synced;
});

it('an index function that throws concerns only its own index', () => {
  const { source, informer, events, errors } = newInformer();
  informer.addIndex('bad', ({ metadata }) => {
    if (metadata.labels?.['bad']) throw new Error('no values');
    return ['known'];
  });
  informer.addIndex('app', ({ metadata }) => [metadata.labels?.['app'] ?? '']);
  source.send('ADDED', object('a', '1', { app: 'web', bad: 'yes' }));
  expect([events, informer.byIndex('app', 'web').length, informer.byIndex('bad', 'known').length]).toEqual([['added a@1'], 1, 0]);
  expect(errors).toEqual([new Error('no values')]);
  source.send('MODIFIED', object('a', '2', { app: 'web' }));
  expect(informer.byIndex('bad', 'known')).toHaveLength(1);
  source.send('DELETED', object('a', '3', { bad: 'yes' }));
  expect(informer.byIndex('bad', 'known')).toEqual([]);
});

it('an object leaves an index whose function does not always return the same values', () => {
  const { source, informer } = newInformer();
  let calls = 0;
  informer.addIndex('call', () => [`${(calls += 1)}`]);
  source.send('ADDED', object('a'));
  source.send('MODIFIED', object('a', '2'));
  expect([informer.byIndex('call', '1'), informer.byIndex('call', '2').length]).toEqual([[], 1]);
  source.send('DELETED', object('a', '3'));
  expect(informer.byIndex('call', '2')).toEqual([]);
});
