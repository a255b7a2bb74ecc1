import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TraceDocument, TraceStep } from '#apiserver/request/request-trace';
import { startTestCluster, type TestCluster } from '#testing/index';

/** An object of any kind. */
type Json = Readonly<Record<string, unknown>>;

const registration = 'admissionregistration.k8s.io/v1';
const podRule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] };
const objects: readonly Json[] = [
  {
    apiVersion: registration,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'few-containers' },
    spec: {
      matchConstraints: { resourceRules: [podRule] },
      matchConditions: [{ name: 'not-exempt', expression: "!('exempt' in object.metadata.?labels.orValue({}))" }],
      validations: [{ expression: "object.spec.containers.all(c, !c.image.endsWith(':latest'))", message: 'no latest' }],
    },
  },
  {
    apiVersion: registration,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'everywhere' },
    spec: { policyName: 'few-containers', validationActions: ['Deny'] },
  },
  {
    apiVersion: registration,
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'absent' },
    webhooks: [
      {
        name: 'absent.example.com',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy: 'Ignore',
        clientConfig: { url: 'https://127.0.0.1:1/' },
        rules: [podRule],
      },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'writer' },
    rules: [{ apiGroups: [''], resources: ['pods', 'secrets'], verbs: ['create'] }],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'writers' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'writer' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ali' }],
  },
];
const start = (flags: readonly string[] = []): Promise<TestCluster> =>
  startTestCluster({ users: [{ name: 'ali' }, { name: 'eve' }], objects: objects as never, flags });

const pods = '/api/v1/namespaces/default/pods?dryRun=All';
const pod = (image: string, labels: Json = {}): Json => ({
  metadata: { name: 'web', labels },
  spec: { containers: [{ name: 'a', image }] },
});

async function trace(cluster: TestCluster, path: string, body: Json, headers: Record<string, string> = {}): Promise<TraceDocument> {
  const response = await cluster.fetch(path, { body, headers: { 'kubenest-trace': '1', ...headers } });
  const at = response.headers.get('kubenest-trace');
  expect(at, await response.text()).toMatch(/^\/debug\/traces\/[0-9a-f-]+$/);
  return (await (await cluster.fetch(at as string)).json()) as TraceDocument;
}
const step = (document: TraceDocument, name: string, stage?: string): TraceStep =>
  document.steps.find((one) => one.name === name && (stage === undefined || one.stage === stage)) as TraceStep;

describe('the trace of a request with the header', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await start();
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  it('contains the decisions, the changes and the webhook calls', async () => {
    const document = await trace(cluster, pods, pod('a:1'));
    expect(document).toMatchObject({ method: 'POST', url: pods, user: { name: 'admin' }, impersonator: null, status: 201, message: '' });
    expect(step(document, 'TokenAuth')).toMatchObject({ stage: 'authentication', verdict: 'knows the user', reason: 'admin' });
    expect(document.steps.filter(({ stage }) => stage === 'authorization')).toMatchObject([{ verdict: 'Allow' }]);
    expect(step(document, 'DefaultTolerationSeconds')).toMatchObject({
      stage: 'admit',
      verdict: 'changed',
      patch: [{ op: 'add', path: '/spec/tolerations', value: expect.any(Array) }],
    });
    expect(step(document, 'MutatingAdmissionWebhook').notes).toMatchObject([
      { kind: 'webhook', name: 'absent/absent.example.com', verdict: 'failed (Ignore)', milliseconds: expect.any(Number) },
    ]);
    expect(step(document, 'MutatingAdmissionWebhook').notes?.[0]?.details).toEqual({
      'request uid': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  it('contains the values that made an expression false', async () => {
    const document = await trace(cluster, pods, pod('a:latest'));
    expect(document).toMatchObject({ status: 422, message: expect.stringMatching(/denied request: no latest$/) });
    const { verdict, notes } = step(document, 'ValidatingAdmissionPolicy');
    expect(verdict).toBe('denied');
    expect(notes).toMatchObject([
      {
        kind: 'policy',
        name: 'few-containers with binding everywhere',
        verdict: 'does not hold (Deny)',
        details: { 'object.spec.containers.filter(c, !(!c.image.endsWith(":latest")))': [{ image: 'a:latest' }] },
      },
    ]);
  });

  it('contains the reason why a policy did not apply', async () => {
    const document = await trace(cluster, pods, pod('a:latest', { exempt: 'yes' }));
    expect(document.status).toBe(201);
    expect(step(document, 'ValidatingAdmissionPolicy').notes).toMatchObject([
      { kind: 'matchCondition', verdict: 'false', details: { 'object.metadata.?labels.orValue({})': { exempt: 'yes' } } },
    ]);
  });

  it('contains the denial of an impersonated request', async () => {
    const document = await trace(cluster, pods, pod('a:1'), { 'impersonate-user': 'eve' });
    expect(document).toMatchObject({ status: 403, user: { name: 'eve' }, impersonator: { name: 'admin' } });
    expect(step(document, 'RBAC')).toMatchObject({ stage: 'authorization', verdict: 'NoOpinion' });
    expect(document.steps.some(({ stage }) => stage === 'admit')).toBe(false);
  });

  it('contains no secrets', async () => {
    const secret = { metadata: { name: 's' }, stringData: { password: 'open sesame' } };
    const document = await trace(cluster, '/api/v1/namespaces/default/secrets?dryRun=All', secret);
    expect(JSON.stringify(document)).not.toMatch(/open sesame|b3BlbiBzZXNhbWU/);
  });

  it('requires permission to read traces', async () => {
    const response = await cluster.fetch(pods, { as: 'ali', body: pod('a:1'), headers: { 'kubenest-trace': '1' } });
    expect(response.status).toBe(201);
    expect(response.headers.get('kubenest-trace')).toBeNull();
    expect(response.headers.get('warning')).toMatch(/the request is not traced: user \\"ali\\" cannot get path/);
    expect((await cluster.fetch('/debug/traces', { as: 'ali' })).status).toBe(403);
  });

  it('is a tree that fits on a screen', async () => {
    const { id } = await trace(cluster, pods, pod('a:latest'));
    const text = await (await cluster.fetch(`/debug/traces/${id}?output=text`)).text();
    expect(text.split('\n').length).toBeLessThan(30);
    expect(text).toMatch(/^POST \/api\/v1\/namespaces\/default\/pods\?dryRun=All by admin: 422 pods "web" is forbidden/);
    expect(text).toMatch(/├─ Mutating admission\n/);
    expect(text).toMatch(/\+ \/spec\/tolerations = /);
  });

  it('is not recorded without the header', async () => {
    const before = (await (await cluster.fetch('/debug/traces')).json()) as { traces: unknown[] };
    await cluster.fetch(pods, { body: pod('a:1') });
    const after = (await (await cluster.fetch('/debug/traces')).json()) as { traces: unknown[] };
    expect(after.traces).toHaveLength(before.traces.length);
    expect((await cluster.fetch('/debug/traces/none')).status).toBe(404);
  });
});

it('--request-traces keeps the latest writes of all users', async () => {
  await using cluster = await start(['--request-traces=2']);
  await cluster.fetch(pods, { body: pod('a:1') });
  await cluster.fetch(pods, { as: 'ali', body: pod('a:1') });
  await cluster.fetch(pods, { body: pod('a:1'), headers: { authorization: 'Bearer wrong' } });
  const { traces } = (await (await cluster.fetch('/debug/traces')).json()) as { traces: TraceDocument[] };
  expect(traces.map(({ status, user }) => [status, user?.name])).toEqual([
    [401, undefined],
    [201, 'ali'],
  ]);
  expect(traces[0]?.steps.at(-1)).toMatchObject({ stage: 'authentication', verdict: 'wrong credentials' });
});
