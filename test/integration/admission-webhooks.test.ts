import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Authority, type KeyPair } from '#cmd/certificates/issue';
import { startTestCluster, type TestCluster } from '#testing/index';

/** A request body. */
type Json = Readonly<Record<string, unknown>>;
interface Shown {
  readonly data?: Json;
}
interface Review {
  readonly apiVersion: string;
  readonly request: {
    readonly uid: string;
    readonly operation: string;
    readonly object: Shown | null;
    readonly oldObject: Shown | null;
    readonly options: { readonly kind: string };
    readonly dryRun: boolean;
  };
}
/** A response: an object or a Status. */
interface Answered {
  readonly metadata: { readonly name: string; readonly labels?: Json };
  readonly data?: Json;
  readonly message: string;
}
interface Seen {
  readonly path: string;
  readonly review: Review;
  readonly authorization: string | undefined;
  readonly client: string | undefined;
}

/** Responses of the webhook server by path without query: the response of a review, or a fault. */
type Answer = (review: Review) => Json | 'hang' | 'redirect' | 'broken' | 'garbage' | Promise<Json>;
const answers = new Map<string, Answer>();
const seen: Seen[] = [];

let authority: Authority;
let server: https.Server;
let cluster: TestCluster;
let caBundle: string;

function jsonPatch(...operations: Json[]): Json {
  return { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') };
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of request) body += chunk;
  const review = JSON.parse(body) as Review;
  const path = (request.url ?? '').split('?', 1)[0] as string;
  const client = (request.socket as TLSSocket).getPeerCertificate().subject?.CN as string | undefined;
  seen.push({ path, review, authorization: request.headers.authorization, client });
  const answer = (await answers.get(path)?.(review)) ?? { allowed: true };
  if (answer === 'hang') return;
  if (answer === 'redirect') return void response.writeHead(302, { location: '/elsewhere' }).end();
  if (answer === 'broken') return void response.writeHead(500).end('secret of the webhook');
  if (answer === 'garbage') return void response.end('no json');
  response.setHeader('content-type', 'application/json');
  response.end(
    JSON.stringify({
      kind: 'AdmissionReview',
      apiVersion: review.apiVersion,
      response: { uid: review.request.uid, ...answer },
    }),
  );
}

beforeAll(async () => {
  authority = await Authority.create('webhook-test');
  const pair: KeyPair = await authority.issue({
    commonName: 'hook',
    names: ['localhost', '127.0.0.1', 'hook.default.svc'],
    usages: ['server'],
  });
  caBundle = Buffer.from(authority.pair.cert).toString('base64');
  server = https.createServer({ ...pair, ca: authority.pair.cert, requestCert: true, rejectUnauthorized: false }, (request, response) => {
    void serve(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cluster = await startTestCluster({
    quiet: true,
    objects: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'labelled', labels: { hooked: 'yes' } } }],
  });
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  server.closeAllConnections();
  server.close();
});

const configurations = '/apis/admissionregistration.k8s.io/v1';
const made: string[] = [];

/** Configures webhooks, for config maps by default. */
async function hooks(sort: 'mutating' | 'validating', ...webhooks: Json[]): Promise<void> {
  const { port } = server.address() as AddressInfo;
  const kind = sort === 'mutating' ? 'MutatingWebhookConfiguration' : 'ValidatingWebhookConfiguration';
  const path = `${configurations}/${sort}webhookconfigurations`;
  const name = `${sort}-${made.length}`;
  const complete = webhooks.map((webhook) => ({
    clientConfig: {
      url: `https://127.0.0.1:${port}${String(webhook['path'] ?? '/')}`,
      caBundle,
      ...(webhook['clientConfig'] as Json | undefined),
    },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['*'] }],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...Object.fromEntries(Object.entries(webhook).filter(([key]) => key !== 'path' && key !== 'clientConfig')),
  }));
  const response = await cluster.fetch(path, {
    body: { apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name }, webhooks: complete },
  });
  expect(await response.json()).toMatchObject({ kind });
  made.push(`${path}/${name}`);
}

beforeEach(async () => {
  for (const path of made.splice(0)) await cluster.fetch(path, { method: 'DELETE' });
  answers.clear();
  seen.length = 0;
});

let count = 0;
async function createConfigMap(
  rest: Json = {},
  { namespace = 'default', query = '' } = {},
): Promise<{ status: number; body: Answered; warning: string | null }> {
  count += 1;
  const response = await cluster.fetch(`/api/v1/namespaces/${namespace}/configmaps${query}`, {
    body: {
      metadata: { name: `c${count}`, ...(rest['metadata'] as Json | undefined) },
      ...(rest['data'] !== undefined && { data: rest['data'] }),
    },
  });
  return { status: response.status, body: (await response.json()) as Answered, warning: response.headers.get('warning') };
}

describe('MutatingAdmissionWebhook', () => {
  it('sends the request and applies the patch', async () => {
    await hooks('mutating', { name: 'add.example.com', path: '/add' });
    answers.set('/add', () => jsonPatch({ op: 'add', path: '/metadata/labels', value: { added: 'yes' } }));
    const { body } = await createConfigMap({ data: { k: '<&>' } });
    expect(body.metadata.labels).toEqual({ added: 'yes' });
    expect(seen[0]?.review).toMatchObject({
      apiVersion: 'admission.k8s.io/v1',
      request: {
        kind: { group: '', version: 'v1', kind: 'ConfigMap' },
        resource: { group: '', version: 'v1', resource: 'configmaps' },
        requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
        name: `c${count}`,
        namespace: 'default',
        operation: 'CREATE',
        userInfo: { username: 'admin', groups: ['system:masters', 'system:authenticated'] },
        object: { kind: 'ConfigMap', apiVersion: 'v1', data: { k: '<&>' } },
        oldObject: null,
        dryRun: false,
        options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
      },
    });
  });

  it('preserves long integers', async () => {
    const rules = [{ apiGroups: ['apps'], apiVersions: ['v1'], resources: ['controllerrevisions'], operations: ['*'] }];
    await hooks('mutating', { name: 'add.example.com', path: '/add', rules });
    answers.set('/add', () => jsonPatch({ op: 'add', path: '/metadata/labels', value: { added: 'yes' } }));
    const body =
      '{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"r"},"data":{"n":9007199254740993,"f":1.50},"revision":9007199254740993}';
    const response = await cluster.fetch('/apis/apps/v1/namespaces/default/controllerrevisions?dryRun=All', { body });
    expect(await response.text()).toMatch(
      /"labels":\{"added":"yes"\}.*"data":\{"n":9007199254740993,"f":1\.50\},"revision":9007199254740993/,
    );
  });

  it('calls webhooks sequentially by name and validates the result', async () => {
    await hooks('mutating', { name: 'a.example.com', path: '/a' }, { name: 'b.example.com', path: '/b' });
    await hooks('validating', { name: 'v.example.com', path: '/v' });
    answers.set('/a', () => jsonPatch({ op: 'add', path: '/data', value: { a: '1' } }));
    answers.set('/b', () => jsonPatch({ op: 'add', path: '/data/b', value: '2' }));
    expect((await createConfigMap()).body.data).toEqual({ a: '1', b: '2' });
    expect(seen.map(({ path }) => path)).toEqual(['/a', '/b', '/v']);
    expect(seen[2]?.review.request.object?.data).toEqual({ a: '1', b: '2' });
  });

  it('corrects owner references and managed fields after a patch', async () => {
    await hooks('mutating', { name: 'meta.example.com', path: '/meta' });
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u-1' };
    const broken = [{ manager: 'm', operation: 'Nonsense', fieldsType: 'FieldsV1', apiVersion: 'v1' }];
    answers.set('/meta', () =>
      jsonPatch(
        { op: 'add', path: '/metadata/ownerReferences', value: [owner, owner] },
        { op: 'add', path: '/metadata/managedFields', value: broken },
      ),
    );
    const { body, warning } = await createConfigMap({ data: { a: '1' } });
    expect(body.metadata).toMatchObject({ ownerReferences: [owner], managedFields: [{ operation: 'Update' }] });
    expect(warning).toContain('.metadata.managedFields was in an invalid state after admission');
    expect(warning).toContain('contains duplicate entries after mutating admission happens');
  });

  it('reinvokes a webhook after a later one changed the object', async () => {
    await hooks(
      'mutating',
      { name: 'first.example.com', path: '/first', reinvocationPolicy: 'IfNeeded' },
      { name: 'never.example.com', path: '/never' },
      { name: 'last.example.com', path: '/last' },
    );
    answers.set('/last', () => jsonPatch({ op: 'add', path: '/data', value: { last: '1' } }));
    await createConfigMap();
    expect(seen.map(({ path }) => path)).toEqual(['/first', '/never', '/last', '/first']);
    expect(seen[3]?.review.request.object?.data).toEqual({ last: '1' });
  });

  it('sends the version of the rule and applies the patch to it', async () => {
    await hooks('mutating', {
      name: 'v2.example.com',
      path: '/v2',
      rules: [{ apiGroups: ['autoscaling'], apiVersions: ['v2'], resources: ['horizontalpodautoscalers'], operations: ['CREATE'] }],
    });
    answers.set('/v2', () => jsonPatch({ op: 'replace', path: '/spec/metrics/0/resource/target/averageUtilization', value: 33 }));
    const response = await cluster.fetch('/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers', {
      body: {
        metadata: { name: 'h' },
        spec: {
          maxReplicas: 3,
          targetCPUUtilizationPercentage: 50,
          scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
        },
      },
    });
    expect(await response.json()).toMatchObject({ apiVersion: 'autoscaling/v1', spec: { targetCPUUtilizationPercentage: 33 } });
    expect(seen[0]?.review.request).toMatchObject({
      kind: { version: 'v2' },
      requestKind: { version: 'v1' },
      object: { apiVersion: 'autoscaling/v2', spec: { metrics: [{ resource: { target: { averageUtilization: 50 } } }] } },
    });
  });

  it.each([
    ['a patch that does not apply', () => jsonPatch({ op: 'remove', path: '/none' }), /Unable to remove|remove operation|Internal error/],
    [
      'an invalid patch',
      () => ({ allowed: true, patchType: 'JSONPatch', patch: 'eA==' }),
      /received undecodable patch in webhook response/,
    ],
    ['a patch without patchType', () => ({ allowed: true, patch: 'W10=' }), /webhook returned response.patch but not response.patchType/],
    ['a wrong uid', () => ({ allowed: true, uid: 'x' }), /expected response.uid="[^"]+", got "x"/],
  ])('answers %s with an internal error', async (_, answer, message) => {
    await hooks('mutating', { name: 'bad.example.com', path: '/bad' });
    answers.set('/bad', answer);
    const { status, body } = await createConfigMap();
    expect(status).toBe(500);
    expect(body.message).toMatch(message);
  });
});

describe('ValidatingAdmissionWebhook', () => {
  it("denies with the webhook's message", async () => {
    await hooks('validating', { name: 'no.example.com', path: '/no' });
    answers.set('/no', () => ({ allowed: false, status: { code: 418, message: 'too hot', reason: 'Teapot' }, warnings: ['careful'] }));
    const { status, body, warning } = await createConfigMap();
    expect(status).toBe(418);
    expect(body).toMatchObject({ code: 418, reason: 'Teapot', message: 'admission webhook "no.example.com" denied the request: too hot' });
    expect(warning).toBe('299 - "careful"');
  });

  it('receives updates and deletions with the old object', async () => {
    await hooks('validating', { name: 'see.example.com', path: '/see' });
    const { body } = await createConfigMap({ data: { a: '1' } });
    const path = `/api/v1/namespaces/default/configmaps/${body.metadata.name}`;
    await cluster.fetch(path, { method: 'PUT', body: { ...body, data: { a: '2' } } });
    await cluster.fetch(path, { method: 'DELETE' });
    const asked = seen.map(({ review: { request } }) => [
      request.operation,
      request.oldObject?.data,
      request.object?.data,
      request.options.kind,
    ]);
    expect(asked).toEqual([
      ['CREATE', undefined, { a: '1' }, 'CreateOptions'],
      ['UPDATE', { a: '1' }, { a: '2' }, 'UpdateOptions'],
      ['DELETE', { a: '2' }, undefined, 'DeleteOptions'],
    ]);
  });

  it('calls only webhooks whose rules and selectors match', async () => {
    await hooks(
      'validating',
      { name: 'namespace.example.com', path: '/namespace', namespaceSelector: { matchLabels: { hooked: 'yes' } } },
      { name: 'object.example.com', path: '/object', objectSelector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } },
      {
        name: 'secrets.example.com',
        path: '/secrets',
        rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'], operations: ['*'] }],
      },
      {
        name: 'cluster.example.com',
        path: '/cluster',
        rules: [{ apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], operations: ['*'], scope: 'Cluster' }],
      },
    );
    await createConfigMap();
    expect(seen).toEqual([]);
    await createConfigMap({ metadata: { labels: { app: 'a' } } }, { namespace: 'labelled' });
    expect(seen.map(({ path }) => path).sort()).toEqual(['/namespace', '/object']);
  });

  it('calls only webhooks whose match conditions are true', async () => {
    answers.set('/strict', () => ({ allowed: false }));
    const conditions = [
      { name: 'data', expression: "object.data.?key.orValue('') == 'asked'" },
      { name: 'by-admin', expression: "'system:masters' in request.userInfo.groups && !request.dryRun" },
      { name: 'may', expression: "authorizer.group('').resource('pods').namespace('default').check('create').allowed()" },
    ];
    await hooks('validating', { name: 'strict.example.com', path: '/strict', matchConditions: conditions });
    expect((await createConfigMap({ data: { key: 'other' } })).status).toBe(201);
    expect((await createConfigMap({ data: { key: 'asked' } })).status).toBe(400);
    expect(seen.map(({ path }) => path)).toEqual(['/strict']);
    const metrics = await (await cluster.fetch('/metrics')).text();
    expect(metrics).toMatch(/apiserver_admission_match_condition_exclusions_total\{[^}]*kind="webhook"[^}]*\} 1\n/);
  });

  it.each([
    ['Fail', 403],
    ['Ignore', 201],
  ])('applies failurePolicy %s if a match condition fails', async (failurePolicy, status) => {
    answers.set('/unsure', () => ({ allowed: false }));
    const matchConditions = [{ name: 'broken', expression: "object.nothing.here == 'x'" }];
    await hooks('validating', { name: 'unsure.example.com', path: '/unsure', failurePolicy, matchConditions });
    const answer = await createConfigMap();
    expect(answer.status).toBe(status);
    if (status === 403)
      expect(answer.body.message).toContain("expression 'object.nothing.here == 'x'' resulted in error: no such key: nothing");
    expect(seen).toEqual([]);
  });

  it('sends v1beta1 to webhooks that support only that', async () => {
    await hooks('validating', { name: 'old.example.com', path: '/old', admissionReviewVersions: ['v1beta1'] });
    expect((await createConfigMap()).status).toBe(201);
    expect(seen[0]?.review.apiVersion).toBe('admission.k8s.io/v1beta1');
  });

  it('does not call webhooks for webhook configurations', async () => {
    await hooks('validating', {
      name: 'lock.example.com',
      path: '/lock',
      rules: [{ apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: ['*'] }],
    });
    answers.set('/lock', () => ({ allowed: false }));
    expect((await createConfigMap()).body.message).toBe('admission webhook "lock.example.com" denied the request without explanation');
    expect((await cluster.fetch(made[0] as string, { method: 'DELETE' })).status).toBe(200);
    expect((await createConfigMap()).status).toBe(201);
  });

  it('rejects a dry run for a webhook with side effects', async () => {
    await hooks('validating', { name: 'side.example.com', path: '/side', sideEffects: 'NoneOnDryRun' });
    expect((await createConfigMap({}, { query: '?dryRun=All' })).status).toBe(201);
    expect(seen[0]?.review.request.dryRun).toBe(true);
  });

  it.each([
    ['redirect', /the server responded with the status code 302/],
    ['broken', /an error on the server \("unknown"\) has prevented the request from succeeding/],
    ['garbage', /couldn't get version\/kind; json parse error: json: cannot unmarshal string into Go value of type struct/],
  ] as const)('treats the response %s as a failure', async (answer, reason) => {
    await hooks(
      'validating',
      { name: 'fail.example.com', path: '/fail' },
      { name: 'open.example.com', path: '/fail', failurePolicy: 'Ignore' },
    );
    answers.set('/fail', () => answer);
    const { status, body } = await createConfigMap();
    expect(status).toBe(500);
    expect(body.message).toMatch(/^Internal error occurred: failed calling webhook "fail.example.com": failed to call webhook: /);
    expect(body.message).toMatch(reason);
    expect(body.message).not.toContain('secret');
    expect(seen.filter(({ path }) => path === '/elsewhere')).toEqual([]);
  });

  it.each([
    [
      { allowed: 'true' },
      'failed to call webhook: json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool',
    ],
    [
      { allowed: true, warnings: [1] },
      'failed to call webhook: json: cannot unmarshal number into Go struct field AdmissionResponse.response.warnings of type string',
    ],
    [
      { allowed: true, auditAnnotations: [] },
      'failed to call webhook: json: cannot unmarshal array into Go struct field AdmissionResponse.response.auditAnnotations of type map[string]string',
    ],
    [
      { allowed: false, status: { code: '403' } },
      'failed to call webhook: json: cannot unmarshal string into Go struct field Status.response.status.code of type int32',
    ],
    [{ allowed: true, patch: '%' }, 'failed to call webhook: illegal base64 data at input byte 0'],
    [
      { allowed: true, uid: 1 },
      'failed to call webhook: json: cannot unmarshal number into Go struct field AdmissionResponse.response.uid of type types.UID',
    ],
  ])('treats %j as a failure', async (answer, reason) => {
    await hooks('validating', { name: 'odd.example.com', path: '/odd' });
    answers.set('/odd', () => answer as Json);
    expect((await createConfigMap()).body.message).toBe(`Internal error occurred: failed calling webhook "odd.example.com": ${reason}`);
  });

  it('limits the call to the remaining time of the request', async () => {
    await hooks('validating', { name: 'quick.example.com', path: '/quick' });
    expect((await createConfigMap({}, { query: '?timeout=5s' })).status).toBe(201);
  });

  it("stores nothing after the request's deadline", async () => {
    await hooks('validating', { name: 'late.example.com', path: '/late', failurePolicy: 'Ignore' });
    answers.set('/late', () => 'hang');
    const { status, body } = await createConfigMap({}, { query: '?timeout=1s' });
    // The status of upstream's filter has no kind.
    const message = 'Timeout: request did not complete within the allotted timeout';
    expect([status, body]).toEqual([504, { metadata: {}, status: 'Failure', message, reason: 'Timeout', details: {}, code: 504 }]);
    // The response may precede the end of the call.
    await vi.waitFor(async () => {
      const metrics = await (await cluster.fetch('/metrics')).text();
      expect(metrics).toContain('apiserver_admission_webhook_fail_open_count{name="late.example.com",type="validating"} 1');
    });
  });

  it('sends UpdateOptions or CreateOptions for a patch', async () => {
    await hooks('validating', { name: 'options.example.com', path: '/options' });
    const { body } = await createConfigMap();
    const place = `/api/v1/namespaces/default/configmaps/${body.metadata.name}`;
    await cluster.fetch(place, {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: '{"data":{"a":"b"}}',
    });
    expect(seen.map(({ review }) => review.request.options.kind)).toEqual(['CreateOptions', 'UpdateOptions']);
  });

  it('ignores a failing webhook with failurePolicy Ignore', async () => {
    await hooks('validating', { name: 'open.example.com', clientConfig: { url: 'https://127.0.0.1:1/x' }, failurePolicy: 'Ignore' });
    expect((await createConfigMap()).status).toBe(201);
  });

  it("reports an unreachable webhook with upstream's message", async () => {
    await hooks('validating', { name: 'gone.example.com', clientConfig: { url: 'https://127.0.0.1:1/x' } });
    expect((await createConfigMap()).body.message).toBe(
      'Internal error occurred: failed calling webhook "gone.example.com": failed to call webhook: Post "https://127.0.0.1:1/x?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused',
    );
    await cluster.fetch(made.pop() as string, { method: 'DELETE' });
    await hooks('validating', { name: 'untrusted.example.com', clientConfig: { caBundle: undefined } });
    expect((await createConfigMap()).body.message).toMatch(
      /tls: failed to verify certificate: x509: certificate signed by unknown authority$/,
    );
  });

  it('calls a webhook by its service', async () => {
    const { port } = server.address() as AddressInfo;
    const service = { name: 'hook', namespace: 'default', path: '/service', port };
    await hooks('validating', { name: 'service.example.com', clientConfig: { url: undefined, service } });
    expect((await createConfigMap()).body.message).toMatch(
      /Post "https:\/\/hook.default.svc:\d+\/service\?timeout=10s": service "hook" not found$/,
    );
    await cluster.fetch('/api/v1/namespaces/default/services', {
      body: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'hook' },
        spec: { type: 'ExternalName', externalName: 'localhost' },
      },
    });
    expect((await createConfigMap()).status).toBe(201);
    expect(seen.map(({ path }) => path)).toEqual(['/service']);
  });

  it('waits no longer than the timeout and delays no other request', async () => {
    await hooks('validating', {
      name: 'slow.example.com',
      path: '/slow',
      timeoutSeconds: 1,
      namespaceSelector: { matchLabels: { hooked: 'yes' } },
    });
    answers.set('/slow', () => 'hang');
    const began = performance.now();
    const hanging = Array.from({ length: 30 }, () => createConfigMap({}, { namespace: 'labelled' }));
    const others = await Promise.all(Array.from({ length: 20 }, () => createConfigMap()));
    expect(others.every(({ status }) => status === 201)).toBe(true);
    expect(performance.now() - began).toBeLessThan(900);
    const late = await Promise.all(hanging);
    expect(late.map(({ status }) => status)).toEqual(Array.from({ length: 30 }, () => 500));
    expect(late[0]?.body.message).toMatch(/\?timeout=1s": context deadline exceeded$/);
  });

  it('delays no other client while hundreds of requests wait for a hanging webhook', async () => {
    const hundreds = 300;
    const { promise: released, resolve: release } = Promise.withResolvers<Json>();
    answers.set('/held', () => released);
    await hooks('validating', {
      name: 'held.example.com',
      path: '/held',
      timeoutSeconds: 30,
      namespaceSelector: { matchLabels: { hooked: 'yes' } },
    });
    const held = Array.from({ length: hundreds }, () => createConfigMap({}, { namespace: 'labelled' }));
    await vi.waitFor(() => expect(seen).toHaveLength(hundreds), { timeout: 25_000, interval: 50 });
    const others = await Promise.all(Array.from({ length: 100 }, () => createConfigMap()));
    expect(new Set(others.map(({ status }) => status))).toEqual(new Set([201]));
    const first = await Promise.race([...held, Promise.resolve('all wait')]);
    expect(first).toBe('all wait');
    release({ allowed: true });
    expect(new Set((await Promise.all(held)).map(({ status }) => status))).toEqual(new Set([201]));
  }, 60_000);
});
