import { Buffer } from 'node:buffer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeCbor, parseCbor } from '#apimachinery/runtime/cbor/cbor';
import { startTestCluster, type TestCluster, type TestRequest } from '#testing/index';
import { customKinds, type Kind } from './custom-kinds.ts';

type Json = Record<string, unknown>;

interface Answer {
  readonly status: number;
  readonly type: string | null;
  readonly warning: string | null;
  readonly bytes: Buffer;
}

const cbor = 'application/cbor';
const configMaps = '/api/v1/namespaces/default/configmaps';
const widgets = '/apis/cbor.example.com/v1/namespaces/default/widgets';
const inVersion = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: ';
const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const configMap = (name: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { k: 'v' },
  ...more,
});
const widget = (name: string, more: object = {}) => ({ apiVersion: 'cbor.example.com/v1', kind: 'Widget', metadata: { name }, ...more });

const widgetKind: Kind = {
  group: 'cbor.example.com',
  name: 'widgets.cbor.example.com',
  path: () => widgets,
  spec: {
    group: 'cbor.example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer' },
                  ratio: { type: 'number' },
                  raw: { type: 'string', format: 'byte' },
                  replicas: { type: 'integer' },
                  any: { 'x-kubernetes-preserve-unknown-fields': true },
                },
              },
            },
          },
        },
      },
    ],
  },
};

/** Parses a sequence of events; each item starts with the CBOR tag and has another one in its object. */
function events(bytes: Buffer): Json[] {
  const marks = [...bytes.toString('latin1').matchAll(/\xd9\xd9\xf7\xa2D/g)].map(({ index }) => index);
  return marks.map((start, i) => parseCbor(bytes.subarray(start, marks[i + 1])) as Json);
}

describe('CBOR', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startTestCluster({
      flags: ['--feature-gates=CBORServingAndStorage=true'],
      quiet: true,
      users: [{ name: 'alice', groups: [] }],
    });
    await customKinds(cluster).define(widgetKind);
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  async function ask(
    path: string,
    request: Omit<TestRequest, 'body'> & { readonly body?: object | Buffer; readonly accept?: string } = {},
  ): Promise<Answer> {
    const { body, accept = cbor, headers, ...rest } = request;
    const response = await cluster.fetch(path, {
      ...rest,
      headers: { accept, ...(body && { 'content-type': cbor }), ...headers },
      ...(body && { body: Buffer.isBuffer(body) ? body : encodeCbor(undefined, body) }),
    });
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      warning: response.headers.get('warning'),
      bytes: Buffer.from(await response.arrayBuffer()),
    };
  }

  /** Returns the status code and message of a rejected request. */
  async function refusal(
    path: string,
    body: object | Buffer,
    request: Omit<TestRequest, 'body'> = {},
  ): Promise<readonly [number, unknown]> {
    const { status, type, bytes } = await ask(path, { ...request, body });
    expect(type).toBe(cbor);
    return [status, (parseCbor(bytes) as Json)['message']];
  }

  const parsed = ({ bytes }: Answer) => parseCbor(bytes) as Json & { metadata: Json; items: Json[] };

  it('creates, reads, lists, updates, applies and deletes objects', async () => {
    const created = await ask(configMaps, { body: configMap('life', { binaryData: { b: 'aGk=' } }) });
    expect([created.status, created.type, created.bytes.subarray(0, 3).toString('hex')]).toEqual([201, cbor, 'd9d9f7']);
    // Bytes are encoded as byte strings.
    expect(created.bytes.includes(hex('4162 d6 426869'))).toBe(true);
    const object = parsed(created);
    expect(object).toMatchObject(configMap('life', { binaryData: { b: 'aGk=' } }));
    const path = `${configMaps}/life`;
    expect(parsed(await ask(path))).toEqual(await (await cluster.fetch(path)).json());
    const list = `${configMaps}?fieldSelector=metadata.name=life`;
    expect(parsed(await ask(list))).toEqual(await (await cluster.fetch(list)).json());
    const put = await ask(path, { method: 'PUT', body: { ...object, data: { k: 'w' } } });
    expect([put.status, parsed(put)['data']]).toEqual([200, { k: 'w' }]);
    const patched = await ask(path, {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: Buffer.from('{"data":{"l":"m"}}'),
    });
    expect(parsed(patched)['data']).toEqual({ k: 'w', l: 'm' });
    const applied = await ask(`${path}?fieldManager=test&force=true`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/apply-patch+cbor' },
      body: configMap('life', { data: { k: 'applied' } }),
    });
    expect([applied.status, parsed(applied)['data']]).toEqual([200, { k: 'applied', l: 'm' }]);
    const kept = await ask(path, { method: 'DELETE', body: { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] } });
    expect([kept.status, parsed(kept)['status']]).toEqual([200, 'Success']);
    const deleted = await ask(path, { method: 'DELETE', body: { gracePeriodSeconds: 0 } });
    expect([deleted.status, parsed(deleted)['status']]).toEqual([200, 'Success']);
    expect((await ask(path)).status).toBe(404);
  });

  it('supports custom resources, too', async () => {
    const spec = { size: 5, ratio: 1.5, raw: 'aGk=', any: { z: 1, a: [null, 'x'] } };
    const created = await ask(widgets, { body: widget('a', { spec }) });
    expect([created.status, created.type, parsed(created)['spec']]).toEqual([201, cbor, spec]);
    const path = `${widgets}/a`;
    expect(parsed(await ask(path))).toEqual(await (await cluster.fetch(path)).json());
    expect(parsed(await ask(widgets))).toEqual(await (await cluster.fetch(widgets)).json());
    const put = await ask(path, { method: 'PUT', body: { ...parsed(created), spec: { size: 6 } } });
    expect([put.status, parsed(put)['spec']]).toEqual([200, { size: 6 }]);
    const applied = await ask(`${path}?fieldManager=test&force=true`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/apply-patch+cbor' },
      body: widget('a', { spec: { replicas: 2 } }),
    });
    expect([applied.status, parsed(applied)['spec']]).toEqual([200, { size: 6, replicas: 2 }]);
    expect(parsed(await ask(`${path}/scale`))).toMatchObject({ kind: 'Scale', spec: { replicas: 2 } });
    const scaled = await ask(`${path}/scale`, {
      method: 'PUT',
      body: { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a' }, spec: { replicas: 3 } },
    });
    expect([scaled.status, parsed(scaled)['spec']]).toEqual([200, { replicas: 3 }]);
    expect((await ask(path, { method: 'DELETE' })).status).toBe(200);
  });

  it('accepts large bodies', async () => {
    const entries = Object.fromEntries(Array.from({ length: 4_000 }, (_, i) => [`key-${i}`, `${i}`.repeat(10)]));
    const made = await ask(configMaps, { body: configMap('large', { data: entries }) });
    expect([made.status, parsed(made)['data']]).toEqual([201, entries]);
    const custom = await ask(widgets, { body: widget('large', { spec: { any: entries } }) });
    expect([custom.status, parsed(custom)['spec']]).toEqual([201, { any: entries }]);
    const applied = await ask(`${configMaps}/large?fieldManager=test&force=true`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/apply-patch+cbor' },
      body: configMap('large', { data: { ...entries, more: 'x' } }),
    });
    expect([applied.status, parsed(applied)['data']]).toEqual([200, { ...entries, more: 'x' }]);
    for (const path of [`${configMaps}/large`, `${widgets}/large`]) await ask(path, { method: 'DELETE' });
    expect(await refusal(configMaps, configMap('bad', { data: { ...entries, last: 5 } }))).toEqual([
      400,
      `${inVersion}cbor: cannot unmarshal positive integer into Go struct field v1.ConfigMap.data of type string`,
    ]);
  });

  it('returns partial metadata', async () => {
    await ask(configMaps, { body: configMap('partial') });
    const list = `${configMaps}?fieldSelector=metadata.name=partial`;
    for (const as of ['PartialObjectMetadata', 'PartialObjectMetadataList']) {
      const form = `as=${as};v=v1;g=meta.k8s.io`;
      const path = as.endsWith('List') ? list : `${configMaps}/partial`;
      const want = await (await cluster.fetch(path, { headers: { accept: `application/json;${form}` } })).json();
      expect(parsed(await ask(path, { accept: `${cbor};${form}` }))).toEqual(want);
    }
  });

  it('encodes watch events as a sequence', async () => {
    const { metadata } = parsed(await ask(configMaps, { body: configMap('watched') }));
    await ask(`${configMaps}/watched`, { method: 'DELETE' });
    const query = 'watch=1&timeoutSeconds=1&fieldSelector=metadata.name=watched';
    const since = Number(metadata['resourceVersion']) - 1;
    const watched = await ask(`${configMaps}?${query}&resourceVersion=${since}`);
    expect([watched.status, watched.type]).toEqual([200, 'application/cbor-seq']);
    expect(events(watched.bytes)).toMatchObject([
      { type: 'ADDED', object: { kind: 'ConfigMap', metadata: { uid: metadata['uid'] } } },
      { type: 'DELETED', object: { kind: 'ConfigMap', metadata: { uid: metadata['uid'] } } },
    ]);
    const partial = `${cbor};as=PartialObjectMetadata;v=v1;g=meta.k8s.io`;
    expect(events((await ask(`${configMaps}?${query}&resourceVersion=${since}`, { accept: partial })).bytes)).toMatchObject([
      { type: 'ADDED', object: { kind: 'PartialObjectMetadata' } },
      { type: 'DELETED', object: { kind: 'PartialObjectMetadata' } },
    ]);
    const custom = await ask(
      `${widgets}?watch=1&timeoutSeconds=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan`,
    );
    expect(events(custom.bytes)).toMatchObject([
      { type: 'BOOKMARK', object: { kind: 'Widget', metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } } },
    ]);
  });

  it.each([
    { name: 'errors of endpoints', path: `${configMaps}/none`, as: 'admin', type: cbor },
    { name: 'lists of resources', path: '/apis/apps/v1', as: 'admin', type: cbor },
    { name: 'errors before the endpoint', path: configMaps, as: 'alice', type: 'application/json' },
    { name: 'unknown resources', path: '/api/v1/foos', as: 'admin', type: 'application/json' },
    { name: 'a group', path: '/apis/apps', as: 'admin', type: 'application/json' },
    { name: 'the resources of a custom group', path: '/apis/cbor.example.com/v1', as: 'admin', type: 'application/json' },
  ])('encodes $name in $type', async ({ path, as, type }) => {
    expect((await ask(path, { as })).type).toBe(type);
  });

  const noKind = 'the object provided is unrecognized (must be of type ConfigMap): unable to determine group/version/kind: ';
  it.each<readonly [string, object | Buffer, string]>([
    ['JSON', Buffer.from('{"apiVersion":"v1","kind":"ConfigMap"}'), `${noKind}unexpected EOF ({"apiVersion":"v1","kind":"Con ...)`],
    ['nothing', Buffer.from([]), `${noKind}EOF (<empty>)`],
    ['a truncated body', hex('a44464617461a1416b4176446b696e6449'), `${noKind}unexpected EOF (a44464617461a1416b4176446b696e6449)`],
    [
      'NaN',
      hex('d9d9f7a14161f97e00'),
      `${noKind}cbor: data item of cbor type primitives is not accepted by protocol: floating-point NaN (d9d9f7a14161f97e00)`,
    ],
    [
      'a list',
      [1],
      `${noKind}cbor: cannot unmarshal array into Go value of type v1.TypeMeta (cannot decode CBOR array to struct without toarray option) (d9d9f78101)`,
    ],
    [
      'a duplicate key',
      hex('a24261310142613102'),
      `${noKind}cbor: found duplicate map key "a1" at map element index 1 (a24261310142613102)`,
    ],
    [
      'another kind',
      { apiVersion: 'v1', kind: 'Secret' },
      'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    ],
    [
      'an unknown kind',
      { apiVersion: 'v2', kind: 'ConfigMap' },
      'ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "v2" in scheme "pkg/runtime/scheme.go:111"',
    ],
    [
      'data with numbers',
      configMap('bad', { data: { k: 5 } }),
      `${inVersion}cbor: cannot unmarshal positive integer into Go struct field v1.ConfigMap.data of type string`,
    ],
    [
      'data that is a string',
      configMap('bad', { data: 'x' }),
      `${inVersion}cbor: cannot unmarshal byte string into Go struct field v1.ConfigMap.data of type map[string]string`,
    ],
    [
      'bytes that are not base64',
      configMap('bad', { binaryData: { a: 'a!' } }),
      `${inVersion}cbor: failed to decode base64 from byte string: illegal base64 data at input byte 1`,
    ],
  ])('rejects %s', async (_, body, message) => {
    expect(await refusal(configMaps, body)).toEqual([400, message]);
  });

  it('warns about unknown fields, or rejects them', async () => {
    const unknown = 'cbor: found unknown field at map element index 0';
    const body = configMap('unknown', { foo: 1, bar: 2 });
    expect(await refusal(`${configMaps}?fieldValidation=Strict`, body)).toEqual([400, `${inVersion}strict decoding error: ${unknown}`]);
    expect((await ask(`${configMaps}?fieldValidation=Warn`, { body })).warning).toBe(`299 - "${unknown}"`);
    expect((await ask(`${configMaps}?fieldValidation=Ignore&dryRun=All`, { body: configMap('ignored', { foo: 1 }) })).warning).toBeNull();
    // Custom resources drop them.
    const custom = await ask(`${widgets}?fieldValidation=Strict&dryRun=All`, { body: widget('u', { spec: { foo: 1 } }) });
    expect([custom.status, parsed(custom)['spec']]).toEqual([201, {}]);
  });

  const noWidget = 'the object provided is unrecognized (must be of type Widget): ';
  it.each<readonly [string, object | Buffer, number, string]>([
    [
      'a missing kind',
      { metadata: { n: [1, 1.5, -3, true, null], t: "it's \n" } },
      400,
      String.raw`${noWidget}Object 'Kind' is missing in '55799({'metadata': {'n': [1, 1.5, -3, true, null], 't': 'it\'s \n'}})' (d9d9f7a1486d65746164617461a2416e8501f93e0022f5f6417446697427 ...)`,
    ],
    [
      'a missing version',
      { kind: 'Widget' },
      400,
      `Widget in version "" cannot be handled as a Widget: Object 'apiVersion' is missing in '55799({'kind': 'Widget'})'`,
    ],
    [
      'another version',
      { kind: 'Widget', apiVersion: 'cbor.example.com/v2' },
      400,
      'the API version in the data (cbor.example.com/v2) does not match the expected API version (cbor.example.com/v1)',
    ],
    ['null', hex('f6'), 400, `${noWidget}Object 'Kind' is missing in 'null' (f6)`],
    [
      'a key that is not a string',
      hex('a10501'),
      400,
      'Widget in version "v1" cannot be handled as a Widget: cbor: cannot unmarshal positive integer into Go value of type string',
    ],
    [
      'a number that is too large',
      hex('a141611bffffffffffffffff'),
      400,
      `Widget in version "v1" cannot be handled as a Widget: cbor: cannot unmarshal positive integer into Go value of type int64 (18446744073709551615 overflows Go's int64)`,
    ],
    [
      'metadata that is a string',
      widget('m', { metadata: 'x' }),
      400,
      'Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal string into Go value of type v1.ObjectMeta',
    ],
    [
      'a value of the wrong type',
      widget('w', { spec: { size: 'x' } }),
      422,
      'Widget.cbor.example.com "w" is invalid: spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
    ],
  ])('rejects a custom resource with %s', async (_, body, status, message) => {
    expect(await refusal(widgets, body)).toEqual([status, message]);
  });

  it.each<readonly [string, object | Buffer, number, string]>([
    ['a list', hex('80'), 400, 'error decoding YAML: cbor: cannot unmarshal array into Go value of type map[string]interface {}'],
    ['null', hex('f6'), 400, 'invalid object type: /, Kind='],
    ['nothing', hex(''), 400, 'error decoding YAML: EOF'],
    ['a break', hex('ff'), 400, 'error decoding YAML: cbor: unexpected "break" code'],
    ['another kind', { apiVersion: 'v1', kind: 'Pod' }, 400, 'invalid object type: /v1, Kind=Pod'],
    ['another name', configMap('c2'), 400, 'the name of the object (c2) does not match the name on the URL (applied)'],
    [
      'an unknown field',
      configMap('applied', { foo: 1 }),
      500,
      'failed to create typed patch object (/applied; /v1, Kind=ConfigMap): .foo: field not declared in schema',
    ],
  ])('rejects an apply of %s', async (_, body, status, message) => {
    const request = { method: 'PATCH', headers: { 'content-type': 'application/apply-patch+cbor' } };
    expect(await refusal(`${configMaps}/applied?fieldManager=test&force=true`, body, request)).toEqual([status, message]);
  });

  it.each<readonly [object | Buffer, string]>([
    [{ dryRun: 5 }, 'cbor: cannot unmarshal positive integer into Go struct field v1.DeleteOptions.dryRun of type []string'],
    [hex('ff'), 'unable to determine group/version/kind: cbor: unexpected "break" code'],
  ])('rejects options %#', async (body, message) => {
    expect(await refusal(`${configMaps}/any`, body, { method: 'DELETE' })).toEqual([400, message]);
  });

  it.each([
    {
      path: configMaps,
      method: 'POST',
      type: 'application/foo',
      message: /media types include: application\/json, application\/yaml, application\/vnd.kubernetes.protobuf, application\/cbor$/,
    },
    {
      path: `${widgets}/a`,
      method: 'PATCH',
      type: 'application/merge-patch+cbor',
      message: /merge-patch\+json, application\/apply-patch\+yaml, application\/apply-patch\+cbor$/,
    },
  ])('lists CBOR among the types that $method accepts', async ({ path, method, type, message }) => {
    const [status, text] = await refusal(path, hex('a0'), { method, headers: { 'content-type': type } });
    expect([status, text]).toEqual([415, expect.stringMatching(message)]);
  });

  it('is in the OpenAPI documents of built-in resources', async () => {
    const { paths } = (await (await cluster.fetch('/openapi/v2')).json()) as { paths: Record<string, Record<string, Json>> };
    const one = paths['/api/v1/namespaces/{namespace}/configmaps/{name}'];
    const json = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
    expect(one?.['get']?.['produces']).toEqual([...json, cbor]);
    expect(one?.['patch']?.['consumes']).toContain('application/apply-patch+cbor');
    const streams = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch', 'application/cbor-seq'];
    expect(paths['/api/v1/configmaps']?.['get']?.['produces']).toEqual([...json, cbor, ...streams]);
    expect(paths['/apis/apps/']?.['get']?.['produces']).toEqual(json);
    expect(paths['/apis/apps/v1/']?.['get']?.['produces']).toEqual([...json, cbor]);
  });
});

describe('without its gate', () => {
  it('is an unknown media type', async () => {
    await using cluster = await startTestCluster();
    const answered = await cluster.fetch(configMaps, { headers: { accept: cbor } });
    expect([answered.status, ((await answered.json()) as Json)['message']]).toEqual([
      406,
      '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
    ]);
    const sent = await cluster.fetch(configMaps, { headers: { 'content-type': cbor }, body: encodeCbor(undefined, configMap('a')) });
    expect([sent.status, ((await sent.json()) as Json)['message']]).toEqual([
      415,
      'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    ]);
    const headers = { 'content-type': 'application/apply-patch+cbor' };
    expect((await cluster.fetch(`${configMaps}/a?fieldManager=a`, { method: 'PATCH', headers, body: hex('a0') })).status).toBe(415);
  });
});
