import { expect, it } from 'vitest';
import { systemClock } from '#apiserver/base/clock';
import type { ObjectClient } from '#apiserver/registry/client';
import type { Informer } from '#apiserver/registry/informers';
import type { ExceptionObject } from './exception-group.ts';
import { ExceptionObjects } from './exception-objects.ts';
import { ExceptionStatuses } from './exception-status.ts';

/** One stored exception, and its informers and client. */
class FakeStore {
  object: ExceptionObject = {
    apiVersion: 'policy.kubenest.dev/v1alpha1',
    kind: 'PolicyException',
    metadata: { name: 'web', namespace: 'shop', uid: 'a', generation: 1 },
    spec: { plugins: ['Strict'], reason: 'r', expires: '2030-01-02T00:00:00Z' },
  };
  writes = 0;
  fails = false;
  readonly #listeners: ((type: 'MODIFIED', object: ExceptionObject) => void)[] = [];

  readonly informers = {
    for: ({ resource }: { readonly resource: string }): Informer => ({
      get: () => undefined,
      list: () => [],
      subscribe: (listener) => {
        if (resource === 'policyexceptions') {
          listener('ADDED', this.object);
          this.#listeners.push(listener as never);
        }
        return { [Symbol.dispose]() {} };
      },
    }),
  };

  readonly client = {
    update: async (_target, namespace, name, change) => {
      expect([namespace, name]).toEqual(['shop', 'web']);
      if (this.fails) throw new Error('unavailable');
      const changed = change(this.object as never) as ExceptionObject | undefined;
      if (!changed) return undefined;
      this.writes += 1;
      this.change(changed);
      return changed;
    },
  } as Pick<ObjectClient, 'update'> as ObjectClient;

  change(object: ExceptionObject): void {
    this.object = object;
    for (const listener of this.#listeners) listener('MODIFIED', object);
  }
}

const warnings: string[] = [];
const logger = { info() {}, warn: (_: object, message: string) => void warnings.push(message), error() {} };

function server(store: FakeStore, time: () => string): { readonly objects: ExceptionObjects; readonly statuses: ExceptionStatuses } {
  const objects = new ExceptionObjects(store.informers as never, logger);
  const clock = { ...systemClock, wallTime: () => Date.parse(time()), every: () => () => {} };
  return { objects, statuses: new ExceptionStatuses(objects, { client: store.client, clock, logger }) };
}

it('adds the uses of several servers, and writes only changes', async () => {
  const store = new FakeStore();
  const time = (): string => '2030-01-01T00:00:00Z';
  const [one, two] = [server(store, time), server(store, time)];
  one.objects.of('Strict')[0]!.uses += 2;
  two.objects.of('Strict')[0]!.uses += 3;
  for (let round = 0; round < 2; round++) for (const { statuses } of [one, two]) await statuses.write();
  expect(store.object.status).toMatchObject({ uses: 5, lastUsedTime: '2030-01-01T00:00:00Z' });
  expect(store.writes).toBe(2);
});

it('sets the condition Expired at the time of expiry', async () => {
  const store = new FakeStore();
  let time = '2030-01-01T00:00:00Z';
  const { statuses } = server(store, () => time);
  const condition = async (): Promise<unknown> => {
    await statuses.write();
    return store.object.status?.conditions?.map(({ type, status, reason, lastTransitionTime }) => [
      type,
      status,
      reason,
      lastTransitionTime,
    ]);
  };
  expect(await condition()).toEqual([['Expired', 'False', 'InEffect', '2030-01-01T00:00:00Z']]);
  time = '2030-01-02T00:00:00Z';
  expect(await condition()).toEqual([['Expired', 'True', 'Expired', '2030-01-02T00:00:00Z']]);
});

it('counts uses again after a failed write, and none for another object of the same name', async () => {
  const store = new FakeStore();
  const { objects, statuses } = server(store, () => '2030-01-01T00:00:00Z');
  objects.of('Strict')[0]!.uses = 2;
  store.fails = true;
  await statuses.write();
  expect(warnings).toEqual(['cannot write the status of an exception']);
  store.fails = false;
  await statuses.write();
  expect(store.object.status?.uses).toBe(2);
  const { status: _, ...rest } = store.object;
  store.change({ ...rest, metadata: { ...rest.metadata, uid: 'b' } });
  await statuses.write();
  expect(store.object.status?.uses).toBe(0);
});
