import { once } from 'node:events';
import { createServer as createHttpServer, type Server } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Authority } from '#cmd/certificates/issue';
import { readEgressConfiguration } from '#cmd/config/egress-configuration';
import { startTestCluster, type TestCluster } from '#testing/index';
import { kubeconfigOf, startJsonService } from '../security/services.ts';
import { type EgressProxy, startHttpProxy, startKonnectivity } from '../servers/egress-proxies.ts';
import { etcd, noEtcd, startEtcd } from '../servers/etcd-server.ts';

let folder: string;
let authority: Authority;
const file = (name: string): string => join(folder, name);
let sockets = 0;
const newSocket = (): string => file(`${++sockets}.sock`);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-egress-'));
  authority = await Authority.create('egress');
  const client = await authority.issue({ commonName: 'apiserver', usages: ['client'] });
  await Promise.all([
    writeFile(file('ca.pem'), authority.pair.cert),
    writeFile(file('client.pem'), client.cert),
    writeFile(file('client.key'), client.key),
  ]);
});
afterAll(() => rm(folder, { recursive: true }));

const configurationOf = (selections: readonly object[]): string =>
  JSON.stringify({ apiVersion: 'apiserver.k8s.io/v1beta1', kind: 'EgressSelectorConfiguration', egressSelections: selections });

/** A proxy with the egress connection that uses it. */
interface Way {
  readonly name: string;
  start(): Promise<EgressProxy>;
  connection(address: string): object;
}
const tlsConfig = () => ({ caBundle: file('ca.pem'), clientCert: file('client.pem'), clientKey: file('client.key') });
const ways: readonly Way[] = [
  {
    name: 'HTTPConnect over TCP',
    start: () => startHttpProxy(),
    connection: (address) => ({ proxyProtocol: 'HTTPConnect', transport: { tcp: { url: `http://${address}` } } }),
  },
  {
    name: 'HTTPConnect over TLS',
    start: async () =>
      startHttpProxy({
        pair: await authority.issue({ commonName: 'proxy', names: ['127.0.0.1'], usages: ['server'] }),
        clientCa: authority.pair.cert,
      }),
    connection: (address) => ({ proxyProtocol: 'HTTPConnect', transport: { tcp: { url: `https://${address}`, tlsConfig: tlsConfig() } } }),
  },
  {
    name: 'HTTPConnect over a unix socket',
    start: () => startHttpProxy({ socket: newSocket() }),
    connection: (udsName) => ({ proxyProtocol: 'HTTPConnect', transport: { uds: { udsName } } }),
  },
  {
    name: 'GRPC over a unix socket',
    start: () => startKonnectivity(newSocket()),
    connection: (udsName) => ({ proxyProtocol: 'GRPC', transport: { uds: { udsName } } }),
  },
];

async function startThrough(name: string, connection: object, flags: readonly string[] = []): Promise<TestCluster> {
  await writeFile(file('egress.json'), configurationOf([{ name, connection }]));
  return startTestCluster({ flags: [`--egress-selector-config-file=${file('egress.json')}`, ...flags], users: [{ name: 'jane' }] });
}

/** A local address other than loopback, which proxying forbids. */
const own = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .find(({ family, internal, address }) => family === 'IPv4' && !internal && !address.startsWith('169.254.'))?.address;

/** An echo server that stands for a pod. */
async function startPod(): Promise<{ readonly port: number } & AsyncDisposable> {
  const server: Server = createHttpServer((request, response) => {
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
    });
    request.on('end', () => response.end(`${request.method} ${request.url} ${size} ${'x'.repeat(200_000)}`));
  }).listen(0, own);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function createPod(cluster: TestCluster): Promise<void> {
  const pods = '/api/v1/namespaces/default/pods';
  await cluster.fetch(pods, { body: { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } } });
  await cluster.fetch(`${pods}/p/status`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { status: { podIP: own, podIPs: [{ ip: own }] } },
  });
}

describe.each(ways)('$name', ({ start, connection }) => {
  it('controlplane: calls the authorization webhook through the proxy, and denies requests if that fails', async () => {
    await using webhook = await startJsonService((_, { spec }) => {
      const { user } = spec as { user: string };
      return { body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', status: { allowed: user === 'jane' } } };
    });
    await writeFile(file('webhook.json'), kubeconfigOf(webhook.url));
    await using proxy = await start();
    const flags = ['--authorization-mode=Webhook', `--authorization-webhook-config-file=${file('webhook.json')}`];
    await using cluster = await startThrough('controlplane', connection(proxy.address), [...flags, '--authorization-webhook-version=v1']);
    const list = async (namespace: string) => (await cluster.fetch(`/api/v1/namespaces/${namespace}/secrets`, { as: 'jane' })).status;
    expect(await list('default')).toBe(200);
    expect(proxy.targets).toEqual([new URL(webhook.url).host]);
    proxy.refuses = true;
    // Forces a new connection.
    webhook.closeConnections();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await list('kube-system')).toBe(403);
    const metrics = await (await cluster.fetch('/metrics')).text();
    expect(metrics).toMatch(/apiserver_egress_dialer_dial_failure_count\{protocol="\w+",stage="proxy",transport="\w+"\} [1-9]/);
    expect(metrics).toMatch(/apiserver_egress_dialer_dial_duration_seconds_count\{protocol="\w+",transport="\w+"\} 1/);
  });

  it.skipIf(own === undefined)(
    own ? 'cluster: pods are reached through it, with large bodies both ways' : 'the machine has no address but loopback',
    async () => {
      await using pod = await startPod();
      await using proxy = await start();
      await using cluster = await startThrough('Cluster', connection(proxy.address), ['--disable-admission-plugins=ServiceAccount']);
      await createPod(cluster);
      const path = `/api/v1/namespaces/default/pods/p:${pod.port}/proxy/a`;
      const answer = await cluster.fetch(path, { method: 'POST', body: Buffer.alloc(300_000, 1) });
      expect([answer.status, (await answer.text()).slice(0, 16), proxy.targets]).toEqual([200, 'POST /a 300000 x', [`${own}:${pod.port}`]]);
      proxy.refuses = true;
      const refused = await cluster.fetch(path);
      expect([refused.status, await refused.text()]).toEqual([503, expect.stringMatching(/proxy error from|no agent available/)]);
    },
  );

  it.skipIf(etcd === undefined)(etcd ? 'etcd: the store is reached through it' : noEtcd, async () => {
    await using server = await startEtcd();
    await using proxy = await start();
    await writeFile(file('egress.json'), configurationOf([{ name: 'etcd', connection: connection(proxy.address) }]));
    await using cluster = await startTestCluster({
      storage: { etcdUrl: server.url },
      flags: [`--egress-selector-config-file=${file('egress.json')}`],
    });
    expect((await cluster.fetch('/api/v1/namespaces/default/configmaps', { body: { metadata: { name: 'a' } } })).status).toBe(201);
    expect(new Set(proxy.targets)).toEqual(new Set([new URL(server.url).host]));
  });
});

it('connections with the type Direct, or without a selection, are direct', async () => {
  const routes = await readEgressConfiguration(configurationOf([{ name: 'etcd', connection: { proxyProtocol: 'Direct' } }]));
  expect([...routes]).toEqual([['etcd', { protocol: 'Direct' }]]);
});

const uds = { udsName: '/run/proxy.sock' };
const http = (transport: unknown) => ({ name: 'cluster', connection: { proxyProtocol: 'HTTPConnect', transport } });
it.each([
  {
    selections: [{ name: 'other', connection: { proxyProtocol: 'Direct' } }],
    want: 'service.connection: Unsupported value: "other": supported values: "cluster", "controlplane", "etcd"',
  },
  {
    selections: ['cluster', 'Cluster'].map((name) => ({ name, connection: { proxyProtocol: 'Direct' } })),
    want: 'service.connection[1]: Duplicate value: "cluster"',
  },
  {
    selections: [{ name: 'cluster', connection: { proxyProtocol: 'SOCKS' } }],
    want: 'service.connection.protocol: Unsupported value: "SOCKS": supported values: "Direct", "HTTPConnect", "GRPC"',
  },
  {
    selections: [{ name: 'cluster', connection: { proxyProtocol: 'Direct', transport: { uds } } }],
    want: 'service.connection.transport: Invalid value: "direct": config must be absent for direct connect',
  },
  { selections: [http(undefined)], want: 'service.connection.transport: Required value: transport must be set for HTTPConnect' },
  { selections: [http({})], want: 'service.connection.tcp: Required value: One of TCP or UDS must be set' },
  { selections: [http({ uds, tcp: { url: 'http://p' } })], want: 'TCP and UDS cannot both be set' },
  { selections: [http({ uds: {} })], want: 'service.connection.udsName: Invalid value: "nil": must be present for UDS connections' },
  { selections: [http({ tcp: { url: 'ftp://p' } })], want: 'supported connection protocols are http:// and https://' },
  { selections: [http({ tcp: { url: 'http://p', tlsConfig: {} } })], want: 'config must not be present when using HTTP' },
  { selections: [http({ tcp: { url: 'https://p' } })], want: 'TLSConfig must be present when using HTTPS' },
  { selections: [http({ tcp: { url: 'https://p', tlsConfig: { clientKey: 'k' } } })], want: 'Using TLS requires clientCert' },
  {
    selections: [http({ tcp: { url: 'https://p', tlsConfig: { clientKey: '/nowhere/k', clientCert: '/nowhere/c' } } })],
    want: 'TLS client cert does not exist',
  },
  {
    selections: [{ name: 'etcd', connection: { proxyProtocol: 'GRPC', transport: { tcp: { url: 'http://p' } } } }],
    want: 'service.connection.uds: Required value: UDS must be set with GRPC',
  },
  { selections: [{ name: 'etcd', connection: { proxyProtocol: 'Direct' }, more: 1 }], want: 'unknown field' },
])('rejects a configuration: $want', async ({ selections, want }) => {
  await expect(readEgressConfiguration(configurationOf(selections))).rejects.toThrow(want);
});
