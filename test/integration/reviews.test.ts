import { generateKeyPairSync } from 'node:crypto';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';

const audience = 'https://kubernetes.default.svc';
const signingKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster({
    users: [{ name: 'alice', groups: ['devs'], uid: 'alice-uid' }],
    config: {
      serviceAccounts: { issuer: audience, signingKey, apiAudiences: [audience], maxExpirationSeconds: 7200, extendsExpiration: true },
    },
  });
});
afterAll(() => cluster[Symbol.asyncDispose]());

// biome-ignore lint/suspicious/noExplicitAny: answers of many kinds
async function post(path: string, body: object, as?: string): Promise<any> {
  const response = await cluster.fetch(path, { body, ...(as && { as }) });
  return response.json();
}

const authorization = (resource: string): string => `/apis/authorization.k8s.io/v1/${resource}`;
const authentication = (resource: string): string => `/apis/authentication.k8s.io/v1/${resource}`;

describe('access reviews', () => {
  const get = { verb: 'get', resource: 'pods', namespace: 'default' };

  it.each([
    { name: 'oneself', resource: 'selfsubjectaccessreviews', spec: { resourceAttributes: get }, as: 'alice', allowed: false },
    {
      name: 'a path',
      resource: 'selfsubjectaccessreviews',
      spec: { nonResourceAttributes: { path: '/healthz', verb: 'get' } },
      as: 'alice',
      allowed: true,
    },
    {
      name: 'another user',
      resource: 'subjectaccessreviews',
      spec: { user: 'alice', resourceAttributes: get },
      as: 'admin',
      allowed: false,
    },
    {
      name: 'a group',
      resource: 'subjectaccessreviews',
      spec: { groups: ['system:masters'], resourceAttributes: get },
      as: 'admin',
      allowed: true,
    },
    {
      name: 'in a namespace',
      resource: 'namespaces/default/localsubjectaccessreviews',
      spec: { user: 'system:kube-scheduler', resourceAttributes: get },
      as: 'admin',
      allowed: true,
    },
  ])('for $name', async ({ resource, spec, as, allowed }) => {
    const { status, metadata } = await post(authorization(resource), { spec }, as);
    expect(status.allowed).toBe(allowed);
    expect(metadata.managedFields).toHaveLength(1);
  });

  it.each([
    {
      name: 'no attributes',
      resource: 'selfsubjectaccessreviews',
      spec: {},
      message: 'exactly one of nonResourceAttributes or resourceAttributes must be specified',
    },
    {
      name: 'both kinds of attributes',
      resource: 'selfsubjectaccessreviews',
      spec: { resourceAttributes: get, nonResourceAttributes: { path: '/' } },
      message: 'Invalid value: {"Path":"/","Verb":""}: cannot be specified in combination with resourceAttributes',
    },
    {
      name: 'nobody',
      resource: 'subjectaccessreviews',
      spec: { resourceAttributes: get },
      message: 'at least one of user or group must be specified',
    },
    {
      name: 'another namespace',
      resource: 'namespaces/default/localsubjectaccessreviews',
      spec: { user: 'a', resourceAttributes: { ...get, namespace: 'x' } },
      message: 'spec.resourceAttributes.namespace: Invalid value: "x": must match metadata.namespace',
    },
    {
      name: 'an empty selector',
      resource: 'selfsubjectaccessreviews',
      spec: { resourceAttributes: { ...get, labelSelector: {} } },
      message: 'when spec.resourceAttributes.labelSelector is specified, requirements or rawSelector is required',
    },
  ])('reject $name', async ({ resource, spec, message }) => {
    const answer = await post(authorization(resource), { spec });
    expect(answer.code).toBe(422);
    expect(answer.message).toContain(message);
  });

  const known = { key: 'spec.nodeName', operator: 'In', values: ['n'] };
  it.each([
    { name: 'a raw selector', attributes: { fieldSelector: { rawSelector: '(((' } }, error: 'fieldSelector ignored' },
    {
      name: 'an operator',
      attributes: { labelSelector: { requirements: [{ key: 'a', operator: 'in', values: ['b'] }] } },
      error: 'labelSelector ignored',
    },
    {
      name: 'one of two requirements',
      attributes: { fieldSelector: { requirements: [known, { key: 'a', operator: 'Exists' }] } },
      error: 'fieldSelector partially ignored',
    },
    { name: 'nothing', attributes: { fieldSelector: { requirements: [known] } }, error: undefined },
  ])('warn that $name is ignored', async ({ attributes, error }) => {
    const spec = { user: 'alice', resourceAttributes: { ...get, ...attributes } };
    const { status } = await post(authorization('subjectaccessreviews'), { spec });
    expect(status.evaluationError).toBe(error && `spec.resourceAttributes.${error} due to parse error`);
  });

  it('have no name', async () => {
    const answer = await post(authorization('selfsubjectaccessreviews'), { metadata: { name: 'x' }, spec: { resourceAttributes: get } });
    expect(answer.message).toContain('metadata: Invalid value: {"name":"x"');
  });

  it("list the user's own rules", async () => {
    const { status } = await post(authorization('selfsubjectrulesreviews'), { spec: { namespace: 'default' } }, 'alice');
    expect(status.incomplete).toBe(false);
    expect(status.resourceRules).toContainEqual({
      verbs: ['create'],
      apiGroups: ['authentication.k8s.io'],
      resources: ['selfsubjectreviews'],
    });
    expect(status.nonResourceRules.flatMap((rule: { nonResourceURLs: string[] }) => rule.nonResourceURLs)).toContain('/healthz');
    expect((await post(authorization('selfsubjectrulesreviews'), { spec: {} })).message).toBe('no namespace on request');
  });
});

describe('identity reviews', () => {
  it('return the user', async () => {
    const { status } = await post(authentication('selfsubjectreviews'), {}, 'alice');
    expect(status).toEqual({ userInfo: { username: 'alice', uid: 'alice-uid', groups: ['devs', 'system:authenticated'] } });
  });

  it.each([
    {
      name: 'known',
      spec: () => ({ token: cluster.token('alice') }),
      status: {
        authenticated: true,
        audiences: [audience],
        user: { username: 'alice', uid: 'alice-uid', groups: ['devs', 'system:authenticated'] },
      },
    },
    {
      name: 'for one of the audiences',
      spec: () => ({ token: cluster.token('alice'), audiences: ['x', audience] }),
      status: {
        authenticated: true,
        audiences: [audience],
        user: { username: 'alice', uid: 'alice-uid', groups: ['devs', 'system:authenticated'] },
      },
    },
    {
      name: 'for another audience',
      spec: () => ({ token: cluster.token('alice'), audiences: ['x'] }),
      status: { user: {}, error: 'invalid bearer token' },
    },
    { name: 'wrong', spec: () => ({ token: 'bad' }), status: { user: {}, error: 'invalid bearer token' } },
  ])('review a token: $name', async ({ spec, status }) => {
    expect((await post(authentication('tokenreviews'), { spec: spec() })).status).toEqual(status);
  });

  it('require a token', async () => {
    expect((await post(authentication('tokenreviews'), { spec: {} })).message).toBe('token is required for TokenReview in authentication');
  });
});

describe('tokens of service accounts', () => {
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  let uid: string;
  beforeAll(async () => {
    uid = (await post(accounts, { metadata: { name: 'sa' } })).metadata.uid;
    await post(accounts, { metadata: { name: 'other' } });
    await post('/api/v1/namespaces/default/pods', {
      metadata: { name: 'other' },
      spec: { serviceAccountName: 'other', containers: [{ name: 'c', image: 'i' }] },
    });
    await post('/api/v1/namespaces/default/pods', {
      metadata: { name: 'p' },
      spec: { serviceAccountName: 'sa', nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
    });
  });

  it("have the server's audience by default", async () => {
    const answer = await post(`${accounts}/sa/token`, {});
    expect(answer).toMatchObject({
      metadata: { name: 'sa', namespace: 'default', uid },
      spec: { audiences: [audience], expirationSeconds: 3600 },
    });
    const claims = decodeJwt(answer.status.token);
    expect(claims).toMatchObject({
      iss: audience,
      aud: [audience],
      sub: 'system:serviceaccount:default:sa',
      'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'sa', uid } },
    });
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(3600);
    expect(Date.parse(answer.status.expirationTimestamp) / 1000).toBe(claims.exp);
  });

  it('contain the pod and its node if they are bound to a pod, and are valid for longer than an hour', async () => {
    const { status } = await post(`${accounts}/sa/token`, {
      spec: { expirationSeconds: 3607, boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } },
    });
    const claims = decodeJwt(status.token) as { exp: number; iat: number; 'kubernetes.io': Record<string, unknown> };
    expect(claims['kubernetes.io']).toMatchObject({
      pod: { name: 'p', uid: expect.any(String) },
      node: { name: 'n' },
      warnafter: claims.iat + 3607,
    });
    expect(claims.exp - claims.iat).toBe(365 * 24 * 3600);
    expect(Date.parse(status.expirationTimestamp) / 1000).toBe(claims.iat + 3607);
  });

  it("are shortened to the server's maximum", async () => {
    const response = await cluster.fetch(`${accounts}/sa/token`, { body: { spec: { expirationSeconds: 10_000 } } });
    expect(response.headers.get('warning')).toBe('299 - "requested expiration of 10000 seconds shortened to 7200 seconds"');
    expect(((await response.json()) as { spec: object }).spec).toMatchObject({ expirationSeconds: 7200 });
  });

  it.each([
    { name: 'too short', body: { spec: { expirationSeconds: 60 } }, message: 'may not specify a duration less than 10 minutes' },
    { name: 'of another name', body: { metadata: { name: 'x' } }, message: 'must match the service account name if specified' },
    {
      name: 'of another uid',
      body: { metadata: { uid: 'x' } },
      message: 'the UID in the token request (x) does not match the UID of the service account',
    },
    {
      name: 'for an object of another kind',
      body: { spec: { boundObjectRef: { kind: 'ConfigMap', apiVersion: 'v1', name: 'x' } } },
      message: 'cannot bind token to object of type /v1, Kind=ConfigMap',
    },
    {
      name: 'for a pod of another account, which is reported before another uid',
      body: { spec: { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'other', uid: 'other' } } },
      message: 'cannot bind token for serviceaccount "sa" to pod running with different serviceaccount name.',
    },
    {
      name: 'for a pod that is gone',
      body: { spec: { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p', uid: 'other' } } },
      message: 'the UID in the bound object reference (other) does not match the UID in record',
    },
  ])('are rejected: $name', async ({ body, message }) => {
    expect((await post(`${accounts}/sa/token`, body)).message).toContain(message);
  });

  it('require a signing key', async () => {
    await using keyless = await startTestCluster({ config: { serviceAccounts: undefined } });
    await keyless.fetch(accounts, { body: { metadata: { name: 'sa' } } });
    const response = await keyless.fetch(`${accounts}/sa/token`, { body: {} });
    expect(response.status).toBe(503);
  });
});
