/** One test for each published API server vulnerability without a test of that name; docs/internals/security.md lists them. */
import { once } from 'node:events';
import http2 from 'node:http2';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CertificatePool, parseCertificateBundle } from '#apimachinery/x509/certificate-pool';
import { extendedKeyUsages, verifyCertificate } from '#apimachinery/x509/verify-certificate';
import { Authority } from '#cmd/certificates/issue';
import { startTestCluster, type TestCluster } from '#testing/index';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster({
    listen: true,
    users: [{ name: 'jane' }, { name: 'system:node:n1', groups: ['system:nodes'] }],
    flags: ['--authorization-mode=Node,RBAC', '--enable-admission-plugins=NodeRestriction,AlwaysPullImages,DenyServiceExternalIPs'],
  });
});
afterAll(() => cluster[Symbol.asyncDispose]());

const namespace = '/api/v1/namespaces/default';
interface Reply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>> & { readonly message?: string };
}
async function call(path: string, init: Parameters<TestCluster['fetch']>[1] = {}): Promise<Reply> {
  const answer = await cluster.fetch(path, init);
  const text = await answer.text();
  return { status: answer.status, body: (text.startsWith('{') ? JSON.parse(text) : { message: text }) as Reply['body'] };
}
const patch = (path: string, body: object | string, type = 'application/merge-patch+json', as = 'admin') =>
  call(path, { method: 'PATCH', as, headers: { 'content-type': type }, body });
const podSpec = { containers: [{ name: 'c', image: 'example.com/c:1', imagePullPolicy: 'IfNotPresent' }] };

it('CVE-2016-1905: patches go through admission like other writes', async () => {
  await call(`${namespace}/services`, { body: { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } } });
  const patched = await patch(`${namespace}/services/s`, { spec: { externalIPs: ['1.1.1.1'] } });
  expect([patched.status, patched.body.message]).toEqual([
    403,
    expect.stringContaining('Use of external IPs is denied by admission control'),
  ]);
});

it('CVE-2017-1000056: validation receives the mutated object', async () => {
  const { body } = await call(`${namespace}/pods?dryRun=All`, { body: { metadata: { name: 'p' }, spec: podSpec } });
  expect(JSON.stringify(body)).toContain('"imagePullPolicy":"Always"');
});

it('CVE-2020-8554: external addresses of services can be denied', async () => {
  const body = { metadata: { name: 'mitm' }, spec: { ports: [{ port: 80 }], externalIPs: ['10.9.8.7'] } };
  const { status, body: answer } = await call(`${namespace}/services`, { body });
  expect([status, answer.message]).toEqual([403, expect.stringContaining('Use of external IPs is denied by admission control')]);
});

it('CVE-2019-1002100: neither many nor growing patches block the server', async () => {
  await call(`${namespace}/configmaps`, { body: { metadata: { name: 'grown' }, data: { k: 'x'.repeat(1_000) } } });
  const many = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/k', value: '' }));
  expect((await patch(`${namespace}/configmaps/grown`, many, 'application/json-patch+json')).status).toBe(413);
  const doubling = Array.from({ length: 40 }, (_, i) => ({ op: 'copy', from: '/data', path: `/data/c${i}` }));
  const begin = performance.now();
  expect((await patch(`${namespace}/configmaps/grown`, doubling, 'application/json-patch+json')).status).toBe(422);
  expect(performance.now() - begin).toBeLessThan(2_000);
});

describe('custom resources', () => {
  const define = (plural: string, scope: string) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope,
      names: { plural, kind: plural },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  });
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const api = '/apis/example.com/v1';

  it('CVE-2019-11247: a cluster-scoped resource is not served in a namespace', async () => {
    await call(definitions, { body: define('globals', 'Cluster') });
    await expect.poll(async () => (await call(`${api}/globals`)).status).toBe(200);
    await call(`${api}/globals`, { body: { apiVersion: 'example.com/v1', kind: 'globals', metadata: { name: 'a' } } });
    expect((await call(`${api}/globals/a`)).status).toBe(200);
    expect((await call(`${api}/namespaces/default/globals/a`)).status).toBe(404);
  });

  it('CVE-2022-3162: a list contains only one kind, whatever the kinds are named', async () => {
    for (const plural of ['foos', 'foosbars']) await call(definitions, { body: define(plural, 'Namespaced') });
    const of = (plural: string) => `${api}/namespaces/default/${plural}`;
    await expect.poll(async () => (await call(of('foosbars'))).status).toBe(200);
    await expect.poll(async () => (await call(of('foos'))).status).toBe(200);
    await call(of('foosbars'), { body: { apiVersion: 'example.com/v1', kind: 'foosbars', metadata: { name: 'secret' } } });
    expect((await call(of('foos'))).body['items']).toEqual([]);
    for (const climbing of ['..%2ffoosbars', '%2e%2e/foosbars', '..']) {
      expect((await call(`${of('foos')}/${climbing}`)).body['kind']).not.toBe('foosbarsList');
    }
  });
});

describe('addresses', () => {
  const endpoints = (ip: string) => ({ metadata: { name: 'e' }, subsets: [{ addresses: [{ ip }], ports: [{ port: 80 }] }] });
  const slice = (ip: string) => ({ metadata: { name: 'e' }, addressType: 'IPv4', endpoints: [{ addresses: [ip] }] });
  const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';

  it.each(['127.0.0.1', '169.254.169.254', '224.0.0.1', '0.0.0.0'])('CVE-2021-25737: %s is rejected as an endpoint', async (ip) => {
    expect((await call(`${namespace}/endpoints`, { body: endpoints(ip) })).status).toBe(422);
    expect((await call(slices, { body: slice(ip) })).status).toBe(422);
  });

  it('CVE-2021-25740: the edit role cannot write endpoints', async () => {
    const { body } = await call('/apis/rbac.authorization.k8s.io/v1/clusterroles/system:aggregate-to-edit');
    const rules = body['rules'] as readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
    const writing = rules.filter(({ verbs }) => verbs.some((verb) => !['get', 'list', 'watch'].includes(verb)));
    expect(writing.flatMap(({ resources }) => resources).filter((resource) => resource.startsWith('endpoint'))).toEqual([]);
  });

  it('CVE-2021-29923: leading zeros do not change an address', async () => {
    const body = { metadata: { name: 'zeros' }, spec: { clusterIP: '010.000.000.077', ports: [{ port: 80 }] } };
    const created = await call(`${namespace}/services?dryRun=All`, { body });
    expect([created.status, created.body.message]).toEqual([422, expect.stringContaining('must not have leading 0s')]);
  });
});

it('CVE-2021-25735: the validation of a node update receives the stored node', async () => {
  await call('/api/v1/nodes', { body: { metadata: { name: 'n1', labels: { kept: 'yes' } } } });
  // From the old node, NodeRestriction determines that the kubelet must not change the label.
  const label = { metadata: { labels: { 'node-restriction.kubernetes.io/a': 'b' } } };
  expect((await patch('/api/v1/nodes/n1', label, undefined, 'system:node:n1')).status).toBe(403);
  expect((await patch('/api/v1/nodes/n1', { metadata: { labels: { kept: 'yes' } } }, undefined, 'system:node:n1')).status).toBe(200);
});

it('CVE-2025-5187: a node cannot set its owner references', async () => {
  await call('/api/v1/nodes', { body: { metadata: { name: 'n1' } } });
  const owned = { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'x' }] } };
  const patched = await patch('/api/v1/nodes/n1', owned, undefined, 'system:node:n1');
  expect([patched.status, patched.body.message]).toEqual([403, expect.stringMatching(/owner/i)]);
});

it('CVE-2023-2431: a localhost profile requires its name', async () => {
  const spec = { ...podSpec, securityContext: { seccompProfile: { type: 'Localhost' } } };
  const created = await call(`${namespace}/pods`, { body: { metadata: { name: 'unconfined' }, spec } });
  expect([created.status, created.body.message]).toEqual([422, expect.stringContaining('localhostProfile')]);
});

it('CVE-2024-0793: an autoscaler with an empty metric survives conversion', async () => {
  const autoscalers = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers';
  const annotations = { 'autoscaling.alpha.kubernetes.io/metrics': '[{"type":"ContainerResource"}]' };
  const spec = { maxReplicas: 2, scaleTargetRef: { kind: 'Deployment', name: 'd' } };
  const created = await call(autoscalers, { body: { metadata: { name: 'h', annotations }, spec } });
  expect([201, 422]).toContain(created.status);
  expect([200, 404, 422]).toContain((await patch(`${autoscalers}/h`, { metadata: { annotations } })).status);
});

describe('YAML and JSON', () => {
  const yaml = (text: string) => call(`${namespace}/configmaps`, { headers: { 'content-type': 'application/yaml' }, body: text });
  const laughs = [
    'a: &a [x]',
    ...Array.from(
      { length: 20 },
      (_, i) =>
        `${'abcdefghijklmnopqrstuv'[i + 1]}: &${'abcdefghijklmnopqrstuv'[i + 1]} [${Array.from({ length: 9 }, () => `*${'abcdefghijklmnopqrstuv'[i]}`).join(',')}]`,
    ),
  ].join('\n');

  it.each([
    { name: 'CVE-2019-11253: nested aliases', text: laughs },
    { name: 'CVE-2019-11254: long flow lists', text: `a: ${'[x,'.repeat(200_000)}` },
    { name: 'CVE-2022-3064: many merge keys', text: `a: &a {x: 1}\nb:\n${'  <<: *a\n'.repeat(2_000)}` },
    { name: 'CVE-2022-28948: broken tags', text: '0: [:!00 \xef' },
    { name: 'CVE-2021-4235: deeply nested maps', text: `${'a: {'.repeat(100_000)}` },
  ])('$name are rejected quickly', async ({ text }) => {
    const begin = process.cpuUsage();
    expect([400, 422]).toContain((await yaml(text)).status);
    const { user, system } = process.cpuUsage(begin);
    expect((user + system) / 1_000).toBeLessThan(2_000);
  });
});

describe('protobuf', () => {
  const type = 'application/vnd.kubernetes.protobuf';
  const post = (body: Buffer): Promise<Reply> =>
    call(`${namespace}/configmaps?dryRun=All`, { method: 'POST', headers: { 'content-type': type }, body });
  const field = (tag: number, content: Buffer): Buffer => Buffer.concat([Buffer.of(tag, content.length), content]);
  const metadata = field(0x0a, field(0x0a, Buffer.from('malformed')));
  const message = Buffer.concat([metadata, field(0x12, Buffer.concat([field(0x0a, Buffer.from('k')), field(0x12, Buffer.from('v'))]))]);
  const envelope = (raw: Buffer): Buffer =>
    Buffer.concat([
      Buffer.from('k8s\0'),
      field(0x0a, Buffer.concat([field(0x0a, Buffer.from('v1')), field(0x12, Buffer.from('ConfigMap'))])),
      Buffer.of(0x12, raw.length),
      raw,
    ]);
  /** Length or number of an unknown field, in ten bytes and beyond Go's 64 bits. */
  const huge = [Buffer.from('ffffffffffffffffff01', 'hex'), Buffer.from('ffffffffffffffffffff01', 'hex'), Buffer.from('8080808010', 'hex')];

  it('CVE-2021-3121: malformed messages are only rejected', async () => {
    expect((await post(envelope(message))).status).toBe(201);
    const forms: Buffer[] = [];
    for (let end = 0; end < message.length; end += 1) forms.push(envelope(message.subarray(0, end)));
    for (let at = 0; at < message.length; at += 1) {
      for (const byte of [0x00, 0x7f, 0x80, 0xff]) {
        const changed = Buffer.from(message);
        changed[at] = byte;
        forms.push(envelope(changed));
      }
    }
    // Unknown fields of every wire type: numbers, lengths, unbalanced groups, undefined types.
    for (let wire = 0; wire < 8; wire += 1) {
      for (const rest of [Buffer.alloc(0), Buffer.of(0), Buffer.of(0x7f), ...huge]) {
        const unknown = Buffer.concat([Buffer.of(0x78 | wire), rest]);
        forms.push(envelope(Buffer.concat([message, unknown])), envelope(Buffer.concat([unknown, message])));
      }
    }
    const whole = envelope(message);
    for (let end = 0; end < whole.length; end += 1) forms.push(whole.subarray(0, end));
    const statuses = new Set<number>();
    for (const form of forms) statuses.add((await post(form)).status);
    expect([...statuses].filter((status) => ![201, 400, 415, 422].includes(status))).toEqual([]);
    expect(statuses.has(400)).toBe(true);
  });
});

it('CVE-2020-14039: a chain with a certificate that lacks the client usage is rejected at any depth', async () => {
  const authority = await Authority.create('clients');
  const [forServers, forClients] = await Promise.all(
    (['server', 'client'] as const).map(async (usage) => {
      const { cert } = await authority.issue({ commonName: 'jane', usages: [usage] });
      return parseCertificateBundle(cert)[0]!;
    }),
  );
  const options = { intermediates: new CertificatePool([]), usage: extendedKeyUsages.clientAuth, now: Date.now() };
  const roots = new CertificatePool(parseCertificateBundle(authority.pair.cert));
  const incompatible = 'x509: certificate specifies an incompatible key usage';
  expect(verifyCertificate(forClients!, { ...options, roots }).problem).toBeUndefined();
  expect(verifyCertificate(forServers!, { ...options, roots }).problem).toBe(incompatible);
  // A trust anchor must have the usage, too.
  expect(verifyCertificate(forServers!, { ...options, roots: new CertificatePool([forServers!]) }).problem).toBe(incompatible);
});

describe('HTTP/2', () => {
  const connect = (): http2.ClientHttp2Session => {
    const session = http2.connect(cluster.url as string, { ca: cluster.certificateAuthority });
    session.on('error', () => {});
    return session;
  };
  const isServed = async (): Promise<boolean> => {
    const session = connect();
    const stream = session.request({ ':path': '/version', authorization: `Bearer ${cluster.token('admin')}` });
    const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
    session.destroy();
    return Number(headers[':status']) === 200;
  };

  /** Builds an HTTP/2 frame. */
  const frame = (type: number, flags: number, stream: number, payload: Buffer): Buffer => {
    const head = Buffer.alloc(9);
    head.writeUIntBE(payload.length, 0, 3);
    head.writeUInt8(type, 3);
    head.writeUInt8(flags, 4);
    head.writeUInt32BE(stream, 5);
    return Buffer.concat([head, payload]);
  };
  const [headersFrame, resetFrame, settingsFrame, pingFrame, continuationFrame] = [1, 3, 4, 6, 9] as const;
  const preface = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(settingsFrame, 0, 0, Buffer.alloc(0))]);
  const connectRaw = async (): Promise<tls.TLSSocket> => {
    const { hostname, port } = new URL(cluster.url as string);
    const socket = tls.connect({ host: hostname, port: Number(port), ca: cluster.certificateAuthority, ALPNProtocols: ['h2'] });
    socket.on('error', () => {});
    await once(socket, 'secureConnect');
    return socket;
  };

  it('CVE-2023-44487: a client that continuously opens and resets streams is disconnected', async () => {
    const socket = await connectRaw();
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.resume();
    const token = Buffer.from(`Bearer ${cluster.token('admin')}`);
    // GET https /, with a literal authorization header, number 23 of HPACK's static table.
    const headers = Buffer.concat([Buffer.from([0x82, 0x87, 0x84, 0x0f, 0x08, token.length]), token]);
    socket.write(preface);
    for (let stream = 1; stream < 20_000 && socket.writable; stream += 2) {
      const cancel = Buffer.from([0, 0, 0, http2.constants.NGHTTP2_CANCEL]);
      socket.write(Buffer.concat([frame(headersFrame, 0x5, stream, headers), frame(resetFrame, 0, stream, cancel)]));
      if (stream % 200 === 1) await new Promise((resolve) => setImmediate(resolve));
    }
    await closed;
    expect(await isServed()).toBe(true);
  });

  it.each([
    {
      name: 'CVE-2023-45288: endless headers',
      first: [frame(headersFrame, 0, 1, Buffer.from([0x82]))],
      flood: frame(
        continuationFrame as number,
        0,
        1,
        Buffer.concat(Array.from({ length: 400 }, () => Buffer.from('\0\x03x-a\x0avvvvvvvvvv', 'latin1'))),
      ),
    },
    { name: 'CVE-2019-9512: a PING flood', first: [], flood: frame(pingFrame, 0, 0, Buffer.alloc(8)) },
    { name: 'CVE-2019-9515: a SETTINGS flood', first: [], flood: frame(settingsFrame, 0, 0, Buffer.alloc(0)) },
  ])('$name: closes the connection or stays responsive', async ({ first, flood }) => {
    const socket = await connectRaw();
    // Reads nothing, so the server must limit its buffered responses.
    socket.pause();
    const before = process.memoryUsage.rss();
    socket.write(Buffer.concat([preface, ...first]));
    const many = Buffer.concat(Array.from({ length: 100 }, () => flood));
    for (let i = 0; i < 100 && !socket.destroyed && socket.writable; i += 1) {
      socket.write(many);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await isServed()).toBe(true);
    expect(process.memoryUsage.rss() - before).toBeLessThan(300 * 1024 * 1024);
    socket.destroy();
  });
});
