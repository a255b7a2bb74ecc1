import type { Attributes, Informers, KubeObject } from 'kubenest/sdk';
import { expect, it } from 'vitest';
import { CostQuota } from './cost-quota.ts';

/** Objects in the server's cache. */
const cached = new Map<string, KubeObject>();
const informers = {
  for: ({ resource }: { readonly resource: string }) => ({
    get: (namespace: string, name: string) => cached.get(`${resource}/${namespace}/${name}`),
    list: (namespace: string) => [...cached].filter(([key]) => key.startsWith(`${resource}/${namespace}/`)).map(([, object]) => object),
  }),
} as unknown as Informers;

const pod = (name: string): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop' },
    spec: { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] },
  }) as unknown as KubeObject;

const creating = (name: string, more: object = {}): Attributes =>
  ({
    object: pod(name),
    namespace: 'shop',
    name,
    resource: { group: '', version: 'v1', resource: 'pods' },
    ...more,
  }) as unknown as Attributes;

/** Returns the names of the pods that are admitted. */
function admitted(quota: CostQuota, names: readonly string[], more?: object): string[] {
  return names.filter((name) => {
    try {
      quota.validate(creating(name, more));
      return true;
    } catch {
      return false;
    }
  });
}

const newQuota = () => new CostQuota(informers, { prices: { cpu: 1 }, budgets: [{ namespaces: ['*'], amount: 3 }] });

it('requests that are in progress at the same time do not exceed the budget together', () => {
  cached.clear();
  const quota = newQuota();
  // None of them is in the cache yet, and each denial counts the namespace again.
  expect(admitted(quota, ['a', 'b', 'c', 'd', 'e', 'f'])).toEqual(['a', 'b', 'c']);
});

it('an admitted object counts once when it is in the cache', () => {
  cached.clear();
  const quota = newQuota();
  expect(admitted(quota, ['a', 'b'])).toEqual(['a', 'b']);
  for (const name of ['a', 'b']) cached.set(`pods/shop/${name}`, pod(name));
  expect(admitted(quota, ['c', 'd'])).toEqual(['c']);
});

it('dry runs reserve nothing', () => {
  cached.clear();
  const quota = newQuota();
  expect(admitted(quota, ['a', 'b', 'c', 'd'], { dryRun: true })).toEqual(['a', 'b', 'c', 'd']);
  expect(admitted(quota, ['e', 'f', 'g', 'h'])).toEqual(['e', 'f', 'g']);
});
