import { startTestCluster, type TestCluster } from 'kubenest/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster({
    controllers: ['endpointslice-controller', 'endpoints-controller'],
    objects: [
      { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', labels: { 'topology.kubernetes.io/zone': 'z1' } } },
      { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n2' } },
    ],
  });
});
afterAll(() => cluster[Symbol.asyncDispose]());

const waitFor = <T>(check: () => Promise<T>): Promise<T> => vi.waitFor(check);
const core = '/api/v1/namespaces/default';
const merge = { 'content-type': 'application/merge-patch+json' };
const post = async (path: string, body: object): Promise<void> => {
  const response = await cluster.fetch(path, { body });
  expect(response.status, await response.clone().text()).toBe(201);
};

async function runPod(
  name: string,
  app: string,
  { node = 'n1', ip = '10.1.0.1', ready = true }: { node?: string; ip?: string; ready?: boolean } = {},
): Promise<void> {
  const ports = [{ name: 'web', containerPort: 8080 }];
  await post(`${core}/pods`, {
    metadata: { name, labels: { app } },
    spec: { nodeName: node, containers: [{ name: 'c', image: 'i', ports }] },
  });
  await cluster.fetch(`${core}/pods/${name}/status`, {
    method: 'PATCH',
    headers: merge,
    body: {
      status: {
        phase: 'Running',
        podIP: ip,
        podIPs: [{ ip }],
        conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: '2026-01-01T00:00:00Z' }],
      },
    },
  });
}

interface Slices {
  readonly items: {
    readonly metadata: { labels: object; ownerReferences: object[]; name: string };
    endpoints: object[] | null;
    ports: object[] | null;
  }[];
}
const slicesOf = async (service: string): Promise<Slices['items']> => {
  const path = `/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io/service-name=${service}`;
  return ((await (await cluster.fetch(path)).json()) as Slices).items;
};
const subsetsOf = async (service: string): Promise<unknown> =>
  ((await (await cluster.fetch(`${core}/endpoints/${service}`)).json()) as { subsets?: unknown }).subsets;
const web = (name: string, spec: object = {}): object => ({
  metadata: { name, labels: { tier: 'front' } },
  spec: { selector: { app: name }, ports: [{ name: 'http', port: 80, targetPort: 'web' }], ...spec },
});

it('gives a service without pods one empty slice and empty endpoints', async () => {
  await post(`${core}/services`, web('empty'));
  const [slice] = await waitFor(async () => {
    const slices = await slicesOf('empty');
    expect(slices).toHaveLength(1);
    return slices;
  });
  expect(slice).toMatchObject({
    endpoints: null,
    ports: null,
    metadata: {
      labels: {
        tier: 'front',
        'kubernetes.io/service-name': 'empty',
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      },
      ownerReferences: [{ kind: 'Service', name: 'empty', controller: true, blockOwnerDeletion: true }],
    },
  });
  await waitFor(async () => expect((await cluster.fetch(`${core}/endpoints/empty`)).status).toBe(200));
  expect(await subsetsOf('empty')).toBeUndefined();
});

it('follows pods: ready, not ready, being deleted, gone', async () => {
  await post(`${core}/services`, web('shop'));
  await runPod('shop-a', 'shop', { ip: '10.1.0.2' });
  await runPod('shop-b', 'shop', { ip: '10.1.0.3', node: 'n2', ready: false });
  const targetRef = (name: string): object => ({ kind: 'Pod', namespace: 'default', name, uid: expect.any(String) });
  const a = {
    addresses: ['10.1.0.2'],
    conditions: { ready: true, serving: true, terminating: false },
    nodeName: 'n1',
    zone: 'z1',
    targetRef: targetRef('shop-a'),
  };
  const b = {
    addresses: ['10.1.0.3'],
    conditions: { ready: false, serving: false, terminating: false },
    nodeName: 'n2',
    targetRef: targetRef('shop-b'),
  };
  await waitFor(async () => expect((await slicesOf('shop'))[0]?.endpoints).toEqual([a, b]));
  expect((await slicesOf('shop'))[0]?.ports).toEqual([{ name: 'http', port: 8080, protocol: 'TCP' }]);
  await waitFor(async () =>
    expect(await subsetsOf('shop')).toEqual([
      {
        addresses: [{ ip: '10.1.0.2', nodeName: 'n1', targetRef: targetRef('shop-a') }],
        notReadyAddresses: [{ ip: '10.1.0.3', nodeName: 'n2', targetRef: targetRef('shop-b') }],
        ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      },
    ]),
  );
  const [before] = await slicesOf('shop');
  await cluster.fetch(`${core}/pods/shop-a`, { method: 'DELETE' });
  await waitFor(async () =>
    expect((await slicesOf('shop'))[0]?.endpoints).toEqual([{ ...a, conditions: { ready: false, serving: true, terminating: true } }, b]),
  );
  await cluster.fetch(`${core}/pods/shop-a?gracePeriodSeconds=0`, { method: 'DELETE' });
  await cluster.fetch(`${core}/pods/shop-b?gracePeriodSeconds=0`, { method: 'DELETE' });
  await waitFor(async () => {
    const [slice] = await slicesOf('shop');
    expect(slice).toMatchObject({ endpoints: null, metadata: { name: before?.metadata.name } });
  });
  await cluster.fetch(`${core}/services/shop`, { method: 'DELETE' });
  await waitFor(async () => expect((await cluster.fetch(`${core}/endpoints/shop`)).status).toBe(404));
});

it('adds zone and node hints for a traffic distribution', async () => {
  await post(`${core}/services`, web('near', { trafficDistribution: 'PreferSameNode' }));
  await runPod('near-a', 'near', { ip: '10.1.0.9' });
  await waitFor(async () =>
    expect((await slicesOf('near'))[0]?.endpoints).toMatchObject([{ hints: { forZones: [{ name: 'z1' }], forNodes: [{ name: 'n1' }] } }]),
  );
});

it('splits more than a hundred endpoints into slices', async () => {
  await post(`${core}/services`, web('large'));
  for (let i = 0; i < 120; i++) await runPod(`large-${i}`, 'large', { ip: `10.2.0.${i + 1}` });
  await waitFor(async () => {
    const sizes = (await slicesOf('large')).map(({ endpoints }) => endpoints?.length ?? 0);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(120);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(100);
  });
});

it('leaves services without a selector and external names alone', async () => {
  await post(`${core}/services`, { metadata: { name: 'manual' }, spec: { ports: [{ port: 80 }] } });
  await post(`${core}/services`, { metadata: { name: 'external' }, spec: { type: 'ExternalName', externalName: 'example.com' } });
  await post(`${core}/services`, web('later'));
  await waitFor(async () => expect(await slicesOf('later')).toHaveLength(1));
  expect([...(await slicesOf('manual')), ...(await slicesOf('external'))]).toEqual([]);
});
