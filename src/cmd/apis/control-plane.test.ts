import { newDefinition } from '#apiextensions-apiserver/testing/new-definition';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { formatMicroTime } from '#apimachinery/runtime/time';
import { Installer } from '#apiserver/endpoints/installer';
import { ensureFlowControl, flowSchemas } from '#kubernetes/controlplane/flow-control';
import { KubernetesService, kubernetesEndpoints } from '#kubernetes/controlplane/kubernetes-service';
import { ElectionController } from '#kubernetes/controlplane/leader-election/election-controller';
import { LeaderElector } from '#kubernetes/controlplane/leader-election/leader-elector';
import { CountedAddresses, LeasedAddresses, type ServerAddresses } from '#kubernetes/controlplane/server-addresses';
import { LoopbackClient, type LoopbackTarget } from '#apiserver/server/loopback-client';
import { ClusterIPAllocator, ipAddresses, newIPAddress, serviceCIDRs } from '#kubernetes/controlplane/services/cluster-ip-allocator';
import { NodePortAllocator } from '#kubernetes/controlplane/services/node-port-allocator';
import { ServiceRepair } from '#kubernetes/controlplane/services/service-repair';
import type { Lease } from '#kubernetes/schema/coordination_v1.gen';
import { startTestCluster, type TestCluster } from '#testing/start-test-cluster';

interface Service {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly spec: {
    readonly type: string;
    readonly clusterIP?: string;
    readonly clusterIPs?: readonly string[];
    readonly ipFamilies?: readonly string[];
    readonly ports?: readonly { readonly nodePort?: number }[];
    readonly healthCheckNodePort?: number;
    readonly internalTrafficPolicy?: string;
  };
  readonly message?: string;
}

const services = '/api/v1/namespaces/default/services';
const addresses = '/apis/networking.k8s.io/v1/ipaddresses';
const service = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { ports: [{ port: 80 }], ...spec },
});
const merge = { 'content-type': 'application/merge-patch+json' };

async function ask<T = Service>(
  cluster: TestCluster,
  path: string,
  init?: Parameters<TestCluster['fetch']>[1],
): Promise<T & { readonly code: number }> {
  const response = await cluster.fetch(path, init);
  return { ...((await response.json()) as T), code: response.status };
}
const create = (cluster: TestCluster, name: string, spec?: object, query = '') =>
  ask(cluster, services + query, { body: service(name, spec) });
const patch = (cluster: TestCluster, name: string, spec: object, path = '') =>
  ask(cluster, `${services}/${name}${path}`, { method: 'PATCH', headers: merge, body: { spec } });
const remove = (cluster: TestCluster, name: string) => ask(cluster, `${services}/${name}`, { method: 'DELETE' });

async function created(cluster: TestCluster, path: string, body: object): Promise<void> {
  expect(await ask<object>(cluster, path, { body })).toMatchObject({ code: 201 });
}

async function names(cluster: TestCluster, path: string): Promise<string[]> {
  const { items } = await ask<{ items: { metadata: { name: string } }[] }>(cluster, path);
  return items.map(({ metadata }) => metadata.name);
}

describe('services', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    // The ranges have six IPv4 addresses, one of which belongs to the kubernetes service, and five node ports.
    cluster = await startTestCluster({
      config: { serviceClusterIpRange: '10.0.0.0/29,fd00::/112', controlPlane: { serviceNodePortRange: { base: 30_000, size: 5 } } },
    });
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  test('allocates an address with the service and releases it with the service', async () => {
    const { spec } = await create(cluster, 'a');
    expect(await ask(cluster, `${addresses}/${spec.clusterIP}`)).toMatchObject({
      metadata: { labels: { 'ipaddress.kubernetes.io/ip-family': 'IPv4', 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' } },
      spec: { parentRef: { resource: 'services', namespace: 'default', name: 'a' } },
    });
    await remove(cluster, 'a');
    expect(await names(cluster, addresses)).toEqual(['10.0.0.1']);
  });

  test('gives concurrent services different addresses until the range is full', async () => {
    const all = await Promise.all(Array.from({ length: 7 }, (_, at) => create(cluster, `many-${at}`)));
    const given = all.filter(({ code }) => code === 201);
    expect(new Set(given.map(({ spec }) => spec.clusterIP)).size).toBe(5);
    expect(all.filter(({ code }) => code !== 201).map(({ code, message }) => [code, message?.replace(/many-\d/, 'NAME')])).toEqual(
      Array(2).fill([500, 'Internal error occurred: failed to allocate a serviceIP for Service "NAME": range is full']),
    );
    for (const { metadata } of given) await remove(cluster, metadata.name);
    expect(await names(cluster, addresses)).toEqual(['10.0.0.1']);
  });

  test.each([
    { name: 'allocated', clusterIP: '10.0.0.1', want: 'failed to allocate IP 10.0.0.1: provided IP is already allocated' },
    {
      name: 'outside the range',
      clusterIP: '10.0.1.1',
      want: 'failed to allocate IP 10.0.1.1: the provided network does not match the current range',
    },
    {
      name: 'the broadcast address',
      clusterIP: '10.0.0.7',
      want: 'failed to allocate IP 10.0.0.7: the provided network does not match the current range',
    },
  ])('rejects an address: $name', async ({ clusterIP, want }) => {
    const { code, message } = await create(cluster, 'refused', { clusterIP });
    expect([code, message]).toEqual([422, `Service "refused" is invalid: spec.clusterIPs: Invalid value: ["${clusterIP}"]: ${want}`]);
  });

  test('releases addresses and ports if a create fails later', async () => {
    await create(cluster, 'twice');
    const before = await names(cluster, addresses);
    expect(
      (await create(cluster, 'twice', { type: 'NodePort', ipFamilyPolicy: 'RequireDualStack', ports: [{ port: 80, nodePort: 30_004 }] }))
        .code,
    ).toBe(409);
    expect(await names(cluster, addresses)).toEqual(before);
    expect((await create(cluster, 'other', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_004 }] })).code).toBe(201);
    await remove(cluster, 'twice');
    await remove(cluster, 'other');
  });

  test('allocates nothing for a dry run', async () => {
    const before = await names(cluster, addresses);
    expect((await create(cluster, 'dry', { type: 'NodePort' }, '?dryRun=All')).spec).toMatchObject({
      clusterIP: '10.0.0.0',
      ports: [{ nodePort: 32_769 }],
    });
    expect(await names(cluster, addresses)).toEqual(before);
  });

  test('adds and removes a second address family', async () => {
    await create(cluster, 'two');
    const both = await patch(cluster, 'two', { ipFamilyPolicy: 'RequireDualStack' });
    expect(both.spec.ipFamilies).toEqual(['IPv4', 'IPv6']);
    expect(await names(cluster, addresses)).toContain(both.spec.clusterIPs?.[1]);
    const one = await patch(cluster, 'two', { ipFamilyPolicy: 'SingleStack' });
    expect([one.spec.clusterIPs, one.spec.ipFamilies]).toEqual([[both.spec.clusterIP], ['IPv4']]);
    expect(await names(cluster, addresses)).not.toContain(both.spec.clusterIPs?.[1]);
    await remove(cluster, 'two');
  });

  test('follows changes of the service type', async () => {
    const ports = async (): Promise<number[]> => {
      const record = await cluster.app.storage.storage.get('/ranges/servicenodeports');
      const { data } = JSON.parse(String(record?.value)) as { data: string };
      const bits = Buffer.from(data, 'base64')[0] ?? 0;
      return [0, 1, 2, 3, 4].filter((bit) => bits & (1 << bit)).map((bit) => 30_000 + bit);
    };
    await create(cluster, 's');
    const balanced = await patch(cluster, 's', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' });
    const [nodePort, health] = [balanced.spec.ports?.[0]?.nodePort, balanced.spec.healthCheckNodePort];
    expect(await ports()).toEqual([nodePort, health].sort());
    expect((await patch(cluster, 's', { externalTrafficPolicy: 'Cluster' })).spec.healthCheckNodePort).toBeUndefined();
    expect(await ports()).toEqual([nodePort]);
    const named = await patch(cluster, 's', { type: 'ExternalName', externalName: 'x.test' });
    expect(named.spec).toMatchObject({ type: 'ExternalName', ports: [{ port: 80 }] });
    expect([named.spec.clusterIP, named.spec.clusterIPs, named.spec.internalTrafficPolicy]).toEqual([undefined, undefined, undefined]);
    expect([await ports(), await names(cluster, addresses)]).toEqual([[], ['10.0.0.1']]);
    expect((await patch(cluster, 's', { type: 'ClusterIP', externalName: null })).spec.clusterIP).toMatch(/^10\.0\.0\.[2-6]$/);
    await remove(cluster, 's');
  });

  test('handles the last node port, an allocated one and one outside the range', async () => {
    const full = await create(cluster, 'full', { type: 'NodePort', ports: [1, 2, 3, 4, 5].map((port) => ({ name: `p${port}`, port })) });
    expect(new Set(full.spec.ports?.map((port) => port.nodePort))).toEqual(new Set([30_000, 30_001, 30_002, 30_003, 30_004]));
    expect((await create(cluster, 'none', { type: 'NodePort' })).message).toBe(
      'Internal error occurred: failed to allocate a nodePort: range is full',
    );
    expect((await create(cluster, 'none', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_001 }] })).message).toBe(
      'Service "none" is invalid: spec.ports[0].nodePort: Invalid value: 30001: provided port is already allocated',
    );
    expect((await create(cluster, 'none', { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] })).message).toBe(
      'Service "none" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-30004',
    );
    await remove(cluster, 'full');
    expect(await names(cluster, addresses)).toEqual(['10.0.0.1']);
  });

  test('allocates no ports for a write of the status', async () => {
    await create(cluster, 'status');
    expect((await patch(cluster, 'status', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_002 }] }, '/status')).spec.type).toBe(
      'ClusterIP',
    );
    expect((await create(cluster, 'port', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_002 }] })).code).toBe(201);
    await remove(cluster, 'status');
    await remove(cluster, 'port');
  });

  test('deletes the endpoints with the service', async () => {
    await create(cluster, 'with-endpoints', { clusterIP: 'None' });
    await created(cluster, '/api/v1/namespaces/default/endpoints', {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'with-endpoints', namespace: 'default' },
    });
    await remove(cluster, 'with-endpoints');
    expect(await names(cluster, '/api/v1/namespaces/default/endpoints')).toEqual([]);
  });

  test('allocates from another ServiceCIDR when the first is full', async () => {
    await created(cluster, '/apis/networking.k8s.io/v1/servicecidrs', {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'ServiceCIDR',
      metadata: { name: 'more' },
      spec: { cidrs: ['10.9.0.0/30'] },
    });
    const all = await Promise.all(Array.from({ length: 7 }, (_, at) => create(cluster, `more-${at}`)));
    expect(
      all
        .map(({ spec }) => spec.clusterIP)
        .sort()
        .slice(-2),
    ).toEqual(['10.9.0.1', '10.9.0.2']);
    for (const { metadata } of all) await remove(cluster, metadata.name);
  });
});

/** A separate client of the cluster's stores, like another server on the same storage. */
function loopback(cluster: TestCluster): LoopbackClient {
  const installer = cluster.app.nest.get(Installer);
  return new LoopbackClient(({ group, version, resource, subresource }) => {
    const found = cluster.app.scheme.groups.find((one) => one.group === group);
    const endpoint =
      found &&
      installer
        .install(found)
        .get(`${group}/${version}`)
        ?.get(subresource ? `${resource}/${subresource}` : resource);
    if (!endpoint) throw new Error(`no ${resource}`);
    return endpoint.endpoint;
  });
}

describe('repair', () => {
  const nodePortRange = { base: 30_000, size: 2_768 };

  async function repairOf(
    cluster: TestCluster,
  ): Promise<{ repair: ServiceRepair; client: LoopbackClient; nodePorts: NodePortAllocator; warnings: string[]; clock: { now: number } }> {
    const client = loopback(cluster);
    const nodePorts = new NodePortAllocator(cluster.app.storage.storage, nodePortRange);
    const warnings: string[] = [];
    const clock = { now: Date.now() };
    const repair = new ServiceRepair({
      client,
      clusterIPs: new ClusterIPAllocator(client),
      nodePorts,
      warn: (message) => warnings.push(message),
      now: () => clock.now,
    });
    return { repair, client, nodePorts, warnings, clock };
  }

  test('allocates the address of a service again if the allocation is missing', async () => {
    await using cluster = await startTestCluster();
    const { spec } = await create(cluster, 'a');
    const { repair, client, warnings } = await repairOf(cluster);
    await client.delete(ipAddresses, '', spec.clusterIP ?? '');
    await repair.run();
    expect(await ask(cluster, `${addresses}/${spec.clusterIP}`)).toMatchObject({ spec: { parentRef: { name: 'a' } } });
    await client.delete(ipAddresses, '', spec.clusterIP ?? '');
    await client.create(ipAddresses, newIPAddress('IPv4', spec.clusterIP ?? '', { namespace: 'default', name: 'gone' }));
    await repair.run();
    expect(await ask(cluster, `${addresses}/${spec.clusterIP}`)).toMatchObject({ spec: { parentRef: { name: 'a' } } });
    expect(warnings).toEqual(Array(2).fill(`the cluster IP ${spec.clusterIP} of service default/a is not allocated to it; repairing`));
  });

  test('releases an address without a service after a minute and keeps all others', async () => {
    await using cluster = await startTestCluster();
    const { repair, client, clock } = await repairOf(cluster);
    await client.create(ipAddresses, newIPAddress('IPv4', '10.0.0.9', { namespace: 'default', name: 'on-its-way' }));
    await client.create(ipAddresses, {
      ...newIPAddress('IPv4', '10.0.0.10', { namespace: 'default', name: 'none' }),
      metadata: { name: '10.0.0.10' },
    });
    await repair.run();
    expect(await names(cluster, addresses)).toEqual(['10.0.0.1', '10.0.0.10', '10.0.0.9']);
    clock.now += 62_000;
    await repair.run();
    expect(await names(cluster, addresses)).toEqual(['10.0.0.1', '10.0.0.10']);
  });

  test('reports a service outside all ServiceCIDRs', async () => {
    await using cluster = await startTestCluster();
    const { spec } = await create(cluster, 'a');
    const { repair, client, warnings } = await repairOf(cluster);
    await client.delete(serviceCIDRs, '', 'kubernetes');
    await repair.run();
    expect(warnings).toContain(`the cluster IP ${spec.clusterIP} of service default/a is not within any service CIDR; please recreate it`);
  });

  test('releases a node port without a service after three more checks', async () => {
    await using cluster = await startTestCluster();
    await create(cluster, 'a', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_010 }] });
    const { repair, nodePorts } = await repairOf(cluster);
    await nodePorts.allocate(30_011);
    for (let look = 1; look <= 4; look += 1) {
      expect([...(await nodePorts.snapshot())]).toEqual([30_010, 30_011]);
      await repair.run();
    }
    expect([...(await nodePorts.snapshot())]).toEqual([30_010]);
  });
});

describe('the endpoints of the kubernetes service', () => {
  const server = (cluster: TestCluster, address: string, servers: ServerAddresses): KubernetesService =>
    new KubernetesService({ client: loopback(cluster), servers, clusterIP: '10.0.0.1', port: 6443, nodePort: 0, address });

  const addressesIn = async (cluster: TestCluster): Promise<unknown[]> => {
    const endpoints = await ask<{ subsets?: { addresses: { ip: string }[] }[] }>(
      cluster,
      '/api/v1/namespaces/default/endpoints/kubernetes',
    );
    const slice = await ask<{ endpoints: { addresses: string[] }[] | null }>(
      cluster,
      '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes',
    );
    return [
      endpoints.subsets?.flatMap((subset) => subset.addresses.map(({ ip }) => ip)),
      slice.endpoints?.flatMap((endpoint) => endpoint.addresses),
    ];
  };

  test('are limited to the configured number of servers', async () => {
    await using cluster = await startTestCluster();
    const counted = new CountedAddresses(loopback(cluster), kubernetesEndpoints, 2);
    const [first, second, third] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((ip) => server(cluster, ip, counted));
    await first?.reconcileEndpoints();
    await third?.reconcileEndpoints();
    expect(await addressesIn(cluster)).toEqual([
      ['192.0.2.1', '192.0.2.3'],
      ['192.0.2.1', '192.0.2.3'],
    ]);
    // The endpoints exceed the limit by one, so the address after it is removed.
    await second?.reconcileEndpoints();
    expect((await addressesIn(cluster))[0]).toEqual(['192.0.2.1', '192.0.2.2']);
    await third?.reconcileEndpoints();
    expect((await addressesIn(cluster))[0]).toEqual(['192.0.2.2', '192.0.2.3']);
    await second?.stop();
    expect((await addressesIn(cluster))[0]).toEqual(['192.0.2.3']);
  });

  test('are the servers with a lease', async () => {
    await using cluster = await startTestCluster();
    const leased = new LeasedAddresses(cluster.app.storage.storage);
    const ips = (): Promise<unknown[]> => addressesIn(cluster);
    const [first, second] = [server(cluster, '192.0.2.2', leased), server(cluster, '192.0.2.1', leased)];
    await first.reconcileEndpoints();
    expect(await ips()).toEqual([['192.0.2.2'], ['192.0.2.2']]);
    await second.reconcileEndpoints();
    expect(await ips()).toEqual([
      ['192.0.2.1', '192.0.2.2'],
      ['192.0.2.1', '192.0.2.2'],
    ]);
    const before = await cluster.app.storage.storage.currentRevision();
    await first.reconcileEndpoints();
    expect(await cluster.app.storage.storage.currentRevision()).toBe(before + 1);
    await first.stop();
    await first.reconcileEndpoints();
    expect(await ips()).toEqual([['192.0.2.1'], ['192.0.2.1']]);
    await second.stop();
    // The stored form of an empty list of endpoints is null, as after upstream's protobuf.
    expect(await ips()).toEqual([undefined, undefined]);
  });
});

describe('flow control', () => {
  test.each([
    { name: 'probes', annotation: 'true', want: 2, why: 'the server restores it' },
    { name: 'probes', annotation: 'false', want: 7, why: 'the server keeps the change' },
  ])('$name with autoupdate $annotation: $why', async ({ name, annotation, want }) => {
    await using cluster = await startTestCluster();
    const client = loopback(cluster);
    await client.update(flowSchemas, '', name, (schema) => ({
      ...schema,
      metadata: { ...schema.metadata, annotations: { 'apf.kubernetes.io/autoupdate-spec': annotation } },
      spec: { ...(schema['spec'] as object), matchingPrecedence: 7 },
    }));
    await ensureFlowControl(client);
    expect(client.peek(flowSchemas, '', name)).toMatchObject({ spec: { matchingPrecedence: want } });
  });

  test('protects the configuration that the server requires', async () => {
    await using cluster = await startTestCluster();
    const change = loopback(cluster).update(flowSchemas, '', 'catch-all', (schema) => ({
      ...schema,
      spec: { ...(schema['spec'] as object), matchingPrecedence: 7 },
    }));
    await expect(change).rejects.toThrow(/spec of 'catch-all' must equal the fixed value/);
  });
});

describe('bootstrap', () => {
  test('creates the bootstrap objects of a new server', async () => {
    await using cluster = await startTestCluster({ listen: true });
    expect(await names(cluster, '/api/v1/namespaces')).toEqual(['default', 'kube-node-lease', 'kube-public', 'kube-system']);
    expect(await names(cluster, '/api/v1/configmaps')).toEqual([
      'extension-apiserver-authentication',
      'kube-apiserver-legacy-service-account-token-tracking',
    ]);
    expect(await names(cluster, '/apis/apiregistration.k8s.io/v1/apiservices')).toHaveLength(21);
    expect(await ask(cluster, '/apis/apiregistration.k8s.io/v1/apiservices/v1.apps')).toMatchObject({
      metadata: { labels: { 'kube-aggregator.kubernetes.io/automanaged': 'onstart' } },
      spec: { group: 'apps', version: 'v1', groupPriorityMinimum: 17_800, versionPriority: 15 },
      status: { conditions: [{ type: 'Available', status: 'True', reason: 'Local' }] },
    });
    expect(await ask(cluster, '/apis/networking.k8s.io/v1/servicecidrs/kubernetes')).toMatchObject({
      spec: { cidrs: ['10.0.0.0/24'] },
      status: { conditions: [{ type: 'Ready', status: 'True', message: 'Kubernetes default Service CIDR is ready' }] },
    });
    expect(await ask(cluster, '/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical')).toMatchObject({
      description: 'Used for system critical pods that must not be moved from their current node.',
    });
    expect(await ask(cluster, '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/probes')).toMatchObject({
      metadata: {
        managedFields: [
          { manager: 'api-priority-and-fairness-config-consumer-v1', operation: 'Apply' },
          { manager: 'api-priority-and-fairness-config-producer-v1', operation: 'Update' },
        ],
      },
      status: { conditions: [{ type: 'Dangling', status: 'False', reason: 'Found' }] },
    });
    const port = Number(new URL(cluster.url ?? '').port);
    expect(await ask(cluster, `${services}/kubernetes`)).toMatchObject({
      spec: { clusterIP: '10.0.0.1', ports: [{ name: 'https', port: 443, targetPort: port }] },
    });
  });

  test('keeps the kubernetes service unchanged after a restart', async () => {
    const { mkdtemp, rm } = await import('node:fs/promises');
    const { tmpdir } = await import('node:os');
    const { join } = await import('node:path');
    const folder = await mkdtemp(join(tmpdir(), 'kubenest-'));
    const versions = async (): Promise<string[]> => {
      await using cluster = await startTestCluster({ storage: { file: join(folder, 'store.db') } });
      const lists = [
        '/api/v1/namespaces',
        services,
        addresses,
        '/api/v1/configmaps',
        '/apis/apiregistration.k8s.io/v1/apiservices',
        '/apis/networking.k8s.io/v1/servicecidrs',
        '/apis/rbac.authorization.k8s.io/v1/clusterroles',
        '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas',
        '/apis/scheduling.k8s.io/v1/priorityclasses',
      ];
      const items = await Promise.all(lists.map(async (path) => (await ask<{ items: Service[] }>(cluster, path)).items));
      return items.flat().map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`);
    };
    try {
      const first = await versions();
      expect(await versions()).toEqual(first);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('creates and deletes the APIServices of custom resources with them', async () => {
    await using cluster = await startTestCluster();
    const path = '/apis/apiregistration.k8s.io/v1/apiservices';
    await created(cluster, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', newDefinition({ kind: 'Thing' }));
    await expect.poll(() => names(cluster, path)).toContain('v1.example.com');
    expect(await ask(cluster, `${path}/v1.example.com`)).toMatchObject({
      metadata: { labels: { 'kube-aggregator.kubernetes.io/automanaged': 'true' } },
      spec: { groupPriorityMinimum: 1000, versionPriority: 100 },
    });
    await ask(cluster, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com', { method: 'DELETE' });
    await expect.poll(() => names(cluster, path)).not.toContain('v1.example.com');
  });

  test('reports a flow schema without its priority level as dangling', async () => {
    await using cluster = await startTestCluster();
    await created(cluster, '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas', {
      apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
      kind: 'FlowSchema',
      metadata: { name: 'lost' },
      spec: { matchingPrecedence: 5_000, priorityLevelConfiguration: { name: 'nowhere' } },
    });
    const condition = async () =>
      (
        await ask<{ status?: { conditions?: { status: string; reason: string; message: string }[] } }>(
          cluster,
          '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/lost',
        )
      ).status?.conditions?.[0];
    await expect.poll(condition).toMatchObject({
      status: 'True',
      reason: 'NotFound',
      message: 'This FlowSchema references the PriorityLevelConfiguration object named "nowhere" but there is no such object',
    });
  });
});

test('elects one leader among servers that share a store, and another one after it has ended', { timeout: 30_000 }, async () => {
  await using cluster = await startTestCluster();
  const client = loopback(cluster);
  const leading: string[] = [];
  const errors: unknown[] = [];
  const lock = { namespace: 'kube-system', name: 'lead' };
  const leases: LoopbackTarget = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };
  const start = (identity: string, client: LoopbackClient) => {
    const end = new AbortController();
    const timers = { leaseMs: 2_000, renewMs: 1_000, retryMs: 50 };
    const elector = new LeaderElector({ client, ...lock, identity, timers, onError: (error) => errors.push(error) });
    const over = elector.run(end.signal, () => void leading.push(identity));
    return async (): Promise<void> => {
      end.abort();
      await over;
    };
  };
  const endFirst = start('first', client);
  await expect.poll(() => leading).toEqual(['first']);
  const other = loopback(cluster);
  const attempts = vi.spyOn(other, 'get');
  const endSecond = start('second', other);
  await expect.poll(() => attempts.mock.calls.length, { timeout: 10_000 }).toBeGreaterThan(5);
  expect(leading).toEqual(['first']);
  await endFirst();
  await expect.poll(() => leading, { timeout: 5_000 }).toEqual(['first', 'second']);
  await endSecond();
  const lease = (await client.get(leases, lock.namespace, lock.name)) as Lease;
  expect([lease.spec?.holderIdentity ?? '', lease.spec?.leaseTransitions, errors]).toEqual(['', 1, []]);
});

test('deletes candidates for a lease after half an hour without renewal', async () => {
  await using cluster = await startTestCluster({ flags: ['--runtime-config=coordination.k8s.io/v1beta1=true'] });
  const client = loopback(cluster);
  const path = '/apis/coordination.k8s.io/v1beta1/namespaces/default/leasecandidates';
  const spec = { leaseName: 'l', strategy: 'OldestEmulationVersion', emulationVersion: '1.36.0', binaryVersion: '1.36.0' };
  const now = Date.now();
  for (const [name, minutes] of [
    ['silent', 31],
    ['there', 29],
  ] as const) {
    const body = { metadata: { name }, spec: { ...spec, renewTime: formatMicroTime(now - minutes * 60_000) } };
    expect((await cluster.fetch(path, { body })).status).toBe(201);
  }
  const errors: unknown[] = [];
  await new ElectionController(
    client,
    (error) => errors.push(error),
    () => now,
  ).collectExpired();
  const { items } = (await (await cluster.fetch(path)).json()) as { items: { metadata: { name: string } }[] };
  expect([items.map(({ metadata }) => metadata.name), errors]).toEqual([['there'], []]);
});
