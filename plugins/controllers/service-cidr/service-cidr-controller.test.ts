import type { KubeObject } from 'kubenest/sdk';
import { reconcileTable } from 'kubenest/sdk/testing';
import { startTestCluster } from 'kubenest/testing';
import type { ServiceCIDR } from 'kubenest/types/networking_v1';
import { expect, it, vi } from 'vitest';
import { parseCIDRSloppy, parseIPSloppy } from '#sdk/internal';
import { partialObject } from '../common/testing/partial-object.ts';
import { containsAddress, containsPrefix, overlaps } from './prefixes.ts';
import { ServiceCidrController } from './service-cidr-controller.ts';

const resource = 'servicecidrs.networking.k8s.io';
const finalizers = ['networking.k8s.io/service-cidr-finalizer'];
const ready = [{ type: 'Ready', status: 'True', reason: '', message: 'Kubernetes Service CIDR is ready' }];
const range = (name: string, cidrs: string[], metadata: object = { finalizers }): KubeObject =>
  partialObject({ metadata: { name, ...metadata }, spec: { cidrs }, status: { conditions: ready } });
/** The tests' clock is at 00:16:40. */
const deleted = { finalizers, deletionTimestamp: '1970-01-01T00:16:30Z' };
const address = (name: string, labels: object = { 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' }): KubeObject =>
  partialObject({ metadata: { name, labels } });
const objectsOf = (ranges: KubeObject[], ...addresses: KubeObject[]): Record<string, KubeObject[]> => ({
  [resource]: ranges,
  'ipaddresses.networking.k8s.io': addresses,
});
const release = ['patch servicecidrs.networking.k8s.io r'];
const block = ['apply servicecidrs.networking.k8s.io/status r'];

reconcileTable(ServiceCidrController, [
  {
    name: 'adds the finalizer and the condition',
    objects: objectsOf([partialObject({ metadata: { name: 'r' }, spec: { cidrs: ['10.0.0.0/24'] }, status: {} })]),
    request: 'r',
    writes: [...release, ...block],
    want: { [resource]: { r: { metadata: { finalizers }, status: { conditions: ready } } } },
  },
  { name: 'leaves a ready range alone', objects: objectsOf([range('r', ['10.0.0.0/24'])]), request: 'r' },
  { name: 'releases an unused range', objects: objectsOf([range('r', ['10.0.0.0/24'], deleted)]), request: 'r', writes: release },
  {
    name: 'waits until all servers know of the deletion',
    objects: objectsOf([range('r', ['10.0.0.0/24'], { ...deleted, deletionTimestamp: '1970-01-01T00:16:36Z' })]),
    request: 'r',
    result: { requeueAfterMs: 6_000 },
  },
  {
    name: 'keeps a range with an address',
    objects: objectsOf([range('r', ['10.0.0.0/24'], deleted)], address('10.0.0.7')),
    request: 'r',
    writes: block,
    want: { [resource]: { r: { status: { conditions: [{ status: 'False', reason: 'Terminating' }] } } } },
  },
  {
    name: 'releases a range whose addresses come from others',
    objects: objectsOf([range('r', ['10.0.0.0/24'], deleted)], address('10.0.0.7', {})),
    request: 'r',
    writes: release,
  },
  {
    name: 'releases a range that another one contains',
    objects: objectsOf([range('r', ['10.0.0.0/24'], deleted), range('big', ['10.0.0.0/16'])], address('10.0.0.7')),
    request: 'r',
    writes: release,
  },
  {
    name: 'keeps a range of two families if another one contains only one',
    objects: objectsOf([range('r', ['10.0.0.0/24', 'fd00::/112'], deleted), range('big', ['10.0.0.0/16'])], address('fd00::7')),
    request: 'r',
    writes: block,
  },
  {
    name: 'releases a range whose addresses smaller ones contain',
    objects: objectsOf([range('r', ['10.0.0.0/24'], deleted), range('small', ['10.0.0.0/28'])], address('10.0.0.7')),
    request: 'r',
    writes: release,
  },
  { name: 'ignores a range that is gone', request: 'r' },
]);

const cidr = (text: string) => parseCIDRSloppy(text)!;
it.each([
  ['10.0.0.0/24', '10.0.0.128/25', true, true],
  ['10.0.0.128/25', '10.0.0.0/24', true, false],
  ['10.0.0.0/24', '10.0.1.0/24', false, false],
  ['10.0.0.0/24', '10.0.0.0/24', true, true],
  ['0.0.0.0/0', '::/0', false, false],
])('%s and %s: overlap %s, the first contains the second %s', (a, b, isOverlapping, isContaining) => {
  expect([overlaps(cidr(a), cidr(b)), containsPrefix(cidr(a), cidr(b))]).toEqual([isOverlapping, isContaining]);
});

it.each([
  ['10.0.0.0/24', '10.0.0.0', false],
  ['10.0.0.0/24', '10.0.0.1', true],
  ['10.0.0.0/24', '10.0.0.255', false],
  ['10.0.0.0/16', '10.0.0.255', true],
  ['10.0.0.0/24', '10.0.1.1', false],
  ['fd00::/120', 'fd00::', false],
  ['fd00::/120', 'fd00::ff', true],
  ['fd00::/120', '10.0.0.1', false],
])('%s contains %s: %s', (prefix, ip, expected) => {
  expect(containsAddress(cidr(prefix), parseIPSloppy(ip)!)).toBe(expected);
});

it('keeps a deleted range while a Service has an address of it', async () => {
  await using cluster = await startTestCluster({ controllers: ['service-cidr-controller'] });
  const path = '/apis/networking.k8s.io/v1/servicecidrs';
  const create = async (name: string, prefix: string): Promise<unknown> =>
    (await cluster.fetch(path, { body: { metadata: { name }, spec: { cidrs: [prefix] } } })).json();
  const conditions = async (): Promise<unknown> => {
    const found = (await (await cluster.fetch(`${path}/extra`, {})).json()) as ServiceCIDR;
    return found.status?.conditions?.map(({ status, reason }) => [status, reason]);
  };
  await create('extra', '10.99.0.0/24');
  await vi.waitFor(async () => expect(await conditions()).toEqual([['True', '']]));
  const service = { metadata: { name: 's' }, spec: { clusterIP: '10.99.0.9', ports: [{ port: 80 }] } };
  await vi.waitFor(async () => {
    const { status } = await cluster.fetch('/api/v1/namespaces/default/services', { body: service });
    expect(status).toBe(201);
  });
  await cluster.fetch(`${path}/extra`, { method: 'DELETE' });
  await vi.waitFor(async () => expect(await conditions()).toEqual([['False', 'Terminating']]));
});
