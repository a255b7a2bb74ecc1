import { expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';
import { startTraceCollector } from '../servers/trace-collector.ts';
import { startWebhook } from './webhook-server.ts';

const trace = '0af7651916cd43dd8448eb211c80319c';
const span = 'b7ad6b7169203331';
const sampled = `00-${trace}-${span}-01`;
const users = [{ name: 'alice', groups: ['devs'] }];

/** Returns the spans of a server after it has shut down and exported them. */
async function spansOf(samplingRatePerMillion: number, ask: (cluster: TestCluster) => Promise<unknown>) {
  await using collector = await startTraceCollector();
  {
    const tracing = { endpoint: collector.endpoint, samplingRatePerMillion };
    await using cluster = await startTestCluster({ users, config: { tracing } });
    await ask(cluster);
  }
  return collector.spans;
}

it('continues the trace of a trusted client, with a child span for the verb', async () => {
  const spans = await spansOf(0, (cluster) =>
    cluster.fetch('/api/v1/namespaces/default/configmaps/x', { headers: { traceparent: sampled, 'user-agent': 'test' } }),
  );
  const request = spans.find(({ kind }) => kind === 2);
  const verb = spans.find(({ name }) => name === 'Get');
  const filters = ['audit', 'constrainedimpersonation', 'priorityandfairness', 'authorization'].map((of) =>
    spans.find(({ name }) => name === of),
  );
  expect([spans.length, request, verb]).toEqual([
    8,
    {
      traceId: trace,
      spanId: expect.stringMatching(/^[\da-f]{16}$/),
      parentSpanId: span,
      name: 'GET /api/v1/namespaces/{:namespace}/configmaps/{:name}',
      kind: 2,
      attributes: expect.objectContaining({
        'http.request.method': 'GET',
        'http.response.status_code': 404,
        'url.path': '/api/v1/namespaces/default/configmaps/x',
        'http.target': '/api/v1/namespaces/default/configmaps/x',
        'user_agent.original': 'test',
        'audit-id': expect.stringMatching(/^[\da-f-]{36}$/),
      }),
      links: [],
      events: [],
      status: 0,
      milliseconds: expect.any(Number),
      resource: { 'service.name': 'apiserver', 'service.instance.id': expect.stringMatching(/^apiserver-/) },
    },
    expect.objectContaining({
      traceId: trace,
      parentSpanId: filters[3]?.spanId,
      name: 'Get',
      events: [['About to Get from storage']],
      attributes: expect.objectContaining({ resource: 'configmaps', namespace: 'default', name: 'x', verb: 'GET', scope: 'resource' }),
    }),
  ]);
});

it('records nested spans for slow filters', async () => {
  const spans = await spansOf(0, (cluster) => cluster.fetch('/version', { headers: { traceparent: sampled } }));
  let above = spans.find(({ kind }) => kind === 2)?.spanId;
  for (const name of ['audit', 'constrainedimpersonation', 'priorityandfairness', 'authorization']) {
    const filter = spans.find((one) => one.name === name);
    expect(filter?.parentSpanId).toBe(above);
    above = filter?.spanId;
  }
  expect(spans).toHaveLength(5);
});

interface Asked {
  readonly name: string;
  readonly path: string;
  readonly init?: Parameters<TestCluster['fetch']>[1];
  readonly verb: string;
  readonly events: readonly (readonly [name: string, attributes?: object])[];
  readonly within: readonly (readonly [
    name: string,
    attributes: object,
    events: readonly (readonly [name: string, attributes?: object])[],
  ])[];
}

const maps = '/api/v1/namespaces/default/configmaps';
const store = { key: '/configmaps/default/x', resource: 'configmaps', 'audit-id': expect.any(String) as string };
const written: Asked['events'] = [['About to write a response'], ['Writing http response done']];
const sent: Asked['events'] = [['About to start writing response'], ['Write call succeeded', { size: expect.any(Number) as number }]];
const encoded: Asked['events'] = [['About to Encode'], ['Encode succeeded', { len: expect.any(Number) as number }]];
const shown = { mediaType: 'application/json', 'audit-id': expect.any(String) as string };
it.each<Asked>([
  {
    name: 'a get',
    path: `${maps}/there`,
    verb: 'Get',
    events: [['About to Get from storage'], ...written],
    within: [
      ['cacher.Get', { key: '/configmaps/default/there', 'resource-version': '' }, expect.any(Array) as []],
      ['SerializeObject', { ...shown, method: 'GET', url: `${maps}/there` }, sent],
    ],
  },
  {
    name: 'a list',
    path: maps,
    verb: 'List',
    events: [],
    within: [
      ['cacher.GetList', { type: 'configmaps' }, [['Ready'], ['watchCache fresh enough'], ['Filtered items', { count: 1 }]]],
      ['SerializeObject', shown, sent],
    ],
  },
  {
    name: 'a watch',
    path: `${maps}?watch=1&timeoutSeconds=1`,
    verb: 'WatchServer.HandleHTTP',
    events: [['About to start writing response']],
    within: [['cacher.Watch', { type: 'configmaps' }, []]],
  },
  {
    name: 'a create',
    path: maps,
    init: { body: { metadata: { name: 'x' } } },
    verb: 'Create',
    events: [
      ['limitedReadBody succeeded', { len: 25 }],
      ...[['About to convert to expected version'], ['Conversion done'], ['About to store object in database']].map(
        (one) => one as [string],
      ),
      ['Write to database call succeeded', { len: 25 }],
      ...written,
    ],
    within: [
      ['Create etcd3', store, [...encoded, ['Txn call succeeded']]],
      ['SerializeObject', shown, sent],
    ],
  },
  {
    name: 'a patch',
    path: `${maps}/there`,
    init: { method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' }, body: { data: { a: 'b' } } },
    verb: 'Patch',
    events: [
      ['limitedReadBody succeeded', { len: 18 }],
      ['Recorded the audit event'],
      ['About to apply patch'],
      ['About to check admission control'],
      ['Object stored in database'],
      ...written,
    ],
    within: [
      [
        'GuaranteedUpdate etcd3',
        { key: '/configmaps/default/there', group: '' },
        [['initial value restored'], ...encoded, ['Transaction prepared'], ['Txn call completed'], ['Transaction committed']],
      ],
      ['SerializeObject', shown, sent],
    ],
  },
])("$name records events in the verb's span", async ({ path, init = {}, verb, events, within }) => {
  const spans = await spansOf(0, async (cluster) => {
    expect((await cluster.fetch(maps, { body: { metadata: { name: 'there' } } })).status).toBe(201);
    await (await cluster.fetch(path, { ...init, headers: { ...init.headers, traceparent: sampled } })).text();
  });
  const [above] = spans.filter(({ name }) => name === verb);
  const parts = spans.filter(({ parentSpanId }) => above && parentSpanId === above.spanId);
  expect(parts.map(({ name, attributes, events: recorded }) => [name, attributes, recorded])).toEqual(
    within.map(([name, attributes, expected]) => [name, expect.objectContaining(attributes) as object, expected]),
  );
  expect(above?.events).toEqual(events);
});

it.each([
  {
    name: 'a request that a trusted client does not sample is not sampled',
    rate: 1_000_000,
    as: 'admin',
    header: sampled.replace(/01$/, '00'),
    want: 0,
  },
  { name: 'without a parent and a rate nothing is sampled', rate: 0, as: 'admin', header: undefined, want: 0 },
  { name: 'without a parent the rate applies', rate: 1_000_000, as: 'admin', header: undefined, want: 1 },
  { name: 'untrusted clients cannot have requests sampled', rate: 0, as: 'alice', header: sampled, want: 0 },
  { name: 'an invalid header is ignored', rate: 0, as: 'admin', header: `00-${'0'.repeat(32)}-${span}-01`, want: 0 },
])('$name', async ({ rate, as, header, want }) => {
  const spans = await spansOf(rate, (cluster) => cluster.fetch('/version', { as, headers: header ? { traceparent: header } : {} }));
  expect(spans.filter(({ attributes }) => attributes['url.path'] === '/version')).toHaveLength(want);
});

it("links new traces of untrusted clients to the client's", async () => {
  const spans = await spansOf(1_000_000, (cluster) => cluster.fetch('/version', { as: 'alice', headers: { traceparent: sampled } }));
  const [request] = spans.filter(({ attributes }) => attributes['url.path'] === '/version');
  expect([request?.name, request?.parentSpanId, request?.traceId === trace, request?.links]).toEqual([
    'GET',
    '',
    false,
    [`${trace}-${span}`],
  ]);
});

it('an unreachable collector does not affect requests', async () => {
  const tracing = { endpoint: '127.0.0.1:1', samplingRatePerMillion: 1_000_000 };
  const cluster = await startTestCluster({ config: { tracing } });
  expect((await cluster.fetch('/version')).status).toBe(200);
  await cluster[Symbol.asyncDispose]();
}, 30_000);

it('passes the trace context to webhooks', async () => {
  const received: unknown[] = [];
  using webhook = await startWebhook((review, { headers: { traceparent } }) => {
    received.push(traceparent);
    const { uid } = review['request'] as { uid: string };
    return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, allowed: true } };
  });
  const hook = {
    name: 'a.example.com',
    clientConfig: { url: `https://localhost:${webhook.port}/`, caBundle: Buffer.from(webhook.certificateAuthority).toString('base64') },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  const spans = await spansOf(0, async (cluster) => {
    const configuration = { metadata: { name: 'a' }, webhooks: [hook] };
    const made = await cluster.fetch('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', { body: configuration });
    expect(made.status).toBe(201);
    const headers = { traceparent: sampled, tracestate: 'a=b' };
    expect((await cluster.fetch('/api/v1/namespaces/default/configmaps', { body: { metadata: { name: 'c' } }, headers })).status).toBe(201);
  });
  const request = spans.find(({ kind }) => kind === 2);
  const call = spans.find(({ name }) => name === 'Call validating webhook');
  expect(call?.events).toEqual([['Request completed']]);
  expect(call?.attributes).toMatchObject({
    configuration: 'a',
    webhook: 'a.example.com',
    resource: '/v1, Resource=configmaps',
    operation: 'CREATE',
  });
  expect([request?.name, received]).toEqual(['POST /api/v1/namespaces/{:namespace}/configmaps', [`00-${trace}-${request?.spanId}-01`]]);
});
