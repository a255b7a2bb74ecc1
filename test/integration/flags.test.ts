import { once } from 'node:events';
import { connect, type ConnectionOptions } from 'node:tls';
import { expect, it } from 'vitest';
import { KubeletConnections } from '#kubernetes/apis/core/kubelet-connection';
import type { ServerConfig } from '#cmd/server-config';
import { ServerOptions } from '#cmd/options/server-options';
import { readServerOptions, targetsOf } from '../../src/cmd/options/read-server-options.ts';
import { startTestCluster, type TestCluster } from '#testing/index';

const pods = '/api/v1/namespaces/default/pods';

/** Returns the negotiated TLS parameters. Rejects if the handshake fails. */
async function handshake(cluster: TestCluster, options: ConnectionOptions): Promise<{ version: string | null; cipher: string }> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(cluster.url as string).port), rejectUnauthorized: false, ...options });
  try {
    await once(socket, 'secureConnect');
    return { version: socket.getProtocol(), cipher: socket.getCipher().name };
  } finally {
    socket.destroy();
  }
}

it('--default-not-ready-toleration-seconds, --default-unreachable-toleration-seconds', async () => {
  await using cluster = await startTestCluster({
    flags: [
      '--default-not-ready-toleration-seconds=7',
      '--default-unreachable-toleration-seconds=8',
      '--disable-admission-plugins=ServiceAccount',
    ],
  });
  const spec = { containers: [{ name: 'c', image: 'i' }] };
  const created = (await (await cluster.fetch(pods, { body: { metadata: { name: 'p' }, spec } })).json()) as {
    spec: { tolerations: { key: string; tolerationSeconds: number }[] };
  };
  expect(created.spec.tolerations.map(({ key, tolerationSeconds }) => [key, tolerationSeconds])).toEqual([
    ['node.kubernetes.io/not-ready', 7],
    ['node.kubernetes.io/unreachable', 8],
  ]);
});

it('--min-request-timeout: a watch without a timeout ends after one to two times the value', async () => {
  await using cluster = await startTestCluster({ flags: ['--min-request-timeout=1'] });
  const begin = performance.now();
  await (await cluster.fetch(`${pods}?watch=1`)).text();
  const seconds = (performance.now() - begin) / 1_000;
  expect(seconds).toBeGreaterThan(0.9);
  expect(seconds).toBeLessThan(10);
});

it('--permit-port-sharing: two servers on one port', async () => {
  await using cluster = await startTestCluster({ listen: true });
  const serving = { ...(cluster.app.server.options.serving as NonNullable<ServerConfig['serving']>), sharesPort: true };
  await using first = await startTestCluster({ listen: true, config: { serving } });
  const port = Number(new URL(first.url as string).port);
  await using second = await startTestCluster({ listen: true, config: { serving: { ...serving, port } } });
  expect(new URL(second.url as string).port).toBe(String(port));
  const refused = startTestCluster({ listen: true, config: { serving: { ...serving, port, sharesPort: false } } });
  await expect(refused).rejects.toThrow('EADDRINUSE');
});

it('--livez-grace-period: a slow start is live but not ready', async () => {
  for (const [livezGraceMs, livez] of [
    [60_000, 200],
    [0, 500],
  ] as const) {
    await using cluster = await startTestCluster({ config: { livezGraceMs } });
    const { hooks } = cluster.app.server;
    // Simulates a server that is still starting.
    Object.defineProperty(hooks, 'checks', {
      value: [{ name: 'poststarthook/slow', check: () => Promise.reject(new Error('not finished')) }],
    });
    expect([(await cluster.fetch('/livez')).status, (await cluster.fetch('/readyz')).status]).toEqual([livez, 500]);
  }
});

it.each(['TLSv1', 'TLSv1.1'] as const)('--tls-min-version: a client with %s is accepted only if the flag allows it', async (version) => {
  await using standard = await startTestCluster({ listen: true });
  const serving = { ...(standard.app.server.options.serving as NonNullable<ServerConfig['serving']>), minVersion: version };
  await using old = await startTestCluster({ listen: true, config: { serving } });
  const onlyThat = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' };
  expect((await handshake(old, onlyThat)).version).toBe(version);
  await expect(handshake(standard, onlyThat)).rejects.toThrow(/protocol version/);
});

it("--tls-cipher-suites applies to versions before TLS 1.3, with Go's preference order", async () => {
  await using standard = await startTestCluster({ listen: true });
  const given = standard.app.server.options.serving as NonNullable<ServerConfig['serving']>;
  await using limited = await startTestCluster({
    listen: true,
    config: { serving: { ...given, cipherSuites: ['ECDHE-ECDSA-AES256-GCM-SHA384'] } },
  });
  const aes128 = { version: 'TLSv1.3', cipher: 'TLS_AES_128_GCM_SHA256' };
  for (const cluster of [standard, limited]) {
    expect(await handshake(cluster, {})).toEqual(aes128);
    expect((await handshake(cluster, { ciphers: 'TLS_CHACHA20_POLY1305_SHA256' })).cipher).toBe('TLS_CHACHA20_POLY1305_SHA256');
  }
  expect((await handshake(limited, { maxVersion: 'TLSv1.2' })).cipher).toBe('ECDHE-ECDSA-AES256-GCM-SHA384');
  await expect(handshake(limited, { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' })).rejects.toThrow(
    /handshake failure/,
  );
});

it('--disabled-metrics, --allow-metric-labels, --etcd-count-metric-poll-period, --etcd-db-metric-poll-interval', async () => {
  const metrics = async (cluster: TestCluster): Promise<string> => (await cluster.fetch('/metrics')).text();
  await using whole = await startTestCluster();
  expect(await metrics(whole)).toMatch(/^apiserver_resource_objects\{group="",resource="namespaces"\} 4$/m);
  if (!process.env['KUBENEST_TEST_STORAGE'])
    expect(await metrics(whole)).toMatch(/^apiserver_storage_size_bytes\{storage_cluster_id="etcd-0"\} [1-9]/m);
  await using limited = await startTestCluster({
    flags: [
      '--disabled-metrics=apiserver_longrunning_requests',
      '--allow-metric-labels=apiserver_request_total,verb=LIST,WATCH',
      '--etcd-count-metric-poll-period=0',
      '--etcd-db-metric-poll-interval=0',
    ],
  });
  await (await limited.fetch('/api/v1/namespaces/default')).text();
  await (await limited.fetch('/api/v1/namespaces')).text();
  const text = await metrics(limited);
  expect(text).not.toMatch(/apiserver_longrunning_requests|apiserver_(resource|storage)_objects|size_bytes\{storage/);
  const verbs = [...text.matchAll(/^apiserver_request_total\{.*verb="(\w+)"/gm)].map((match) => match[1]);
  expect(new Set(verbs)).toEqual(new Set(['LIST', 'unexpected']));
});

it('--max-connection-bytes-per-sec applies to upgraded connections to nodes, pods and services', async () => {
  await using cluster = await startTestCluster({ flags: ['--max-connection-bytes-per-sec=1000'] });
  expect(cluster.app.nest.get(KubeletConnections, { strict: false }).way.maxBytesPerSecond).toBe(1_000);
});

it.each([
  ['--watch-cache-sizes=pods', 'invalid value of watch cache size: pods'],
  ['--vmodule=a', '"a" does not have the pattern=N format'],
  ['--tls-curve-preferences=1', 'curve preference 1 is not supported'],
  ['--audit-webhook-batch-buffer-size=0', 'invalid audit batch webhook buffer size 0, must be a positive number'],
  ['--audit-log-truncate-max-batch-size=1', 'invalid audit truncate log max batch size 1, must be greater than max event size (102400)'],
  ['--audit-log-mode=never', 'invalid audit log mode never, allowed modes are "batch,blocking,blocking-strict"'],
  ['--logging-format=xml', 'invalid --logging-format "xml"'],
])('rejects %s with the reason', async (flag, reason) => {
  await expect(readServerOptions([flag])).rejects.toThrow(reason);
});

it.each([
  '--audit-log-batch-buffer-size=0',
  '--logging-format=json',
  '--watch-cache-sizes=pods#100,deployments.apps#10',
  '--permit-address-sharing',
  '--default-watch-cache-size=500',
])('accepts %s', async (flag) => {
  expect(Object.keys(await readServerOptions([flag]))).toEqual(['options']);
});

/** Flags of the CIS Kubernetes benchmark (1.12), section 1.2. */
it('the flags of hardening guides are supported', () => {
  const flags = [
    ...['anonymous-auth', 'token-auth-file', 'enable-admission-plugins', 'disable-admission-plugins', 'admission-control-config-file'],
    ...['kubelet-client-certificate', 'kubelet-client-key', 'kubelet-certificate-authority', 'authorization-mode', 'profiling'],
    ...['audit-log-path', 'audit-log-maxage', 'audit-log-maxbackup', 'audit-log-maxsize', 'audit-policy-file', 'request-timeout'],
    ...['service-account-lookup', 'service-account-key-file', 'service-account-extend-token-expiration', 'client-ca-file'],
    ...['etcd-certfile', 'etcd-keyfile', 'etcd-cafile', 'tls-cert-file', 'tls-private-key-file', 'tls-cipher-suites', 'tls-min-version'],
    'encryption-provider-config',
  ];
  const present = targetsOf(new ServerOptions());
  expect(flags.filter((flag) => !present.has(flag))).toEqual([]);
});
