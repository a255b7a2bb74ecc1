import { expect, it } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { CachedSharedInformers, TakenInformers } from '#apiserver/controllers/shared-informer';
import type { Informer } from '#apiserver/registry/informers';
import { PackageSharedInformers } from './package-shared-informers.ts';

const pods = { group: '', resource: 'pods' };

it('a controller that takes its informer again gets the same one, with its indexes', () => {
  const pod: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'ns', name: 'a' } };
  const source: Informer = {
    get: () => undefined,
    list: () => [],
    subscribe: (listener) => {
      listener('ADDED', pod);
      return { [Symbol.dispose]: () => undefined };
    },
  };
  const shared = new CachedSharedInformers({ late: <T extends KubeObject>() => source as unknown as Informer<T> }, () => undefined);
  const informers = new TakenInformers(new PackageSharedInformers(shared, { package: 'p' } as never, 'c', () => undefined));
  informers.for(pods).addIndex('first-letter', ({ metadata: { name = '' } }) => [name.slice(0, 1)]);
  expect(informers.for(pods).byIndex('first-letter', 'a')).toEqual([pod]);
  for (let i = 0; i < 5; i += 1) informers.for({ ...pods });
  expect(informers.taken.size).toBe(1);
});
