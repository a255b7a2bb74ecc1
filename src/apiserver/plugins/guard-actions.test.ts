import { expect, it } from 'vitest';
import { newConflict } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import type { ContributedAction, ContributedGroupOptions, ContributedResource } from '#apiserver/registry/contributed-group';
import { fakeServices } from '#sdk/testing/index';
import { defaultGuard } from './guard-admission.ts';
import { guardActions } from './guard-actions.ts';
import { PluginFailures } from './plugin-failures.ts';

const { metrics } = fakeServices();
const contribution = {
  described: { kind: 'ApiGroup', options: { name: 'Shop' } },
  guard: { ...defaultGuard, timeoutMs: 20 },
  origin: { package: '@acme/shop' },
} as const;

const object: KubeObject = { apiVersion: 'w.example.com/v1', kind: 'Order', metadata: {} };
const request = { namespace: '', user: { name: 'jane', groups: [] }, dryRun: false };
const conflict = newConflict({ group: '', resource: 'orders' }, 'a', 'sold out');
const late = {
  message: 'Timeout: API group "Shop" of package @acme/shop gave no answer within 20 ms',
  status: { code: 504, reason: 'Timeout' },
};

it.each<{ name: string; create: () => KubeObject | Promise<KubeObject>; want: object; rejects: boolean }>([
  { name: 'a synchronous response', create: () => object, want: object, rejects: false },
  { name: 'a response in time', create: async () => object, want: object, rejects: false },
  { name: 'a refusal', create: () => Promise.reject(conflict), want: { message: conflict.message }, rejects: true },
  { name: 'no response', create: () => new Promise<never>(() => {}), want: late, rejects: true },
])('guardActions: $name of a virtual resource and of an action', async ({ create, want, rejects }) => {
  const group: ContributedGroupOptions = {
    name: 'Shop',
    group: 'w.example.com',
    resources: [
      { kind: 'Order', resource: 'orders', versions: [], create },
      {
        kind: 'Item',
        resource: 'items',
        versions: [],
        subresources: { parts: { fields: ['parts'] }, buy: { kind: 'Order', schema: {}, create } },
      },
    ],
  };
  const [orders, items] = guardActions(group, contribution, new PluginFailures({ error() {} } as never, metrics)).resources as [
    ContributedResource,
    ContributedResource,
  ];
  expect(items.subresources?.['parts']).toEqual({ fields: ['parts'] });
  const buy = items.subresources?.['buy'] as ContributedAction;
  for (const answer of [orders.create?.(object, request), buy.create(object, object, request)]) {
    if (rejects) await expect(answer).rejects.toMatchObject(want);
    else expect(await answer).toEqual(want);
  }
});

it.each<{ name: string; read: () => never; want: object }>([
  { name: 'no response', read: () => new Promise<never>(() => {}) as never, want: late },
  { name: 'something else than a list', read: () => ({ items: [] }) as never, want: { status: { code: 500, reason: 'InternalError' } } },
  {
    name: 'objects of another kind',
    read: () => [{ ...object, kind: 'Item' }] as never,
    want: { status: { code: 500, reason: 'InternalError' } },
  },
])('guardActions: $name of a read-only resource', async ({ read, want }) => {
  const group: ContributedGroupOptions = {
    name: 'Shop',
    group: 'w.example.com',
    resources: [{ kind: 'Order', resource: 'orders', versions: [], read }],
  };
  const [orders] = guardActions(group, contribution, new PluginFailures({ error() {} } as never, metrics)).resources;
  await expect((async () => orders?.read?.('', undefined))()).rejects.toMatchObject(want);
});
