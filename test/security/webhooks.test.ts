/**
 * Services that the server calls for requests: they work, are slow, fail and recover, and nothing is wrongly admitted or
 * rejected.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';
import { type JsonService, kubeconfigOf, startJsonService, startOidcProvider } from './services.ts';

let folder: string;
const file = (name: string): string => join(folder, name);
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-webhooks-'));
});
afterEach(() => rm(folder, { recursive: true }));

const list = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;
const statusesOf = async (cluster: TestCluster, token: (i: number) => string, count: number): Promise<number[]> =>
  Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const answer = await cluster.fetch(list(`n${i}`), { as: null, headers: { authorization: `Bearer ${token(i)}` } });
      return answer.status;
    }),
  );
const only = (...statuses: readonly number[]) => new Set(statuses);
const works = (service: JsonService): JsonService['answer'] => service.answer;

/** A response larger than the limit. */
const tooLong = 'x'.repeat(3 * 1024 * 1024);

describe('a token webhook', () => {
  const startAsking = async (service: JsonService): Promise<TestCluster> => {
    await writeFile(file('webhook.json'), kubeconfigOf(service.url));
    const flags = [`--authentication-token-webhook-config-file=${file('webhook.json')}`, '--authentication-token-webhook-version=v1'];
    return startTestCluster({ flags: [...flags, '--authorization-mode=AlwaysAllow', '--anonymous-auth=false'] });
  };
  const start = () =>
    startJsonService((_, { spec }) => {
      const { token } = spec as { token: string };
      const status = token.startsWith('good') ? { authenticated: true, user: { username: token } } : { authenticated: false };
      return { body: { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1', status } };
    });

  it('authenticates known users, also under load', async () => {
    await using service = await start();
    await using cluster = await startAsking(service);
    expect(new Set(await statusesOf(cluster, (i) => `good-${i}`, 100))).toEqual(only(200));
    expect(new Set(await statusesOf(cluster, (i) => `bad-${i}`, 100))).toEqual(only(401));
  });

  it.each([
    { fault: 'refuses', answer: { status: 403, body: {} } },
    { fault: 'answers nonsense', answer: { body: { status: 'yes' } } },
    { fault: 'redirects (CVE-2020-8561)', answer: { status: 302, body: { status: { authenticated: true, user: { username: 'x' } } } } },
    {
      fault: 'answers with more than 3 MiB',
      answer: { body: { status: { authenticated: true, user: { username: 'x' } }, rest: tooLong } },
    },
  ])('that $fault authenticates no user, and works again once it recovers', async ({ answer }) => {
    await using service = await start();
    const good = works(service);
    await using cluster = await startAsking(service);
    service.answer = () => answer;
    expect(new Set(await statusesOf(cluster, (i) => `good-a${i}`, 20))).toEqual(only(401));
    service.answer = good;
    expect(new Set(await statusesOf(cluster, (i) => `good-b${i}`, 20))).toEqual(only(200));
  });

  it('that fails temporarily is retried', async () => {
    await using service = await start();
    const good = works(service);
    await using cluster = await startAsking(service);
    let failures = 0;
    service.answer = (path, body) => (failures++ < 10 ? { status: 503, body: {} } : good(path, body));
    expect(new Set(await statusesOf(cluster, (i) => `good-${i}`, 10))).toEqual(only(200));
  });
});

describe('an authorization webhook', () => {
  const start = () =>
    startJsonService((_, { spec }) => {
      const { user } = spec as { user: string };
      return { body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', status: { allowed: user === 'jane' } } };
    });
  const startAsking = async (service: JsonService): Promise<TestCluster> => {
    await writeFile(file('webhook.json'), kubeconfigOf(service.url));
    const configuration = {
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AuthorizationConfiguration',
      authorizers: [
        {
          type: 'Webhook',
          name: 'asked',
          webhook: {
            ...{ timeout: '1s', subjectAccessReviewVersion: 'v1', matchConditionSubjectAccessReviewVersion: 'v1', failurePolicy: 'Deny' },
            ...{ authorizedTTL: '1ms', unauthorizedTTL: '1ms' },
            connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: file('webhook.json') },
          },
        },
      ],
    };
    await writeFile(file('authorization.json'), JSON.stringify(configuration));
    return startTestCluster({
      flags: [`--authorization-config=${file('authorization.json')}`],
      users: [{ name: 'jane' }, { name: 'bob' }],
    });
  };
  const statuses = async (cluster: TestCluster, as: string, prefix: string): Promise<Set<number>> =>
    new Set(await Promise.all(Array.from({ length: 20 }, async (_, i) => (await cluster.fetch(list(`${prefix}${i}`), { as })).status)));

  it.each([
    { fault: 'takes too long', answer: undefined },
    { fault: 'refuses', answer: { status: 400, body: {} } },
    { fault: 'answers nonsense', answer: { body: { allowed: true } } },
    { fault: 'redirects (CVE-2020-8561)', answer: { status: 302, body: { status: { allowed: true } } } },
    { fault: 'answers with more than 3 MiB', answer: { body: { status: { allowed: true }, rest: tooLong } } },
  ])('that $fault allows nothing, and decides again once it recovers', { timeout: 60_000 }, async ({ answer }) => {
    await using service = await start();
    const good = works(service);
    await using cluster = await startAsking(service);
    expect([await statuses(cluster, 'jane', 'a'), await statuses(cluster, 'bob', 'a')]).toEqual([only(200), only(403)]);
    service.answer = () => answer;
    expect(await statuses(cluster, 'jane', 'b')).toEqual(only(403));
    service.answer = good;
    expect([await statuses(cluster, 'jane', 'c'), await statuses(cluster, 'bob', 'c')]).toEqual([only(200), only(403)]);
  });
});

it('an unreachable OpenID provider: cached keys still authenticate, other tokens are rejected', async () => {
  const provider = await startOidcProvider();
  await writeFile(file('ca.pem'), provider.certificateAuthority);
  const flags = [`--oidc-issuer-url=${provider.issuer}`, '--oidc-client-id=client', `--oidc-ca-file=${file('ca.pem')}`];
  await using cluster = await startTestCluster({ flags: [...flags, '--authorization-mode=AlwaysAllow', '--anonymous-auth=false'] });
  const token = (sub: string) => provider.token({ sub, aud: 'client' });
  const [first, second] = [await token('a'), await token('b')];
  expect(await statusesOf(cluster, () => first, 1)).toEqual([200]);
  await provider[Symbol.asyncDispose]();
  expect(await statusesOf(cluster, () => second, 1)).toEqual([200]);
  expect(await statusesOf(cluster, () => `${second}x`, 1)).toEqual([401]);
});

it('a failing audit webhook receives its events once it recovers, and requests do not wait for it', { timeout: 60_000 }, async () => {
  const noted: string[] = [];
  await using service = await startJsonService((_, { items }) => {
    noted.push(...(items as { requestURI: string }[]).map(({ requestURI }) => requestURI));
    return { body: {} };
  });
  const good = works(service);
  await writeFile(file('webhook.json'), kubeconfigOf(service.url));
  await writeFile(
    file('policy.yaml'),
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{ level: Metadata, users: [jane] }, { level: None }]\n',
  );
  const flags = [
    ...[`--audit-policy-file=${file('policy.yaml')}`, `--audit-webhook-config-file=${file('webhook.json')}`],
    ...['--audit-webhook-initial-backoff=200ms', '--audit-webhook-batch-max-wait=50ms'],
  ];
  service.answer = () => ({ status: 503, body: {} });
  {
    await using cluster = await startTestCluster({ flags, users: [{ name: 'jane' }] });
    const begin = performance.now();
    await Promise.all(Array.from({ length: 50 }, (_, i) => cluster.fetch(list(`n${i}`), { as: 'jane' })));
    expect(performance.now() - begin).toBeLessThan(5_000);
    await expect.poll(() => service.requests.length).toBeGreaterThan(0);
    service.answer = good;
    await expect.poll(() => new Set(noted).size, { timeout: 20_000 }).toBe(50);
  }
  expect(noted).toHaveLength(50);
});

describe('distributed claims of OpenID', () => {
  it.each([
    { name: 'are taken from the token of the endpoint', elsewhere: { aud: 'client', groups: ['elsewhere'] }, want: ['elsewhere'] },
    { name: 'are not taken from a token for another audience', elsewhere: { aud: 'other', groups: ['elsewhere'] }, want: 401 },
    { name: 'must be present', elsewhere: { aud: 'client' }, want: 401 },
    {
      name: 'are not resolved if the token has the claim',
      own: { groups: ['own'] },
      elsewhere: { aud: 'client', groups: ['x'] },
      want: ['own'],
    },
  ])('$name', async ({ own = {}, elsewhere, want }) => {
    await using provider = await startOidcProvider();
    await using issuer = await startOidcProvider();
    await writeFile(file('ca.pem'), provider.certificateAuthority + issuer.certificateAuthority);
    const flags = [`--oidc-issuer-url=${provider.issuer}`, '--oidc-client-id=client', `--oidc-ca-file=${file('ca.pem')}`];
    await using cluster = await startTestCluster({ flags: [...flags, '--oidc-groups-claim=groups', '--authorization-mode=AlwaysAllow'] });
    const groups = await issuer.token({ sub: 'anybody', ...elsewhere });
    issuer.claimsAt = (path) => (path === '/groups' ? groups : undefined);
    const sources = { src: { endpoint: `${issuer.issuer}/groups`, access_token: 'at' } };
    const token = await provider.token({ sub: 'jane', aud: 'client', ...own, _claim_names: { groups: 'src' }, _claim_sources: sources });
    const answer = await cluster.fetch('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      as: null,
      headers: { authorization: `Bearer ${token}` },
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    });
    const { status } = (await answer.json()) as { status: { userInfo?: { groups: string[] } } };
    expect(answer.status === 201 ? status.userInfo?.groups.filter((group) => !group.startsWith('system:')) : answer.status).toEqual(want);
    expect(issuer.requests.some(({ path }) => path === '/groups')).toBe(!('groups' in own));
  });
});
