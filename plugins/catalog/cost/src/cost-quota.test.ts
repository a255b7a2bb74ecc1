import type { Attributes, Informer, Informers, KubeObject } from 'kubenest/sdk';
import { FakeClock } from 'kubenest/sdk/testing';
import { beforeEach, expect, it } from 'vitest';
import { CostQuota } from './cost-quota.ts';

type Subscription = Parameters<Informer['subscribe']>;

/** Informers whose events a test sends. Only namespaces are read. */
class SentInformers implements Informers {
  readonly #subscriptions = new Map<string, Subscription>();
  disposed = 0;

  for<T extends KubeObject>({ resource }: { readonly resource: string }): Informer<T> {
    return {
      get: () => undefined,
      list: () => {
        throw new Error(`a list of ${resource}`);
      },
      subscribe: (...subscription) => {
        this.#subscriptions.set(resource, subscription as Subscription);
        return {
          [Symbol.dispose]: () => {
            this.disposed += 1;
          },
        };
      },
    };
  }

  send(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): void {
    this.#subscriptions.get('pods')?.[0](type, object);
  }

  restarted(): void {
    this.#subscriptions.get('pods')?.[1]?.restarted?.();
  }

  synced(): void {
    for (const [, progress] of this.#subscriptions.values()) progress?.synced?.();
  }
}

const pod = (name: string, status: object = {}): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop' },
    spec: { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] },
    status,
  }) as unknown as KubeObject;

const creating = (name: string, more: object = {}): Attributes =>
  ({
    object: pod(name),
    namespace: 'shop',
    name,
    resource: { group: '', version: 'v1', resource: 'pods' },
    ...more,
  }) as unknown as Attributes;

let clock: FakeClock;
let informers: SentInformers;
let quota: CostQuota;
beforeEach(() => {
  clock = new FakeClock();
  informers = new SentInformers();
  quota = new CostQuota(informers, { prices: { cpu: 1 }, budgets: [{ namespaces: ['*'], amount: 3 }] }, clock);
  informers.synced();
});

/** Returns the names of the pods that are admitted. */
function admitted(names: readonly string[], more?: object): string[] {
  return names.filter((name) => {
    try {
      return quota.validate(creating(name, more)) === undefined;
    } catch {
      return false;
    }
  });
}

it('requests that are in progress at the same time do not exceed the budget together', () => {
  // No event reports any of them yet.
  expect(admitted(['a', 'b', 'c', 'd', 'e', 'f'])).toEqual(['a', 'b', 'c']);
});

it('an admitted object counts once when an event reports it', () => {
  expect(admitted(['a', 'b'])).toEqual(['a', 'b']);
  for (const name of ['a', 'b']) informers.send('ADDED', pod(name));
  expect(admitted(['c', 'd'])).toEqual(['c']);
});

it('dry runs reserve nothing', () => {
  expect(admitted(['a', 'b', 'c', 'd'], { dryRun: true })).toEqual(['a', 'b', 'c', 'd']);
  expect(admitted(['e', 'f', 'g', 'h'])).toEqual(['e', 'f', 'g']);
});

it('the reservation of a request that failed later ends', async () => {
  expect(admitted(['a', 'b', 'c', 'd'])).toEqual(['a', 'b', 'c']);
  await clock.advance(1_001);
  expect(admitted(['d', 'e'])).toEqual(['d', 'e']);
});

it('deleted and ended pods cost nothing', () => {
  for (const name of ['a', 'b', 'c']) informers.send('ADDED', pod(name));
  expect(admitted(['d'])).toEqual([]);
  informers.send('MODIFIED', pod('a', { phase: 'Succeeded' }));
  informers.send('DELETED', pod('b'));
  expect(admitted(['d', 'e', 'f'])).toEqual(['d', 'e']);
});

it('an interruption of the informer keeps the costs until all objects are known again', () => {
  for (const name of ['a', 'b', 'c']) informers.send('ADDED', pod(name));
  informers.restarted();
  expect(admitted(['d'])).toEqual([]);
  informers.send('ADDED', pod('a'));
  expect(admitted(['d'])).toEqual([]);
  informers.synced();
  expect(admitted(['d', 'e', 'f'])).toEqual(['d', 'e']);
});

it('a request at the start waits until the costs are known', async () => {
  informers = new SentInformers();
  quota = new CostQuota(informers, { prices: { cpu: 1 }, budgets: [{ namespaces: ['*'], amount: 1 }] }, clock);
  const pending = quota.validate(creating('b'));
  informers.send('ADDED', pod('a'));
  informers.synced();
  await expect(pending).rejects.toThrow('namespace shop would cost 2.00, its budget is 1.00');
});

it('a scan counts a stored object once, and denies what a namespace cannot pay', () => {
  const verdicts = {};
  for (const name of ['a', 'b', 'c']) informers.send('ADDED', pod(name));
  expect(admitted(['a'], { verdicts, dryRun: true })).toEqual(['a']);
  informers.send('ADDED', pod('d'));
  expect(admitted(['a'], { verdicts, dryRun: true })).toEqual([]);
});

it('rounding errors of many events deny nothing', () => {
  const fraction = (name: string): KubeObject =>
    ({ ...pod(name), spec: { containers: [{ name: 'c', resources: { requests: { cpu: '100m' } } }] } }) as unknown as KubeObject;
  for (let round = 0; round < 1_000; round += 1) {
    for (const name of ['x', 'y', 'z']) informers.send('ADDED', fraction(name));
    for (const name of ['x', 'y', 'z']) informers.send('DELETED', fraction(name));
    informers.send('MODIFIED', fraction('a'));
    informers.send('MODIFIED', pod('a'));
  }
  expect(admitted(['b', 'c', 'd'])).toEqual(['b', 'c']);
});

it('ends its subscriptions', () => {
  quota[Symbol.dispose]();
  expect(informers.disposed).toBe(2);
});
