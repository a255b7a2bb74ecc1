import { startTestCluster } from 'kubenest/testing';
import type { Service } from 'kubenest/types/core_v1';
import { expect, it, vi } from 'vitest';
import { Workloads } from '../../controllers/common/testing/workload-cluster.ts';
import { AddressRange } from './address-range.ts';
import { SimulatedLoadBalancer } from './simulated-load-balancer.ts';

it('an address range gives free addresses', () => {
  const range = new AddressRange([10, 0, 0, 0], 30);
  expect(range.free(new Set())).toBe('10.0.0.1');
  expect(range.free(new Set(['10.0.0.1']))).toBe('10.0.0.2');
  expect(range.free(new Set(['10.0.0.1', '10.0.0.2']))).toBeUndefined();
  expect(range.free(new Set(), '1.2.3.4')).toBe('1.2.3.4');
  expect(range.free(new Set(['1.2.3.4']), '1.2.3.4')).toBeUndefined();
});

it('services of type LoadBalancer get an address, and lose it with their type', async () => {
  await using cluster = await startTestCluster({ plugins: [SimulatedLoadBalancer] });
  const workloads = new Workloads(cluster);
  const create = (name: string, spec: object): Promise<unknown> =>
    workloads.create('services', { metadata: { name }, spec: { type: 'LoadBalancer', ports: [{ port: 80 }], ...spec } });
  const addressOf = async (name: string): Promise<string | undefined> =>
    (await workloads.get<Service>('services', name)).status?.loadBalancer?.ingress?.[0]?.ip;
  await create('a', {});
  await vi.waitFor(async () => expect(await addressOf('a')).toBe('198.18.0.1'));
  await create('other', { loadBalancerClass: 'example.com/lb' });
  await create('b', {});
  await vi.waitFor(async () => expect(await addressOf('b')).toBe('198.18.0.2'));
  expect(await addressOf('other')).toBeUndefined();
  await vi.waitFor(async () =>
    expect(await workloads.events('a')).toEqual([
      'Normal EnsuringLoadBalancer: Ensuring load balancer',
      'Normal EnsuredLoadBalancer: Ensured load balancer',
    ]),
  );
  await workloads.patch('services', 'a', { spec: { type: 'ClusterIP' } });
  await vi.waitFor(async () => {
    const { metadata, status } = await workloads.get<Service>('services', 'a');
    expect([metadata.finalizers, status?.loadBalancer]).toEqual([undefined, {}]);
  });
  await workloads.remove('services', 'b');
  await vi.waitFor(async () => expect((await cluster.fetch(workloads.path('services', 'b'))).status).toBe(404));
}, 30_000);
