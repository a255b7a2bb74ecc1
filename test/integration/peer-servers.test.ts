/** Servers with different APIs on one store: a request for a resource that only the other one serves is proxied to it. */
import { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { GroupDiscovery } from '#apiserver/endpoints/discovery/aggregated-form';
import { type App, createApp } from '#cmd/app';
import { completeOptions } from '#cmd/options/complete';
import type { AggregationConfig } from '#cmd/server-config';
import { OpenedStorage } from '#cmd/storage/opened-storage';
import { apiServerId } from '#kubernetes/controlplane/identity-lease';
import { PeerEndpoints } from '#kubernetes/controlplane/peer-endpoints';
import { issueServingCertificate } from '#testing/serving-certificate';
import { readServerOptions } from '../../src/cmd/options/read-server-options.ts';
import { etcd, noEtcd, startEtcd } from '../servers/etcd-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'peer-servers-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Both servers have the certificates of this folder. */
const data = join(folder, 'data');
const jobs = '/apis/batch/v1/namespaces/default/jobs';
const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

interface Started extends AsyncDisposable {
  readonly app: App;
  readonly aggregation: AggregationConfig;
  fetch(path: string, body?: object, headers?: Record<string, string>): Promise<{ readonly status: number; readonly body: string }>;
}

/** Starts a server whose identity is that of a machine of its own. */
async function start(host: string, flags: readonly string[]): Promise<Started> {
  const command = await readServerOptions([
    ...flags,
    `--data-dir=${data}`,
    `--kubeconfig-out=${join(folder, host)}`,
    '--bind-address=127.0.0.1',
    '--secure-port=0',
    '--advertise-address=127.0.0.1',
  ]);
  if (!('options' in command)) throw new Error('unexpected command');
  const { config, dispose, admin } = await completeOptions(command.options);
  const app = await createApp({ ...config, controlPlane: { ...config.controlPlane!, host } });
  const { port } = (await app.start())!;
  let ended: Promise<void> | undefined;
  return {
    app,
    aggregation: config.aggregation!,
    async fetch(path, body, headers = {}) {
      const request = https.request({
        host: '127.0.0.1',
        port,
        path,
        method: body ? 'POST' : 'GET',
        rejectUnauthorized: false,
        headers: { 'content-type': 'application/json', ...headers },
        ...admin!.client,
      });
      const response = new Promise<IncomingMessage>((resolve, reject) => request.once('response', resolve).once('error', reject));
      request.end(body && JSON.stringify(body));
      return { status: (await response).statusCode!, body: await text(await response) };
    },
    async [Symbol.asyncDispose]() {
      await (ended ??= app.stop().then(dispose));
    },
  };
}

describe.skipIf(etcd === undefined)(`peers${etcd ? '' : `: ${noEtcd}`}`, () => {
  const ends = new AsyncDisposableStack();
  let old: Started;
  let newer: Started;

  beforeAll(async () => {
    const store = ends.use(await startEtcd());
    const flags = [`--etcd-servers=${store.url}`, '--storage-backend=etcd3', `--peer-ca-file=${join(data, 'pki/ca.crt')}`];
    newer = ends.use(await start('newer', flags));
    old = ends.use(await start('old', [...flags, '--runtime-config=batch/v1=false']));
  });
  afterAll(() => ends.disposeAsync());

  const served = async (headers: Record<string, string> = {}): Promise<number> => (await old.fetch(jobs, undefined, headers)).status;

  it('a request for a resource that another server serves is proxied to it', async () => {
    await vi.waitFor(async () => expect(await served()).toBe(200), { interval: 100 });
    const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'proxied' }, spec: { template } };
    expect((await old.fetch(jobs, job)).status).toBe(201);
    const { body } = await old.fetch(`${jobs}/proxied`);
    expect(body).toBe((await newer.fetch(`${jobs}/proxied`)).body);
    expect(JSON.parse(body)).toMatchObject({ metadata: { name: 'proxied' } });
  });

  it('a request that was proxied once, an unknown resource and a path that fits no route are not proxied', async () => {
    expect(await served({ 'x-kubernetes-peer-proxied': 'true' })).toBe(404);
    expect((await old.fetch(jobs.replace('jobs', 'things'))).status).toBe(404);
    expect((await old.fetch('/apis/batch/v1')).status).toBe(404);
    expect((await old.fetch(`/api/v1/nodes/n/unknown`)).status).toBe(404);
  });

  it('aggregated discovery has the resources of all servers, or of one with the profile nopeer', async () => {
    const versions = async (server: Started, profile = ''): Promise<string[] | undefined> => {
      const { body } = await server.fetch('/apis', undefined, { accept: `${aggregated}${profile}` });
      const { items } = JSON.parse(body) as { readonly items: readonly GroupDiscovery[] };
      return items.find(({ metadata }) => metadata.name === 'batch')?.versions.map(({ version }) => version);
    };
    expect(await versions(old)).toEqual(['v1']);
    expect(await versions(newer)).toEqual(['v1']);
    expect(await versions(old, ';profile=nopeer')).toBeUndefined();
    expect((await old.fetch('/apis/batch')).status).toBe(404);
  });

  it('a server whose lease has expired is not available, until it renews the lease', async () => {
    const endpoints = new PeerEndpoints(old.app.nest.get(OpenedStorage, { strict: false }).objects);
    await endpoints.remove(apiServerId('newer'));
    expect(await old.fetch(jobs)).toMatchObject({
      status: 503,
      body: expect.stringContaining('Error getting ip and port info of the remote server'),
    });
    await vi.waitFor(async () => expect(await served()).toBe(200), { interval: 100 });
  });

  it.each([
    ['no endpoint', undefined],
    ['an endpoint without an address', [{}]],
    ['an endpoint without ports', [{ addresses: [{ ip: '127.0.0.1' }] }]],
    ['an endpoint at which nothing listens', [{ addresses: [{ ip: '127.0.0.1' }], ports: [{ port: 1 }] }]],
  ])('the identity of a server with %s does not affect the others', async (_, subsets) => {
    const { objects } = old.app.nest.get(OpenedStorage, { strict: false });
    const name = `apiserver-${randomUUID()}`;
    const record = { kind: 'Endpoints', apiVersion: 'v1', metadata: {}, subsets };
    if (subsets) await objects.create(`/peerserverleases/${name}`, () => Buffer.from(JSON.stringify(record)));
    const metadata = { name, labels: { 'apiserver.kubernetes.io/identity': 'kube-apiserver' } };
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
    expect((await old.fetch(leases, { metadata, spec: { holderIdentity: name } })).status).toBe(201);
    for (let i = 0; i < 10; i++) expect(await served()).toBe(200);
    expect((await old.fetch('/apis', undefined, { accept: aggregated })).status).toBe(200);
  });

  it('counts proxied requests and errors', async () => {
    const { body } = await old.fetch('/metrics');
    const resource = 'group="batch",resource="jobs"';
    const count = (start: string): number =>
      Number(
        body
          .split('\n')
          .find((line) => line.startsWith(start))
          ?.split(' ')[1],
      );
    expect(count(`apiserver_rerouted_request_total{code="201",${resource},version="v1"}`)).toBe(1);
    expect(count(`apiserver_peer_proxy_errors_total{${resource},type="endpoint_resolution",version="v1"}`)).toBeGreaterThanOrEqual(1);
    expect(count('apiserver_peer_discovery_sync_errors_total{type="hostport_resolution"}')).toBeGreaterThanOrEqual(1);
    await vi.waitFor(async () => {
      const { body: later } = await old.fetch('/metrics');
      expect(later).toContain('apiserver_peer_discovery_sync_errors_total{type="fetch_discovery"}');
    });
  });

  it('reloads the authorities of the certificates of peers', async () => {
    const { certificateAuthority } = await issueServingCertificate();
    old.app.reloadAggregation({ ...old.aggregation, peerCa: certificateAuthority });
    expect(await served()).toBe(503);
    old.app.reloadAggregation(old.aggregation);
    expect(await served()).toBe(200);
  });

  it('without the other server its resources are unknown', async () => {
    await newer[Symbol.asyncDispose]();
    await vi.waitFor(async () => expect(await served()).toBe(404), { interval: 100 });
  });
});
