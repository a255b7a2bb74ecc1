import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster, type TestRequest } from '#testing/index';

const configMaps = '/api/v1/namespaces/default/configmaps';
const merge = { 'content-type': 'application/merge-patch+json' };

interface Row {
  readonly name: string;
  readonly path: string;
  readonly request?: TestRequest;
  readonly code: number;
  readonly reason?: string;
  readonly message: RegExp;
}
const rows: readonly Row[] = [
  {
    name: 'invalid JSON',
    path: configMaps,
    request: { body: '{"metadata":' },
    code: 400,
    reason: 'BadRequest',
    message: /unexpected end of JSON input|unexpected EOF/,
  },
  {
    name: 'a list instead of an object',
    path: configMaps,
    request: { body: '[]' },
    code: 400,
    reason: 'BadRequest',
    message: /cannot unmarshal array into Go value/,
  },
  {
    name: 'deeply nested',
    path: configMaps,
    request: { body: '['.repeat(10_001) },
    code: 400,
    reason: 'BadRequest',
    message: /exceeded max depth/,
  },
  {
    name: 'too large',
    path: configMaps,
    request: { body: JSON.stringify({ metadata: { name: 'a' }, data: { k: 'x'.repeat(3 * 1024 * 1024) } }) },
    code: 413,
    reason: 'RequestEntityTooLarge',
    message: /limit is 3145728/,
  },
  {
    name: 'a value of the wrong type',
    path: configMaps,
    request: { body: { metadata: { name: 'a' }, data: 'x' } },
    code: 400,
    reason: 'BadRequest',
    message:
      /ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal string into Go struct field ConfigMap.data/,
  },
  {
    name: 'another kind',
    path: configMaps,
    request: { body: { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'a' } } },
    code: 400,
    reason: 'BadRequest',
    message: /Secret in version "v1" cannot be handled as a ConfigMap/,
  },
  {
    name: 'an unknown version',
    path: configMaps,
    request: { body: { kind: 'ConfigMap', apiVersion: 'v9', metadata: { name: 'a' } } },
    code: 400,
    reason: 'BadRequest',
    message: /no kind "ConfigMap" is registered for version "v9"/,
  },
  {
    name: 'another namespace',
    path: configMaps,
    request: { body: { metadata: { name: 'a', namespace: 'elsewhere' } } },
    code: 400,
    reason: 'BadRequest',
    message: /does not match the namespace sent on the request/,
  },
  {
    name: 'no name',
    path: configMaps,
    request: { body: { metadata: {} } },
    code: 422,
    reason: 'Invalid',
    message: /name or generateName is required/,
  },
  {
    name: 'a wrong name',
    path: configMaps,
    request: { body: { metadata: { name: 'A b' } } },
    code: 422,
    reason: 'Invalid',
    message: /lowercase RFC 1123 subdomain/,
  },
  {
    name: 'a name with a path separator',
    path: configMaps,
    request: { body: { metadata: { name: '../secrets/x' } } },
    code: 422,
    reason: 'Invalid',
    message: /lowercase RFC 1123 subdomain/,
  },
  {
    name: 'a missing namespace',
    path: '/api/v1/namespaces/none/configmaps',
    request: { body: { metadata: { name: 'a' } } },
    code: 404,
    reason: 'NotFound',
    message: /namespaces "none" not found/,
  },
  {
    name: 'unknown fields with strict validation',
    path: `${configMaps}?fieldValidation=Strict`,
    request: { body: { metadata: { name: 'a' }, extra: 1 } },
    code: 400,
    reason: 'BadRequest',
    message: /strict decoding error: unknown field "extra"/,
  },
  {
    name: 'duplicate fields with strict validation',
    path: `${configMaps}?fieldValidation=Strict`,
    request: { body: '{"metadata":{"name":"a"},"data":{"k":"1","k":"2"}}' },
    code: 400,
    reason: 'BadRequest',
    message: /duplicate field "data.k"/,
  },
  {
    name: 'an unknown content type',
    path: configMaps,
    request: { body: 'x', headers: { 'content-type': 'text/plain' } },
    code: 415,
    reason: 'UnsupportedMediaType',
    message: /accepted media types include/,
  },
  {
    name: 'an unknown patch type',
    path: `${configMaps}/a`,
    request: { method: 'PATCH', body: {}, headers: { 'content-type': 'application/json' } },
    code: 415,
    reason: 'UnsupportedMediaType',
    message: /^415: Unsupported Media Type$/,
  },
  {
    name: 'a patch of a missing object',
    path: `${configMaps}/none`,
    request: { method: 'PATCH', body: {}, headers: merge },
    code: 404,
    reason: 'NotFound',
    message: /configmaps "none" not found/,
  },
  {
    name: 'an update of a missing object',
    path: `${configMaps}/none`,
    request: { method: 'PUT', body: { metadata: { name: 'none' } } },
    code: 404,
    reason: 'NotFound',
    message: /configmaps "none" not found/,
  },
  {
    name: 'an invalid label selector',
    path: `${configMaps}?labelSelector=a%20b`,
    code: 400,
    reason: 'BadRequest',
    message: /unable to parse requirement|found 'b', expected/,
  },
  {
    name: 'an invalid field selector',
    path: `${configMaps}?fieldSelector=data.k%3Dv`,
    code: 400,
    reason: 'BadRequest',
    message: /field label not supported|not a known field selector/,
  },
  {
    name: 'an invalid continue token',
    path: `${configMaps}?continue=xyz`,
    code: 400,
    reason: 'BadRequest',
    message: /continue key is not valid/,
  },
  {
    name: 'a resourceVersion with a continue token',
    path: `${configMaps}?continue=xyz&resourceVersion=5&resourceVersionMatch=Exact`,
    code: 422,
    reason: 'Invalid',
    message: /resourceVersionMatch is forbidden when continue is provided/,
  },
  {
    name: 'an invalid resourceVersion',
    path: `${configMaps}?resourceVersion=foo`,
    code: 400,
    reason: 'BadRequest',
    message: /invalid resource version|Invalid value: "foo"/,
  },
  {
    name: 'an unknown resource',
    path: '/api/v1/namespaces/default/nothings',
    code: 404,
    reason: 'NotFound',
    message: /could not find the requested resource/,
  },
  {
    name: 'an unsupported method',
    path: configMaps,
    request: { method: 'PUT', body: {} },
    code: 405,
    reason: 'MethodNotAllowed',
    message: /does not allow this method/,
  },
  {
    name: 'a cluster-scoped kind in a namespace',
    path: '/api/v1/namespaces/default/nodes/n',
    code: 404,
    reason: 'NotFound',
    message: /could not find the requested resource/,
  },
  {
    name: 'an invalid dryRun value',
    path: `${configMaps}?dryRun=Some`,
    request: { body: { metadata: { name: 'a' } } },
    code: 422,
    reason: 'Invalid',
    message: /dryRun: Unsupported value/,
  },
];

describe('bad input is rejected like upstream, and nothing is stored', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startTestCluster();
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  it.each(rows)('$name', async ({ path, request, code, reason, message }) => {
    const response = await cluster.fetch(path, request);
    const status = (await response.json()) as { kind: string; reason?: string; message: string; code: number };
    expect({ kind: status.kind, code: response.status, reason: status.reason }).toEqual({ kind: 'Status', code, reason });
    expect(status.message).toMatch(message);
    expect(status.code).toBe(code);
    const list = (await (await cluster.fetch(configMaps)).json()) as { items: unknown[] };
    expect(list.items).toEqual([]);
  });

  it('answers in plain text for a group that no server serves', async () => {
    const response = await cluster.fetch('/apis/no.such.group/v1/things');
    expect([response.status, await response.text()]).toEqual([404, '404 page not found\n']);
  });
});
