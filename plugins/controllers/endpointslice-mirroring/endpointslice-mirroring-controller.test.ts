import { startTestCluster } from 'kubenest/testing';
import type { Endpoints } from 'kubenest/types/core_v1';
import type { EndpointSlice } from 'kubenest/types/discovery_v1';
import { expect, it, vi } from 'vitest';
import { Workloads } from '../common/testing/workload-cluster.ts';
import { maxEndpoints, planMirror } from './mirrored-slices.ts';

const slices = 'discovery.k8s.io/v1/endpointslices';
const ports = [{ name: 'http', port: 80, protocol: 'TCP' }];

it('Endpoints of a service without a selector are mirrored, by type of address', async () => {
  await using cluster = await startTestCluster({ controllers: ['endpointslice-mirroring-controller'] });
  const workloads = new Workloads(cluster);
  const mirrored = (): Promise<EndpointSlice[]> => workloads.list<EndpointSlice>(slices, 'kubernetes.io/service-name=db');
  await workloads.create('services', { metadata: { name: 'db' }, spec: { ports: [{ name: 'http', port: 80 }] } });
  await workloads.create('endpoints', {
    metadata: { name: 'db', labels: { a: 'b' } },
    subsets: [{ addresses: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }], notReadyAddresses: [{ ip: '10.0.0.2' }], ports }],
  });
  await vi.waitFor(async () => expect(await mirrored()).toHaveLength(2));
  const shown = (await mirrored()).sort((x, y) => ((x.addressType ?? '') < (y.addressType ?? '') ? -1 : 1));
  expect(shown.map(({ addressType, endpoints }) => [addressType, endpoints])).toEqual([
    [
      'IPv4',
      [
        { addresses: ['10.0.0.1'], conditions: { ready: true } },
        { addresses: ['10.0.0.2'], conditions: { ready: false } },
      ],
    ],
    ['IPv6', [{ addresses: ['fd00::1'], conditions: { ready: true } }]],
  ]);
  expect(shown[0]).toMatchObject({
    metadata: {
      labels: { a: 'b', 'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io' },
      ownerReferences: [{ kind: 'Endpoints', name: 'db', controller: true }],
    },
    ports,
  });
  await workloads.patch('endpoints', 'db', { subsets: [{ addresses: [{ ip: '10.0.0.3' }], ports }] });
  await vi.waitFor(async () => {
    const [only, ...others] = await mirrored();
    expect([only?.metadata.name, only?.endpoints?.map(({ addresses }) => addresses), others]).toEqual([
      shown[0]?.metadata.name,
      [['10.0.0.3']],
      [],
    ]);
  });
  await workloads.patch('services', 'db', { spec: { selector: { app: 'db' } } });
  await vi.waitFor(async () => expect(await mirrored()).toEqual([]));
}, 30_000);

it('addresses beyond the limit and invalid ones are skipped', () => {
  const addresses = Array.from({ length: maxEndpoints + 2 }, (_, at) => ({ ip: `10.0.${at >> 8}.${at & 255}` }));
  const endpoints: Endpoints = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'db', namespace: 'ns' },
    subsets: [{ addresses: [{ ip: 'x' }, ...addresses], ports }],
  };
  const plan = planMirror(endpoints, []);
  expect([plan.invalidAddresses, plan.surplusAddresses, plan.create[0]?.endpoints?.length]).toEqual([1, 2, maxEndpoints]);
});
