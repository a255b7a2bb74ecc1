import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Writable } from 'node:stream';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startTestCluster, type TestCluster } from 'kubenest/testing';

interface Event {
  readonly verb: string;
  readonly stage: string;
  readonly level: string;
  readonly objectRef?: { readonly resource?: string };
  readonly [field: string]: unknown;
}

const policy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  users: ["system:apiserver"]
- level: Metadata
  resources: [{ group: "", resources: [secrets] }]
- level: RequestResponse
  omitManagedFields: true
  resources: [{ group: "", resources: [configmaps] }]
- level: None
`;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-audit-'));
  await writeFile(join(folder, 'policy.yaml'), policy);
});
afterAll(() => rm(folder, { recursive: true }));

const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v' } };
const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { p: 'canary' } };

it('logs the events of the policy without secrets', async () => {
  const log = join(folder, 'audit.log');
  const flags = [`--audit-policy-file=${folder}/policy.yaml`, `--audit-log-path=${log}`];
  {
    await using cluster = await startTestCluster({ flags, listen: true, users: [{ name: 'jane' }] });
    await cluster.fetch('/api/v1/namespaces/default/configmaps', { body: configMap });
    await cluster.fetch('/api/v1/namespaces/default/secrets', { body: secret });
    await cluster.fetch('/api/v1/namespaces/default/secrets', { as: 'jane' });
    await cluster.fetch('/api/v1/namespaces/default/configmaps', { headers: { 'impersonate-user': 'bob', 'impersonate-group': 'g' } });
    await cluster.fetch('/version');
    const metrics = await (await cluster.fetch('/metrics')).text();
    expect(metrics).toContain('apiserver_audit_event_total 4');
    expect(metrics).toContain('apiserver_audit_level_total{level="Metadata"} 2');
    expect(metrics).toContain('apiserver_audit_requests_rejected_total 0');
  }
  const text = await readFile(log, 'utf8');
  expect(text).not.toContain('canary');
  const events = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Event);
  expect(events).toMatchObject([
    {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'RequestResponse',
      stage: 'ResponseComplete',
      requestURI: '/api/v1/namespaces/default/configmaps',
      verb: 'create',
      user: { username: 'admin', groups: ['system:masters', 'system:authenticated'] },
      objectRef: { resource: 'configmaps', namespace: 'default', name: 'a', apiVersion: 'v1' },
      responseStatus: { metadata: {}, code: 201 },
      requestObject: { data: { k: 'v' } },
      responseObject: { kind: 'ConfigMap', data: { k: 'v' } },
      annotations: { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': '' },
    },
    { level: 'Metadata', verb: 'create', objectRef: { resource: 'secrets' }, responseStatus: { code: 201 } },
    {
      verb: 'list',
      user: { username: 'jane' },
      responseStatus: { status: 'Failure', reason: 'Forbidden', code: 403 },
      annotations: { 'authorization.k8s.io/decision': 'forbid' },
    },
    {
      verb: 'list',
      user: { username: 'admin' },
      impersonatedUser: { username: 'bob', groups: ['g', 'system:authenticated'] },
      responseStatus: { code: 403 },
    },
  ]);
  expect(events[0]?.['responseObject']).not.toHaveProperty('metadata.managedFields');
});

/** A text as Go's clients send it: UTF-8, of which Node passes each byte as a character. */
const sent = (text: string): string => Buffer.from(text).toString('latin1');
const audited = '/apis/apps/v1/namespaces/default/deployments/none/scale';
const configMaps = '/api/v1/namespaces/default/configmaps';

/** Headers of a request and what its event has. */
const described: readonly [headers: Record<string, string | string[]>, event: object][] = [
  [{ 'user-agent': sent('größe') }, { userAgent: 'größe' }],
  [{ 'impersonate-user': sent('bjørn') }, { impersonatedUser: { username: 'bjørn', groups: ['system:authenticated'] } }],
  [
    { 'impersonate-user': 'bob', 'impersonate-extra-a%ff': sent('é') },
    { impersonatedUser: { username: 'bob', groups: ['system:authenticated'], extra: { 'a\ufffd': ['é'] } } },
  ],
  [{ 'audit-id': ['first', 'second'] }, { auditID: 'first' }],
  [{ 'audit-id': 'a'.repeat(100) }, { auditID: 'a'.repeat(100) }],
  [{ 'x-forwarded-for': '010.1.1.1, ::FFFF:1.2.3.4, x, 0:0::1' }, { sourceIPs: ['10.1.1.1', '1.2.3.4', '::1', '127.0.0.1'] }],
  [{ 'x-forwarded-for': 'fe80::1%any' }, { sourceIPs: ['127.0.0.1'] }],
  [{ 'x-forwarded-for': ['1.1.1.1', '2.2.2.2'], 'x-real-ip': '3.3.3.3' }, { sourceIPs: ['1.1.1.1', '3.3.3.3', '127.0.0.1'] }],
  [{ 'x-forwarded-for': '1.1.1.1, 2.2.2.2', 'x-real-ip': '1.1.1.1' }, { sourceIPs: ['1.1.1.1', '2.2.2.2', '127.0.0.1'] }],
  [{ 'x-real-ip': '1.1.1.1, 2.2.2.2' }, { sourceIPs: ['127.0.0.1'] }],
];

/** Begins to create objects over HTTP/1.1 and HTTP/2, and disconnects within their bodies. */
async function abandonCreates(cluster: TestCluster): Promise<void> {
  const ca = cluster.certificateAuthority;
  const headers = { authorization: `Bearer ${cluster.token('admin')}`, 'content-type': 'application/json', 'content-length': '100' };
  const beginBody = (request: Writable): Promise<unknown> =>
    new Promise((resolve) => request.on('error', () => undefined).write('{', resolve));
  const request = https.request(`${cluster.url}${abandoned}`, { ca, agent: false, method: 'POST', headers });
  await beginBody(request);
  request.destroy();
  const session = http2.connect(cluster.url as string, { ca });
  await beginBody(session.request({ ':path': abandoned, ':method': 'POST', ...headers }));
  session.destroy();
}
const abandoned = '/api/v1/namespaces/abandoned/configmaps';
const failed = (message: string): object => ({ verb: 'create', responseStatus: { metadata: {}, status: 'Failure', code: 500, message } });

it('describes clients by their headers, and records writes of scales, like kube-apiserver', async () => {
  const log = join(folder, 'described.log');
  await writeFile(
    join(folder, 'all.yaml'),
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{ level: Request }]\n',
  );
  {
    await using cluster = await startTestCluster({
      flags: [`--audit-policy-file=${folder}/all.yaml`, `--audit-log-path=${log}`],
      listen: true,
    });
    for (const [headers] of described) {
      const options = {
        ca: cluster.certificateAuthority,
        agent: false,
        headers: { authorization: `Bearer ${cluster.token('admin')}`, ...headers },
      };
      const [response] = (await once(https.get(`${cluster.url}${configMaps}`, options), 'response')) as [IncomingMessage];
      await response.resume().toArray();
    }
    const spec = { replicas: 2 };
    await cluster.fetch(audited, { method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' }, body: { spec } });
    await cluster.fetch(audited, {
      method: 'PUT',
      body: { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'none' }, spec },
    });
    await abandonCreates(cluster);
    await vi.waitFor(async () => expect((await readFile(log, 'utf8')).split(abandoned)).toHaveLength(3));
  }
  const lines = (await readFile(log, 'utf8')).trim().split('\n');
  const all = lines.map((line) => JSON.parse(line) as Event);
  const events = all.filter(({ requestURI }) => requestURI === configMaps || requestURI === audited);
  const ofAbandoned = all
    .filter(({ requestURI }) => requestURI === abandoned)
    .map(({ verb, responseStatus }) => ({ verb, responseStatus }));
  expect(ofAbandoned).toHaveLength(2);
  expect(ofAbandoned).toEqual(expect.arrayContaining(['unexpected EOF', 'client disconnected'].map(failed)));
  expect(events).toMatchObject([
    ...described.map(([, event]) => event),
    ...['patch', 'update'].map((verb) => ({ verb, requestObject: { spec: { replicas: 2 } } })),
  ]);
});

it('posts events to a service and retries after an error', async () => {
  const received: Event[] = [];
  let failures = 1;
  const service = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (failures-- > 0) return void response.writeHead(500).end();
      received.push(...(JSON.parse(Buffer.concat(chunks).toString()) as { items: Event[] }).items);
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  const { port } = service.address() as AddressInfo;
  const kubeconfig = {
    'current-context': 'c',
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}/events` } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: '' } }],
  };
  await writeFile(join(folder, 'service.json'), JSON.stringify(kubeconfig));
  const flags = [
    `--audit-policy-file=${folder}/policy.yaml`,
    `--audit-webhook-config-file=${folder}/service.json`,
    '--audit-webhook-initial-backoff=10ms',
  ];
  {
    await using cluster = await startTestCluster({ flags });
    await cluster.fetch('/api/v1/namespaces/default/configmaps', { body: configMap });
  }
  service.closeAllConnections();
  await new Promise((resolve) => service.close(resolve));
  expect(received).toMatchObject([{ verb: 'create', objectRef: { resource: 'configmaps' } }]);
});
