import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startTestCluster } from '#testing/index';
import { customKinds, type Json, kind, type Kind, open, patch, widget } from './custom-kinds.ts';
import { startWebhook } from './webhook-server.ts';

/** A webhook that converts `spec.host` and `spec.port` of v1 to `spec.address` of v2. */
interface Review {
  readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: Json[] };
}
type Answerer = (review: Review) => Json;

const cluster = await startTestCluster();
const { call, define, definitions } = customKinds(cluster);
const requests: Review[] = [];
let answer: Answerer;
const server = await startWebhook((body) => {
  const review = body as Review;
  requests.push(review);
  return answer(review);
});
const { certificateAuthority } = server;
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  server[Symbol.dispose]();
});
beforeEach(() => {
  requests.length = 0;
  answer = converting;
});

const reviewed = (uid: string, response: Json): Json => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'ConversionReview',
  response: { uid, ...response },
});
const success = ({ request }: Review, convertedObjects: unknown[]): Json =>
  reviewed(request.uid, { convertedObjects, result: { status: 'Success' } });
const converting: Answerer = (review) =>
  success(
    review,
    review.request.objects.map((object) => converted(object, review)),
  );

function converted(object: Json, { request: { desiredAPIVersion } }: Review): Json {
  // The field manager also converts objects without their owned fields.
  const spec = (object['spec'] ?? {}) as Json;
  const [host, port] = String(spec['address'] ?? '').split(':');
  return {
    ...object,
    apiVersion: desiredAPIVersion,
    ...(object['spec'] !== undefined && {
      spec: desiredAPIVersion.endsWith('/v2') ? { address: `${spec['host']}:${spec['port']}` } : { host, port },
    }),
  };
}

function convertedKind(more: Json = {}): Kind {
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: open } } };
  const { port } = server;
  const clientConfig = {
    url: `https://127.0.0.1:${port}/convert`,
    caBundle: Buffer.from(certificateAuthority).toString('base64'),
    ...more,
  };
  return kind(
    {},
    {},
    {
      conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } },
      versions: [
        { name: 'v1', served: true, storage: true, schema },
        { name: 'v2', served: true, storage: false, schema },
      ],
    },
  );
}

const spec = { host: 'a.dev', port: '80' };

describe('a conversion webhook', () => {
  it('converts stored objects on reads and writes', async () => {
    const widgets = convertedKind();
    await define(widgets);
    await call(widgets.path(), { body: widget(widgets, 'a', { spec }) });
    expect(requests).toEqual([]);
    expect((await call(`${widgets.path('v2')}/a`)).body).toMatchObject({
      apiVersion: `${widgets.group}/v2`,
      spec: { address: 'a.dev:80' },
    });
    const changed = await call(`${widgets.path('v2')}/a`, patch('merge', { spec: { address: 'b.dev:81' } }));
    expect(changed.body).toMatchObject({ metadata: { generation: 2 }, spec: { address: 'b.dev:81' } });
    expect((await call(`${widgets.path('v1')}/a`)).body['spec']).toEqual({ host: 'b.dev', port: '81' });
    const created = await call(widgets.path('v2'), { body: widget(widgets, 'c', { spec: { address: 'c.dev:82' } }, 'v2') });
    expect(created.body).toMatchObject({ apiVersion: `${widgets.group}/v2`, spec: { address: 'c.dev:82' } });
    expect((await call(`${widgets.path('v1')}/c`)).body['spec']).toEqual({ host: 'c.dev', port: '82' });
  });

  // Recorded from kube-apiserver: the managers of each version are compared with the object in that version.
  it('converts for the managers of other versions', async () => {
    const widgets = convertedKind();
    await define(widgets);
    await call(`${widgets.path('v1')}/a?fieldManager=one`, {
      ...patch('apply', { ...widget(widgets, 'a', { spec }) }),
    });
    const next = (address: string): Json => widget(widgets, 'a', { spec: { address } }, 'v2');
    const refused = await call(`${widgets.path('v2')}/a?fieldManager=two`, patch('apply', next('b.dev:80')));
    expect([refused.code, refused.body['message']]).toEqual([409, 'Apply failed with 1 conflict: conflict with "one": .spec.host']);
    const forced = await call(`${widgets.path('v2')}/a?fieldManager=two&force=true`, patch('apply', next('b.dev:80')));
    const owned = (body: Json): [string, Json][] =>
      ((body['metadata'] as Json)['managedFields'] as Json[]).map((entry) => [entry['manager'] as string, entry['fieldsV1'] as Json]);
    expect(owned(forced.body)).toEqual([
      ['one', { 'f:spec': { 'f:port': {} } }],
      ['two', { 'f:spec': { 'f:address': {} } }],
    ]);
    const changed = await call(`${widgets.path('v1')}/a?fieldManager=three`, patch('merge', { spec: { port: '81' } }));
    expect(owned(changed.body)).toEqual([['three', { 'f:spec': { 'f:port': {} } }]]);
    await call(`${widgets.path('v2')}/a?fieldManager=two&force=true`, patch('apply', next('c.dev:83')));
    answer = ({ request: { uid } }) => reviewed(uid, { result: { status: 'Failure', message: 'not today' } });
    const failed = await call(`${widgets.path('v1')}/a?fieldManager=three`, patch('merge', { spec: { port: '82' } }));
    expect([failed.code, (failed.body['metadata'] as Json)['managedFields']]).toEqual([200, undefined]);
  });

  it('receives a list as one batch', async () => {
    const widgets = convertedKind();
    await define(widgets);
    for (const name of ['a', 'b', 'c']) await call(widgets.path(), { body: widget(widgets, name, { spec }) });
    const { body } = await call(widgets.path('v2'));
    expect((body['items'] as Json[]).map((item) => (item['spec'] as Json)['address'] as string)).toEqual([
      'a.dev:80',
      'a.dev:80',
      'a.dev:80',
    ]);
    expect(requests.map(({ request }) => request.objects.length)).toContain(3);
  });

  it('converts events for watches of another version', async () => {
    const widgets = convertedKind();
    await define(widgets);
    await call(widgets.path('v2'));
    const watch = await cluster.fetch(`${widgets.path('v2')}?watch=1&timeoutSeconds=1`);
    await call(widgets.path(), { body: widget(widgets, 'a', { spec }) });
    const [event = '{}'] = (await watch.text()).split('\n');
    expect(JSON.parse(event)).toMatchObject({
      type: 'ADDED',
      object: { apiVersion: `${widgets.group}/v2`, spec: { address: 'a.dev:80' } },
    });
  });

  it('can change only labels and annotations of the metadata', async () => {
    answer = (review) =>
      success(
        review,
        review.request.objects.map((object) => ({
          ...converted(object, review),
          metadata: { ...(object['metadata'] as Json), labels: { by: 'webhook' }, finalizers: ['test.dev/x'], generation: 7 },
        })),
      );
    const widgets = convertedKind();
    await define(widgets);
    await call(widgets.path(), { body: widget(widgets, 'a', { spec }) });
    const { metadata } = (await call(`${widgets.path('v2')}/a`)).body as { metadata: Json };
    expect(metadata).toMatchObject({ labels: { by: 'webhook' }, generation: 1 });
    expect(metadata['finalizers']).toBeUndefined();
  });

  const wrong: [string, Answerer, string][] = [
    ['refuses', ({ request: { uid } }) => reviewed(uid, { result: { status: 'Failure', message: 'not today' } }), 'failed: not today'],
    ['reports no result', ({ request: { uid } }) => reviewed(uid, {}), "failed: response.result.status was '', not 'Success'"],
    ['returns nothing', () => ({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' }), 'failed: no response provided'],
    [
      'returns another kind',
      () => ({ apiVersion: 'v1', kind: 'Pod' }),
      'failed: no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
    ],
    [
      'returns another version',
      (review) => ({ ...success(review, []), apiVersion: 'apiextensions.k8s.io/v1beta1' }),
      'failed: converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion',
    ],
    [
      'returns a string',
      () => '<html>' as never,
      `failed: couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
    ],
    ['loses objects', (review) => success(review, []), 'returned 0 objects, expected 1'],
    [
      'converts no objects',
      (review) => success(review, review.request.objects),
      'returned invalid object at index 0: invalid groupVersion (expected GROUP/v2, received GROUP/v1)',
    ],
    [
      'renames objects',
      (review) =>
        success(
          review,
          review.request.objects.map((object) => ({ ...converted(object, review), metadata: { name: 'x' } })),
        ),
      'returned invalid object: must have the same name: a != x',
    ],
    [
      'adds invalid labels',
      (review) =>
        success(
          review,
          review.request.objects.map((object) => ({
            ...converted(object, review),
            metadata: { ...(object['metadata'] as Json), labels: { x: 1 } },
          })),
        ),
      'returned invalid metadata: metadata.labels[x] must be a string, but is int64 in converted object',
    ],
    [
      'adds a label without a value',
      (review) =>
        success(
          review,
          review.request.objects.map((object) => ({
            ...converted(object, review),
            metadata: { ...(object['metadata'] as Json), labels: { x: null } },
          })),
        ),
      'returned invalid metadata: metadata.labels[x] must be a string, but is <nil> in converted object',
    ],
  ];
  it.each(wrong)('that %s fails the request', async (_, answerer, message) => {
    const widgets = convertedKind();
    await define(widgets);
    await call(widgets.path(), { body: widget(widgets, 'a', { spec }) });
    answer = answerer;
    const { code, body } = await call(`${widgets.path('v2')}/a`);
    const text = `conversion webhook for ${widgets.group}/v1, Kind=Widget ${message.replaceAll('GROUP', widgets.group)}`;
    expect([code, body['message']]).toEqual([500, text]);
    answer = converting;
    expect((await call(`${widgets.path('v1')}/a`)).code).toBe(200);
  });

  // Recorded from kube-apiserver, which serves the other lists after three seconds, from etcd.
  it('that fails for one object fails the requests that read it, and no others', async () => {
    const widgets = convertedKind();
    await define(widgets);
    const v2 = widgets.path('v2');
    await call(widgets.path(), { body: widget(widgets, 'a', { spec }) });
    expect((await call(v2)).body).toMatchObject({ items: [{ metadata: { name: 'a' } }] });
    answer = (review) =>
      review.request.objects.some((object) => (object['metadata'] as Json)['name'] === 'bad')
        ? reviewed(review.request.uid, { result: { status: 'Failure', message: 'why' } })
        : converting(review);
    await call(widgets.path(), { body: widget(widgets, 'bad', { spec }) });
    const failed = { code: 500, body: { message: `conversion webhook for ${widgets.group}/v1, Kind=Widget failed: why` } };
    const elsewhere = v2.replace('/default/', '/kube-system/');
    await vi.waitFor(async () => expect((await call(elsewhere)).body).toMatchObject({ kind: 'WidgetList', items: [] }));
    expect(await call(v2)).toMatchObject(failed);
    expect(await call(`${v2}/bad`)).toMatchObject(failed);
    expect((await call(`${v2}/a`)).code).toBe(200);
    expect((await call(`${v2}?fieldSelector=metadata.name%3Da`)).body).toMatchObject({ items: [{ metadata: { name: 'a' } }] });
    expect((await call(elsewhere)).code).toBe(200);
    expect((await call(`${v2}?watch=1&timeoutSeconds=1`)).code).toBe(429);
    expect((await call(widgets.path())).body).toMatchObject({ items: [{}, {}] });
    await call(`${widgets.path()}/bad`, { method: 'DELETE' });
    await vi.waitFor(async () => expect((await call(v2)).body).toMatchObject({ items: [{ metadata: { name: 'a' } }] }));
    answer = converting;
  }, 40_000);

  it('that is unreachable fails requests of other versions until it recovers', async () => {
    const widgets = convertedKind({ url: 'https://127.0.0.1:1/convert', caBundle: undefined });
    await define(widgets);
    await call(widgets.path(), { body: widget(widgets, 'a', { spec }) });
    const { code, body } = await call(`${widgets.path('v2')}/a`);
    expect([code, body['message']]).toEqual([
      500,
      `conversion webhook for ${widgets.group}/v1, Kind=Widget failed: Post "https://127.0.0.1:1/convert?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused`,
    ]);
    const { port } = server;
    const clientConfig = { url: `https://127.0.0.1:${port}/convert` };
    await call(`${definitions}/${widgets.name}`, patch('merge', { spec: { conversion: { webhook: { clientConfig } } } }));
    expect((await call(`${widgets.path('v2')}/a`)).body['message']).toContain('x509: certificate signed by unknown authority');
    const trusted = { caBundle: Buffer.from(certificateAuthority).toString('base64') };
    await call(`${definitions}/${widgets.name}`, patch('merge', { spec: { conversion: { webhook: { clientConfig: trusted } } } }));
    expect((await call(`${widgets.path('v2')}/a`)).body['spec']).toEqual({ address: 'a.dev:80' });
  });

  it('applies between versions without a common field', async () => {
    const text = (name: string) => ({
      type: 'object',
      properties: { spec: { type: 'object', properties: { [name]: { type: 'string' } } } },
    });
    const widgets = convertedKind();
    for (const [version, field] of (widgets.spec['versions'] as Json[]).map((one, i) => [one, i === 0 ? 'host' : 'address'] as const))
      version['schema'] = { openAPIV3Schema: text(field) };
    await define(widgets);
    answer = (review) =>
      success(
        review,
        review.request.objects.map((object) => {
          const { host, address } = (object['spec'] ?? {}) as Json;
          const value = host ?? address;
          const isV2 = review.request.desiredAPIVersion.endsWith('/v2');
          return { ...object, apiVersion: review.request.desiredAPIVersion, spec: isV2 ? { address: value } : { host: value } };
        }),
      );
    const apply = (version: string, content: Json) =>
      call(`${widgets.path(version)}/a?fieldManager=me`, patch('apply', widget(widgets, 'a', { spec: content }, version)));
    expect((await apply('v2', { address: 'x' })).code).toBe(201);
    const again = await apply('v1', { host: 'y' });
    expect([again.code, again.body['spec']]).toEqual([200, { host: 'y' }]);
    const changed = await call(`${widgets.path('v2')}/a?fieldManager=other`, patch('merge', { spec: { address: 'z' } }));
    const owners = (changed.body['metadata']['managedFields'] as Json[]).map(
      ({ manager, apiVersion }) => [manager, apiVersion] as unknown[],
    );
    // The other change is one of the field in v1, too.
    expect(owners).toEqual([['other', `${widgets.group}/v2`]]);
  });

  it('with a missing service is reported', async () => {
    const widgets = convertedKind({ url: undefined, service: { namespace: 'default', name: 'nowhere' } });
    await define(widgets);
    await call(widgets.path(), { body: widget(widgets, 'a', { spec }) });
    expect((await call(`${widgets.path('v2')}/a`)).body['message']).toBe(
      `conversion webhook for ${widgets.group}/v1, Kind=Widget failed: Post "https://nowhere.default.svc:443/?timeout=30s": service "nowhere" not found`,
    );
  });

  it('is counted and measured by definition', async () => {
    const widgets = convertedKind();
    await define(widgets);
    await call(widgets.path(), { body: widget(widgets, 'a', { spec }) });
    const counts = async (): Promise<Record<string, number>> => {
      const { body } = await call('/metrics');
      const lines = (body['text'] as string).split('\n').filter((line) => line.startsWith('apiserver_conversion_webhook_request_total{'));
      return Object.fromEntries(lines.map((line) => [/failure_type="(\w*)"/.exec(line)?.[1] || 'none', Number(line.split(' ').at(-1))]));
    };
    const before = await counts();
    await call(`${widgets.path('v2')}/a`);
    answer = (review) => success(review, []);
    const refused = convertedKind();
    await define(refused);
    await call(refused.path(), { body: widget(refused, 'a', { spec }) });
    await call(`${refused.path('v2')}/a`);
    answer = converting;
    const after = await counts();
    expect(after['none']).toBeGreaterThan(before['none'] ?? 0);
    expect(after['conversion_webhook_partial_response_failure']).toBeGreaterThan(
      before['conversion_webhook_partial_response_failure'] ?? 0,
    );
    const metrics = (await call('/metrics')).body['text'] as string;
    const labels = (name: string, succeeded: boolean) => `crd_name="${name}",from_version="v1",succeeded="${succeeded}",to_version="v2"`;
    expect(metrics).toContain(`apiserver_crd_conversion_webhook_duration_seconds_count{${labels(widgets.name, true)}}`);
    expect(metrics).toContain(`apiserver_crd_conversion_webhook_duration_seconds_count{${labels(refused.name, false)}}`);
    expect(metrics).toContain('apiserver_conversion_webhook_duration_seconds_bucket{failure_type="",result="success",le="0.005"}');
  });
});
