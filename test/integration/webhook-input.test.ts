/** Requests to a webhook server that are wrong in every way: each gets a clear answer, and the server stays up. */
import { Buffer } from 'node:buffer';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AdmissionPlugin } from '#apiserver/admission/admission-plugin';
import type { Attributes } from '#apiserver/admission/attributes';
import { contributionOf } from '#apiserver/plugins/loaded-contribution';
import { readKubeconfig } from '#apiserver/network/webhook/kubeconfig';
import { newLog } from '#cmd/logging/log';
import { maxReviewBytes } from '#cmd/webhook/review/review-routes';
import { createWebhookServer, type WebhookServer } from '#cmd/webhook/webhook-server';
import { issueServingCertificate } from '#testing/serving-certificate';
import { startTestCluster, type TestCluster } from '#testing/index';

class Marks {
  admit({ object }: Attributes): void {
    object.metadata.annotations = { ...object.metadata.annotations, marked: 'yes' };
  }

  async validate(request: Attributes): Promise<void> {
    const { object, deadline } = request;
    request.addAnnotation('acme.example/seen', object.metadata.name ?? '');
    request.addAnnotation('acme.example/body', 'x', 'Request');
    request.addWarning('seen');
    if (object.metadata.name === 'slow' && deadline > 0) await new Promise((resolve) => setTimeout(resolve, 3_000));
  }
}
AdmissionPlugin({ name: 'Marks', match: [{ resources: ['*'], subresources: ['*'], operations: ['CREATE', 'UPDATE'] }] })(Marks);

let cluster: TestCluster;
let server: WebhookServer;
let port: number;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-webhook-input-'));
  cluster = await startTestCluster({ listen: true, quiet: true });
  await writeFile(join(folder, 'kubeconfig'), cluster.kubeconfig());
  const { certificateAuthority: _, ...certificate } = await issueServingCertificate();
  server = await createWebhookServer({
    connection: await readKubeconfig(join(folder, 'kubeconfig')),
    contributions: [contributionOf(Marks)],
    listener: { bindAddress: '127.0.0.1', port: 0, certificate },
    log: newLog(-1),
    id: 'test',
    shutdownDelayMs: 0,
  });
  ({ port } = (await server.start()) as AddressInfo);
});
afterAll(async () => {
  await server.stop();
  await cluster[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

interface Ask {
  readonly path?: string;
  readonly method?: string;
  readonly type?: string;
  readonly body?: string | Buffer;
}

async function ask({
  path = '/mutate',
  method = 'POST',
  type = 'application/json',
  body = '',
}: Ask): Promise<{ status: number; answer: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; answer: string }>();
  const sent = https.request(
    { host: '127.0.0.1', port, path, method, headers: { 'content-type': type }, rejectUnauthorized: false, agent: false },
    (response) => {
      let answer = '';
      response.setEncoding('utf8').on('data', (data: string) => (answer += data));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, answer }));
    },
  );
  sent.on('error', reject).end(body);
  return promise;
}

const request = {
  uid: '705ab4f5',
  kind: { group: '', version: 'v1', kind: 'ConfigMap' },
  resource: { group: '', version: 'v1', resource: 'configmaps' },
  operation: 'CREATE',
  namespace: 'default',
  userInfo: { username: 'ali', groups: ['devs'], extra: { scopes: ['a'] } },
  object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
  oldObject: null,
  dryRun: false,
  options: { apiVersion: 'meta.k8s.io/v1', kind: 'CreateOptions' },
};

function review(changes: object = {}, head: object = {}): string {
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', ...head, request: { ...request, ...changes } });
}

const nested = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
const custom = { kind: { group: 'x.y', version: 'v1', kind: 'Z' }, resource: { group: 'x.y', version: 'v1', resource: 'zs' } };

it.each<Ask & { name: string; status: number; says: RegExp }>([
  { name: 'another method', method: 'GET', status: 405, says: /MethodNotAllowed/ },
  { name: 'another media type', type: 'application/yaml', body: review(), status: 415, says: /application\/json/ },
  { name: 'no media type', type: '', body: review(), status: 415, says: /application\/json/ },
  { name: 'an empty body', status: 400, says: /the body is not JSON/ },
  { name: 'text', body: 'hello', status: 400, says: /the body is not JSON/ },
  { name: 'a list', body: '[]', status: 400, says: /not a JSON object/ },
  { name: 'null', body: 'null', status: 400, says: /not a JSON object/ },
  {
    name: 'invalid UTF-8 in a key',
    body: Buffer.from([123, 34, 255, 34, 58, 49, 125]),
    status: 400,
    says: /expected admission\.k8s\.io\/v1/,
  },
  { name: 'deep nesting', body: nested, status: 400, says: /the body is not JSON/ },
  {
    name: 'another kind',
    body: review({}, { kind: 'Pod' }),
    status: 400,
    says: /expected admission\.k8s\.io\/v1, Kind=AdmissionReview, got admission/,
  },
  {
    name: 'another version',
    body: review({}, { apiVersion: 'admission.k8s.io/v1beta1' }),
    status: 400,
    says: /got admission\.k8s\.io\/v1beta1/,
  },
  { name: 'a kind that is not a text', body: review({}, { kind: 1 }), status: 400, says: /kind must be a string/ },
  { name: 'no request', body: '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}', status: 400, says: /request is missing/ },
  {
    name: 'a request that is a list',
    body: '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":[]}',
    status: 400,
    says: /request must be an object/,
  },
  { name: 'no uid', body: review({ uid: undefined }), status: 400, says: /request\.uid is missing/ },
  { name: 'no kind', body: review({ kind: undefined }), status: 400, says: /request\.kind and request\.resource must be objects/ },
  { name: 'a kind without a version', body: review({ kind: { kind: 'A' } }), status: 400, says: /request\.kind\.version is missing/ },
  { name: 'an unknown operation', body: review({ operation: 'PATCH' }), status: 400, says: /unknown operation \\"PATCH\\"/ },
  { name: 'a user that is text', body: review({ userInfo: 'ali' }), status: 400, says: /request\.userInfo must be an object/ },
  {
    name: 'groups that are text',
    body: review({ userInfo: { groups: 'a' } }),
    status: 400,
    says: /request\.userInfo\.groups must be a list of strings/,
  },
  { name: 'an object that is text', body: review({ object: 'a' }), status: 400, says: /request\.object must be an object/ },
  {
    name: 'an object of another kind',
    body: review({ object: { apiVersion: 'v1', kind: 'Pod' } }),
    status: 400,
    says: /request\.object: converting/,
  },
  {
    name: 'an object with wrong types',
    body: review({ object: { ...request.object, data: 1 } }),
    status: 400,
    says: /request\.object: json: cannot unmarshal number/,
  },
  {
    name: 'metadata that is a list',
    body: review({ ...custom, object: { metadata: [] } }),
    status: 400,
    says: /metadata of an object of kind Z must be a JSON object/,
  },
  {
    name: 'an unknown plugin',
    path: '/mutate/none',
    body: review(),
    status: 404,
    says: /plugins \\"none\\" not found in this webhook server: print the manifests/,
  },
  { name: 'a timeout that is not a duration', path: '/mutate?timeout=x', body: review(), status: 400, says: /invalid timeout/ },
  { name: 'a path of the Kubernetes API', path: '/api/v1/namespaces', body: '{}', status: 403, says: /Forbidden/ },
])('answers $name with $status', async ({ status, says, ...asked }) => {
  const { status: answered, answer } = await ask(asked);
  expect([answered, answer]).toEqual([status, expect.stringMatching(says)]);
});

it('answers a body that is too large with 413', async () => {
  const { status, answer } = await ask({ body: Buffer.alloc(maxReviewBytes + 1, ' ') });
  expect([status, answer]).toEqual([413, expect.stringMatching(/RequestEntityTooLarge/)]);
});

it('receives large bodies of anybody within one budget, and small ones at once', async () => {
  const headers = { 'content-type': 'application/json', 'content-length': maxReviewBytes };
  const slow = Array.from({ length: 40 }, () => {
    const options = { host: '127.0.0.1', port, path: '/mutate', method: 'POST', headers, rejectUnauthorized: false, agent: false };
    const sending = https.request(options);
    sending.on('error', () => {});
    sending.write('{');
    return sending;
  });
  await Promise.all(slow.map((one) => new Promise((resolve) => one.once('socket', (socket) => socket.once('secureConnect', resolve)))));
  // The server reads requests in the order of their arrival.
  for (let i = 0; i < 3; i++) expect((await ask({ body: review() })).status).toBe(200);
  let isAnswered = false;
  const large = ask({ body: review({ object: { ...request.object, data: { a: 'x'.repeat(500_000) } } }) }).finally(
    () => (isAnswered = true),
  );
  for (let i = 0; i < 10; i++) expect((await ask({ body: review() })).status).toBe(200);
  expect(isAnswered).toBe(false);
  for (const one of slow) one.destroy();
  expect((await large).status).toBe(200);
});

it('answers a review that is not done by its timeout with 504', async () => {
  const slow = review({ object: { ...request.object, metadata: { name: 'slow' } } });
  const { status } = await ask({ path: '/validate?timeout=300ms', body: slow });
  expect(status).toBe(504);
});

it('answers with warnings and audit annotations whose keys the cluster accepts', async () => {
  const { answer } = await ask({ path: '/validate', body: review() });
  expect(JSON.parse(answer)).toMatchObject({
    response: { allowed: true, warnings: ['seen'], auditAnnotations: { 'acme.example.seen': 'a' } },
  });
  expect(answer).not.toContain('acme.example.body');
});

it('reviews objects of more than a megabyte', async () => {
  const text = 'x'.repeat(1_000);
  const data = Object.fromEntries(Array.from({ length: 1_500 }, (_, i) => [`key-${i}`, text]));
  const body = review({ object: { ...request.object, data }, oldObject: { ...request.object, data }, operation: 'UPDATE' });
  const large = Promise.all([ask({ body }), ask({ path: '/validate', body })]);
  for (const { status, answer } of await large) expect([status, answer]).toEqual([200, expect.stringContaining('"allowed":true')]);
});

const prototype = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"__proto__":{"x":1},"constructor":{"y":1}}';

it.each([
  { name: 'a built-in kind', body: review() },
  { name: 'members named as those of Object.prototype', body: review().replace(JSON.stringify(request.object), prototype) },
  { name: 'a custom resource', body: review({ ...custom, object: { apiVersion: 'x.y/v1', kind: 'Z', spec: { big: 1 } } }) },
  { name: 'a subresource', body: review({ subResource: 'status', operation: 'UPDATE', oldObject: request.object }) },
  { name: 'an unknown subresource', body: review({ subResource: 'nope' }) },
])('reviews $name', async ({ body }) => {
  const { status, answer } = await ask({ body });
  expect(status).toBe(200);
  const { response } = JSON.parse(answer) as { response: { uid: string; allowed: boolean; patch: string } };
  expect(response).toMatchObject({ uid: request.uid, allowed: true, patchType: 'JSONPatch' });
  expect(JSON.parse(Buffer.from(response.patch, 'base64').toString())).toContainEqual(expect.objectContaining({ op: 'add' }));
});

it('rejects a path that names a plugin twice', async () => {
  expect((await ask({ body: review(), path: '/mutate/marks' })).status).toBe(200);
  expect((await ask({ body: review(), path: '/mutate/marks/marks' })).status).toBe(404);
});
