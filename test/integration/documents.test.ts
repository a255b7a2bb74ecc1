import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from 'kubenest/testing';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster({ users: [{ name: 'jane' }], flags: ['--service-account-issuer=https://kubernetes.default.svc'] });
});
afterAll(() => cluster[Symbol.asyncDispose]());

// Status codes equal those of the real server. Clients generated from the OpenAPI documents use the trailing slash.
it.each([
  ['/version', 200],
  ['/version/', 200],
  ['/api', 200],
  ['/api/', 200],
  ['/apis', 200],
  ['/apis/', 200],
  ['/apis/apps/', 200],
  ['/apis/apps/v1/', 200],
  ['/healthz', 200],
  ['/healthz/', 404],
  ['/readyz/', 404],
  ['/livez/', 404],
  ['/openapi/v2/', 404],
  ['/openapi/v3/', 404],
  ['/metrics/', 404],
])('%s answers %i', async (path, status) => {
  expect((await cluster.fetch(path)).status).toBe(status);
});

const status = (code: number) => ({ type: 'application/json', body: expect.objectContaining({ kind: 'Status', code, details: {} }) });
const page = { type: 'text/plain; charset=utf-8', body: '404 page not found\n' };
const noUrl = (path: string) =>
  `Internal Server Error: "${path}": failed to create RequestInfo: unable to determine kind and namespace from url, ${path.split('?', 1)[0]}\n`;

// Paths served by go-restful upstream answer unknown methods and paths with a Status, all others with the plain page of its
// mux.
it.each<[method: string, path: string, code: number, answer: object]>([
  ['GET', '/version/x', 404, status(404)],
  ['POST', '/version/x', 404, status(404)],
  ['POST', '/version', 405, status(405)],
  ['OPTIONS', '/version/', 405, status(405)],
  ['GET', '/version//', 200, { type: 'application/json' }],
  ['GET', '/.well-known/openid-configuration/x', 404, status(404)],
  ['POST', '/.well-known/openid-configuration', 405, status(405)],
  ['DELETE', '/openid/v1/jwks', 405, status(405)],
  ['GET', '/openid/v1/jwks/x', 404, status(404)],
  ['GET', '/openid/v1', 404, page],
  ['GET', '/.well-known/x', 404, page],
  ['POST', '/api', 405, status(405)],
  ['PUT', '/api/v1', 405, status(405)],
  ['GET', '/api/v1//', 200, { type: 'application/json' }],
  ['POST', '/api/x', 404, status(404)],
  ['GET', '/api/x/y/z', 404, status(404)],
  ['POST', '/apis', 200, { type: 'application/json' }],
  ['POST', '/apis/apps', 200, { type: 'application/json' }],
  ['POST', '/apis/apps/v1', 405, status(405)],
  ['POST', '/apis/apps/v9', 404, status(404)],
  ['GET', '/apis/x', 404, page],
  ['GET', '/apis/x/y/z', 404, page],
  ['GET', '/healthz/x', 404, page],
  ['GET', '/readyz/x', 404, page],
  ['POST', '/livez/x', 404, page],
  ['POST', '/livez', 200, { type: 'text/plain; charset=utf-8', body: 'ok' }],
  ['GET', '/healthz/ping', 200, { type: 'text/plain; charset=utf-8', body: 'ok' }],
  ['GET', '/metrics/x', 404, page],
  ['GET', '/openapi/x', 404, page],
  ['GET', '/openapi/v2/x', 404, page],
  ['GET', '/x', 404, page],
  ['GET', '/api/v1/watch', 500, { type: 'text/plain; charset=utf-8', body: noUrl('/api/v1/watch') }],
  ['POST', '/api/v1/proxy?a=&b', 500, { type: 'text/plain; charset=utf-8', body: noUrl('/api/v1/proxy?a=&amp;b') }],
  ['TRACE', '/api/v1/nodes/x/proxy/', 405, status(405)],
])('%s %s answers %i', async (method, path, code, answer) => {
  const response = await cluster.fetch(path, { method });
  const { headers } = response;
  const type = headers.get('content-type');
  const body = type === 'application/json' ? await response.json() : await response.text();
  expect({ code: response.status, type, body }).toMatchObject({ code, ...answer });
  expect(headers.get('x-content-type-options')).toBe(type === 'application/json' || path === '/healthz/ping' ? null : 'nosniff');
});

it.each([
  ['jane', 'jane'],
  [null, 'system:anonymous'],
])('reveals nothing about unknown paths to %s', async (as, name) => {
  for (const path of ['/version/x', '/healthz/x', '/x']) {
    const response = await cluster.fetch(path, { as });
    const { message } = (await response.json()) as { message: string };
    expect([response.status, message]).toEqual([403, `forbidden: User "${name}" cannot get path "${path}"`]);
  }
});

// The first digits of the hash of the real server's bytes: they match only if members and paths have its order.
it.each([
  ['application/json', '276DB9A3BE4566FA'],
  ['application/com.github.proto-openapi.spec.v2@v1.0+protobuf', '2570350B667C0B28'],
])("/openapi/v2 as %s is identical to the real server's", async (accept, hash) => {
  const response = await cluster.fetch('/openapi/v2', { headers: { accept } });
  const bytes = new Uint8Array(await response.arrayBuffer());
  expect(createHash('sha512').update(bytes).digest('hex').slice(0, 16).toUpperCase()).toBe(hash);
  expect(response.headers.get('etag')?.slice(1, 17)).toBe('276DB9A3BE4566FA');
});

it("the message of a denial has no markup of the client's", async () => {
  const response = await cluster.fetch('/%3Cb%3E&%22', { as: 'jane' });
  const { message } = (await response.json()) as { message: string };
  expect([response.status, message]).toEqual([403, 'forbidden: User "jane" cannot get path "/&lt;b&gt;&amp;\\""']);
});

it('/ lists the paths of groups and checks', async () => {
  const { paths } = (await (await cluster.fetch('/')).json()) as { paths: string[] };
  expect(paths).toEqual([...new Set(paths)].sort());
  expect(paths).toEqual(
    expect.arrayContaining(['/api', '/api/v1', '/apis', '/apis/apps', '/apis/apps/v1', '/healthz/ping', '/readyz/shutdown', '/version']),
  );
});

// Responses equal those of the real server.
it.each([
  { range: 'bytes=0-9', code: 206, part: /^bytes 0-9\/(\d+)$/, body: /^{"openapi"$/ },
  { range: 'bytes=-5', code: 206, part: /^bytes (\d+)-(\d+)\/(\d+)$/, body: /^"}}}}$/ },
  { range: 'bytes=5-2', code: 416, part: undefined, body: /^invalid range\n$/ },
  { range: 'bytes=99999999-', code: 416, part: /^bytes \*\/(\d+)$/, body: /^invalid range: failed to overlap\n$/ },
])('an OpenAPI document with $range: $code', async ({ range, code, part, body }) => {
  const answer = await cluster.fetch('/openapi/v3/apis/apps/v1', { headers: { range } });
  expect(answer.status).toBe(code);
  const stated = answer.headers.get('content-range');
  if (part) expect(stated).toMatch(part);
  else expect(stated).toBe(null);
  expect(await answer.text()).toMatch(body);
  expect([answer.headers.has('etag'), answer.headers.get('accept-ranges')]).toEqual(code === 206 ? [true, 'bytes'] : [false, null]);
});

// Recorded from kube-apiserver: the index has ranges and a time, but no ETag.
it.each([
  { range: undefined, code: 200, body: /^{"paths"/ },
  { range: 'bytes=0-9', code: 206, body: /^{"paths":{$/ },
  { range: 'bytes=5-2', code: 416, body: /^invalid range\n$/ },
])('the OpenAPI index with range $range: $code', async ({ range, code, body }) => {
  const { status, headers, text } = await cluster
    .fetch('/openapi/v3', { headers: range ? { range } : {} })
    .then(async (answer) => ({ status: answer.status, headers: answer.headers, text: await answer.text() }));
  expect([status, text]).toEqual([code, expect.stringMatching(body)]);
  expect(['etag', 'last-modified', 'accept-ranges', 'audit-id'].map((name) => headers.has(name))).toEqual([
    false,
    code !== 416,
    code !== 416,
    true,
  ]);
});

it('the OpenAPI index is not modified since a later time', async () => {
  const answer = await cluster.fetch('/openapi/v3', { headers: { 'if-modified-since': 'Fri, 31 Dec 9999 23:59:59 GMT' } });
  expect([answer.status, answer.headers.has('last-modified'), answer.headers.has('etag')]).toEqual([304, true, false]);
});

it('the OpenAPI index has no type with 412', async () => {
  const answer = await cluster.fetch('/openapi/v3', { headers: { 'if-match': '"x"' } });
  expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([412, null, '']);
});

it.each([
  { path: '/openapi/v2', vary: 'Accept-Encoding, Accept' },
  { path: '/openapi/v3/apis/apps/v1', vary: 'Accept' },
])('$path supports conditional requests', async ({ path, vary }) => {
  const whole = await cluster.fetch(path);
  await whole.arrayBuffer();
  const [etag, modified] = [whole.headers.get('etag') ?? '', whole.headers.get('last-modified') ?? ''];
  const past = 'Sun, 06 Nov 1994 08:49:37 GMT';
  for (const [name, value, code] of [
    ['if-none-match', etag, 304],
    ['if-none-match', `"x", W/${etag}`, 304],
    ['if-modified-since', modified, 304],
    ['if-modified-since', past, 200],
    ['if-match', '"x"', 412],
    ['if-unmodified-since', past, 412],
  ] as const) {
    const answer = await cluster.fetch(path, { headers: { [name]: value } });
    expect([name, answer.status, answer.headers.get('etag'), answer.headers.get('vary')]).toEqual([name, code, etag, vary]);
    expect((await answer.arrayBuffer()).byteLength > 0).toBe(code === 200);
  }
});

it('a range of a changed document returns the whole document', async () => {
  const path = '/openapi/v3/apis/apps/v1';
  const whole = await cluster.fetch(path);
  const ask = (condition: string) => cluster.fetch(path, { headers: { range: 'bytes=0-9', 'if-range': condition } });
  expect((await ask(whole.headers.get('etag') ?? '')).status).toBe(206);
  expect((await ask(whole.headers.get('last-modified') ?? '')).status).toBe(206);
  expect((await ask('"another"')).status).toBe(200);
});

it('several ranges of a document are one multipart response', async () => {
  const answer = await cluster.fetch('/openapi/v3/apis/apps/v1', { headers: { range: 'bytes=0-3,10-12' } });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([206, expect.stringMatching(/^multipart\/byteranges; boundary=/)]);
  expect(await answer.text()).toMatch(/^--\w+\r\nContent-Range: bytes 0-3\/\d+\r\nContent-Type: application\/json\r\n\r\n{"op\r\n--/);
});

describe('a definition with integers beyond 2^53 in its schema', () => {
  const big = '9223372036854775807';
  const keywords = [
    `"maximum":9007199254740993,"minimum":-9007199254740993`,
    `"default":${big}`,
    `"example":${big}`,
    `"enum":[1,${big}]`,
    `"anyOf":[{"maximum":${big}}]`,
  ];
  it.each([...keywords.map((more) => `"type":"integer",${more}`), `"type":"string","maxLength":${big}`])(
    'is published: %s',
    async (schema) => {
      const group = `big${Math.random().toString(36).slice(2)}.example.com`;
      const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"bigs.${group}"},"spec":
      {"group":"${group}","scope":"Cluster","names":{"plural":"bigs","kind":"Big"},"versions":[{"name":"v1","served":true,"storage":true,"schema":
      {"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{${schema}}}}}}}}]}}`;
      const created = await cluster.fetch('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { method: 'POST', body: definition });
      expect(created.status).toBe(201);
      await expect.poll(async () => (await cluster.fetch(`/openapi/v3/apis/${group}/v1`)).status, { timeout: 10_000 }).toBe(200);
      await expect
        .poll(async () => (await (await cluster.fetch('/openapi/v2')).text()).includes(group.split('.')[0]!), { timeout: 10_000 })
        .toBe(true);
      const protobuf = await cluster.fetch('/openapi/v2', {
        headers: { accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf' },
      });
      expect(protobuf.status).toBe(200);
      const object = { apiVersion: `${group}/v1`, kind: 'Big', metadata: { name: 'a' }, spec: { a: schema.includes('string') ? 'x' : 1 } };
      expect((await cluster.fetch(`/apis/${group}/v1/bigs`, { method: 'POST', body: object })).status).toBe(201);
    },
  );
});
