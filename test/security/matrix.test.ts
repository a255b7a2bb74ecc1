import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Authority, type KeyPair } from '#cmd/certificates/issue';
import { startTestCluster, type TestCluster } from '#testing/index';
import { type JsonService, kubeconfigOf, type OidcProvider, startJsonService, startOidcProvider } from './services.ts';

/** Credentials of a request: headers and optionally a certificate. */
interface Show {
  readonly headers?: Readonly<Record<string, string>>;
  readonly certificate?: KeyPair;
}

const issuer = 'https://kubernetes.default.svc';
const list = '/api/v1/namespaces/default/configmaps';
const bearer = (token: string): Show => ({ headers: { authorization: `Bearer ${token}` } });
const basic = (text: string): Show => ({ headers: { authorization: `Basic ${Buffer.from(text).toString('base64')}` } });
const remote = { 'x-remote-user': 'proxied', 'x-remote-group': 'g' };

let folder: string;
let authority: Authority;
let proxies: Authority;
let oidc: OidcProvider;
let tokenWebhook: JsonService;
let accessWebhook: JsonService;
let certificates: Readonly<Record<'user' | 'stranger' | 'proxy' | 'otherProxy' | 'server' | 'node', KeyPair>>;
let oidcTokens: Readonly<Record<'good' | 'expired' | 'forged' | 'otherAudience', string>>;

const file = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-matrix-'));
  [authority, proxies, oidc] = await Promise.all([Authority.create('clients'), Authority.create('proxies'), startOidcProvider()]);
  const unrelated = await Authority.create('unrelated');
  certificates = {
    user: await authority.issue({ commonName: 'certified', organizations: ['g'], usages: ['client'] }),
    stranger: await unrelated.issue({ commonName: 'certified', usages: ['client'] }),
    server: await authority.issue({ commonName: 'certified', usages: ['server'] }),
    node: await authority.issue({ commonName: 'system:node:n1', organizations: ['system:nodes'], usages: ['client'] }),
    proxy: await proxies.issue({ commonName: 'front', usages: ['client'] }),
    otherProxy: await proxies.issue({ commonName: 'other', usages: ['client'] }),
  };
  const aud = 'client';
  oidcTokens = {
    good: await oidc.token({ sub: 's', aud, name: 'federated', groups: ['g'] }),
    expired: await oidc.token({ sub: 's', aud, name: 'federated', exp: Math.floor(Date.now() / 1000) - 60 }),
    forged: await oidc.token({ sub: 's', aud, name: 'federated' }, generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey),
    otherAudience: await oidc.token({ sub: 's', aud: 'other', name: 'federated' }),
  };
  tokenWebhook = await startJsonService((_, { spec }) => {
    const { token, audiences } = spec as { token: string; audiences: string[] };
    const status =
      token === 'hooked-token' ? { authenticated: true, user: { username: 'hooked', groups: ['g'] }, audiences } : { authenticated: false };
    return { body: { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1', status } };
  });
  accessWebhook = await startJsonService((_, { spec }) => {
    const { user, resourceAttributes } = spec as { user: string; resourceAttributes?: { verb: string; resource: string } };
    const allowed = user !== 'system:anonymous' && resourceAttributes?.verb === 'list' && resourceAttributes.resource === 'configmaps';
    return { body: { kind: 'SubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', status: { allowed } } };
  });
  const serviceAccountKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
  await Promise.all([
    writeFile(file('ca.pem'), authority.pair.cert),
    writeFile(file('proxies.pem'), proxies.pair.cert),
    writeFile(file('tokens.csv'), 'static-token,static,uid,"g"\n'),
    writeFile(file('passwords.csv'), 'secret,known,uid,"g"\n'),
    writeFile(file('sa.key'), serviceAccountKey),
    writeFile(file('oidc.pem'), oidc.certificateAuthority),
    writeFile(file('token-webhook.json'), kubeconfigOf(tokenWebhook.url)),
    writeFile(file('access-webhook.json'), kubeconfigOf(accessWebhook.url)),
    writeFile(
      file('policy.jsonl'),
      ['g', 'system:serviceaccounts', 'system:bootstrappers', 'system:authenticated']
        .map((group) => ({ group, resource: 'configmaps', namespace: 'default', readonly: true }))
        .map((spec) => JSON.stringify({ apiVersion: 'abac.authorization.kubernetes.io/v1beta1', kind: 'Policy', spec }))
        .join('\n'),
    ),
  ]);
});
afterAll(async () => {
  await Promise.all([oidc, tokenWebhook, accessWebhook].map((service) => service[Symbol.asyncDispose]()));
  await rm(folder, { recursive: true });
});

const everyAuthenticator = (): string[] => [
  `--client-ca-file=${file('ca.pem')}`,
  `--requestheader-client-ca-file=${file('proxies.pem')}`,
  '--requestheader-allowed-names=front',
  '--requestheader-username-headers=X-Remote-User',
  '--requestheader-group-headers=X-Remote-Group',
  '--requestheader-extra-headers-prefix=X-Remote-Extra-',
  `--token-auth-file=${file('tokens.csv')}`,
  `--basic-auth-file=${file('passwords.csv')}`,
  `--service-account-key-file=${file('sa.key')}`,
  `--service-account-signing-key-file=${file('sa.key')}`,
  `--service-account-issuer=${issuer}`,
  '--enable-bootstrap-token-auth',
  `--oidc-issuer-url=${oidc.issuer}`,
  '--oidc-client-id=client',
  `--oidc-ca-file=${file('oidc.pem')}`,
  '--oidc-username-claim=name',
  '--oidc-username-prefix=-',
  '--oidc-groups-claim=groups',
  `--authentication-token-webhook-config-file=${file('token-webhook.json')}`,
  '--authentication-token-webhook-version=v1',
  '--disable-admission-plugins=ServiceAccount',
];

const bootstrapSecret = {
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'bootstrap.kubernetes.io/token',
  metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
  stringData: { 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true' },
};

const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } };

/** All valid credentials with their `user`. */
const known = (account: string): readonly { name: string; show: Show; user: string }[] => [
  { name: 'a static token', show: bearer('static-token'), user: 'static' },
  { name: 'a password', show: basic('known:secret'), user: 'known' },
  { name: 'a certificate', show: { certificate: certificates.user }, user: 'certified' },
  { name: 'a service account', show: bearer(account), user: 'system:serviceaccount:default:robot' },
  { name: 'a bootstrap token', show: bearer('abcdef.0123456789abcdef'), user: 'system:bootstrap:abcdef' },
  { name: 'an ID token', show: bearer(oidcTokens.good), user: 'federated' },
  { name: 'a token for the webhook', show: bearer('hooked-token'), user: 'hooked' },
  { name: 'a node certificate', show: { certificate: certificates.node }, user: 'system:node:n1' },
  { name: 'a front proxy', show: { certificate: certificates.proxy, headers: remote }, user: 'proxied' },
  { name: 'nothing', show: {}, user: 'system:anonymous' },
  { name: 'headers of a front proxy without its certificate', show: { headers: remote }, user: 'system:anonymous' },
  { name: 'an empty bearer token', show: bearer(' static-token'), user: 'system:anonymous' },
];

/** All invalid credentials, which must be rejected and never count as anonymous. */
const wrong = (account: string): readonly { name: string; show: Show }[] => [
  { name: 'an unknown token', show: bearer('nope') },
  { name: 'a wrong password', show: basic('known:nope') },
  { name: '"another user\'s password', show: basic('other:secret') },
  { name: 'a certificate of an unrelated CA (CVE-2016-7075)', show: { certificate: certificates.stranger } },
  { name: 'a server certificate (CVE-2016-7075)', show: { certificate: certificates.server } },
  { name: 'a modified service account token', show: bearer(`${account.slice(0, -8)}AAAAAAAA`) },
  { name: 'a token without a signature', show: bearer(`${account.split('.').slice(0, 2).join('.')}.`) },
  {
    name: 'a token with the algorithm none',
    show: bearer(`${Buffer.from('{"alg":"none"}').toString('base64url')}.${account.split('.')[1]}.`),
  },
  { name: 'a bootstrap token with another secret', show: bearer('abcdef.ffffffffffffffff') },
  { name: 'an expired ID token', show: bearer(oidcTokens.expired) },
  { name: 'an ID token signed by another key', show: bearer(oidcTokens.forged) },
  { name: 'an ID token for another client', show: bearer(oidcTokens.otherAudience) },
  { name: 'a front proxy with a disallowed name', show: { certificate: certificates.otherProxy, headers: remote } },
];

interface AuthorizerRow {
  readonly name: string;
  readonly flags: () => readonly string[];
  /** Returns true for a user who is rejected with 401. Default: none. */
  readonly refuses?: (user: string) => boolean;
  /** Returns true if the user can list config maps. */
  readonly allows: (user: string) => boolean;
  /** Returns true if the user can also do so while impersonating the resources. */
  readonly impersonates: (user: string, resources: readonly string[]) => boolean;
  /** True if a node can read its own object. */
  readonly knowsNodes: boolean;
}

/** Impersonated users and the resources that require permission. */
const impersonations: readonly { name: string; headers: Readonly<Record<string, string>>; resources: readonly string[] }[] = [
  { name: 'a user', headers: { 'impersonate-user': 'somebody' }, resources: ['users'] },
  {
    name: 'a user with a group',
    headers: { 'impersonate-user': 'somebody', 'impersonate-group': 'other' },
    resources: ['users', 'groups'],
  },
  { name: 'a user with a uid', headers: { 'impersonate-user': 'somebody', 'impersonate-uid': '1' }, resources: ['users', 'uids'] },
  {
    name: 'a user with an extra field',
    headers: { 'impersonate-user': 'somebody', 'impersonate-extra-scopes': 'view' },
    resources: ['users', 'userextras'],
  },
  {
    name: 'a service account',
    headers: { 'impersonate-user': 'system:serviceaccount:default:robot' },
    resources: ['serviceaccounts'],
  },
];

const stranger = (user: string): boolean => user === 'system:anonymous';
const authorizers: readonly AuthorizerRow[] = [
  {
    name: 'AlwaysAllow',
    flags: () => ['--authorization-mode=AlwaysAllow'],
    // Anonymous access is disabled with AlwaysAllow.
    refuses: stranger,
    allows: () => true,
    impersonates: () => true,
    knowsNodes: true,
  },
  {
    name: 'AlwaysDeny',
    flags: () => ['--authorization-mode=AlwaysDeny'],
    allows: () => false,
    impersonates: () => false,
    knowsNodes: false,
  },
  { name: 'Node', flags: () => ['--authorization-mode=Node'], allows: () => false, impersonates: () => false, knowsNodes: true },
  {
    name: 'RBAC',
    flags: () => ['--authorization-mode=Node,RBAC'],
    allows: (user) => !stranger(user),
    impersonates: (user, resources) => user === 'static' && resources.every((resource) => resource === 'users'),
    knowsNodes: true,
  },
  {
    name: 'ABAC',
    flags: () => ['--authorization-mode=ABAC', `--authorization-policy-file=${file('policy.jsonl')}`],
    allows: (user) => !stranger(user),
    impersonates: () => false,
    knowsNodes: false,
  },
  {
    name: 'Webhook',
    flags: () => [
      '--authorization-mode=Webhook',
      '--authorization-webhook-version=v1',
      `--authorization-webhook-config-file=${file('access-webhook.json')}`,
    ],
    allows: (user) => !stranger(user),
    impersonates: () => false,
    knowsNodes: false,
  },
];

const rbac = 'rbac.authorization.k8s.io';
const rules = [
  {
    name: 'readers',
    rule: { apiGroups: [''], resources: ['configmaps'], verbs: ['list'] },
    subject: { kind: 'Group', name: 'system:authenticated' },
  },
  {
    name: 'impersonators',
    rule: { apiGroups: [''], resources: ['users'], verbs: ['impersonate'] },
    subject: { kind: 'User', name: 'static' },
  },
].flatMap(({ name, rule, subject }) => [
  { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name }, rules: [rule] },
  {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
    subjects: [{ apiGroup: rbac, ...subject }],
  },
]);

interface Answer {
  readonly status: number;
  readonly body: string;
}

function ask(
  { url, certificateAuthority }: TestCluster,
  path: string,
  { headers = {}, certificate }: Show,
  more: object = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = https.request(
      new URL(path, url),
      {
        headers: { ...headers, ...more },
        agent: false,
        ...(certificateAuthority !== undefined && { ca: certificateAuthority }),
        ...(certificate && { cert: certificate.cert, key: certificate.key }),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
      },
    );
    request.on('error', reject);
    request.end();
  });
}

async function accountToken(cluster: TestCluster): Promise<string> {
  const response = await cluster.fetch('/api/v1/namespaces/default/serviceaccounts/robot/token', {
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  });
  return ((await response.json()) as { status: { token: string } }).status.token;
}

describe.each(authorizers)('authorization by $name', ({ flags, refuses = () => false, allows, impersonates, knowsNodes }) => {
  let cluster: TestCluster;
  let account: string;
  beforeAll(async () => {
    cluster = await startTestCluster({
      listen: true,
      flags: [...everyAuthenticator(), ...flags()],
      objects: [
        { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace: 'default' } },
        bootstrapSecret,
        node,
        ...rules,
      ],
    });
    account = await accountToken(cluster);
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  it('authorizes every authenticated user', async () => {
    for (const { name, show, user } of known(account)) {
      const { status, body } = await ask(cluster, list, show);
      expect([name, status], body).toEqual([name, refuses(user) ? 401 : allows(user) ? 200 : 403]);
      if (status === 403) expect(JSON.parse(body)).toMatchObject({ message: expect.stringContaining(`User "${user}" cannot list`) });
    }
  });

  it.each(impersonations)('authorizes impersonation of $name', async ({ headers, resources }) => {
    for (const { name, show, user } of known(account)) {
      const { status, body } = await ask(cluster, list, show, headers);
      expect([name, status], body).toEqual([name, refuses(user) ? 401 : impersonates(user, resources) ? 200 : 403]);
    }
  });

  it("authorizes a node's request for itself", async () => {
    const { status, body } = await ask(cluster, '/api/v1/nodes/n1', { certificate: certificates.node });
    expect(status, body).toBe(knowsNodes ? 200 : 403);
  });

  it('rejects all invalid credentials without giving a reason', async () => {
    for (const { name, show } of wrong(account)) {
      const { status, body } = await ask(cluster, list, show);
      expect([name, status], body).toEqual([name, 401]);
      expect(JSON.parse(body)).toMatchObject({ message: 'Unauthorized' });
    }
  });
});

describe('failing services', () => {
  it('an unreachable authorization webhook allows nothing and is called again', async () => {
    await using service = await startJsonService(() => ({ status: 503, body: {} }));
    await writeFile(file('failing.json'), kubeconfigOf(service.url));
    await using cluster = await startTestCluster({
      users: [{ name: 'jane' }],
      flags: ['--authorization-mode=Webhook', `--authorization-webhook-config-file=${file('failing.json')}`],
    });
    expect((await cluster.fetch(list, { as: 'jane' })).status).toBe(403);
    expect(service.requests.length).toBe(5);
    service.answer = () => ({ body: { status: { allowed: true } } });
    expect((await cluster.fetch(list, { as: 'jane' })).status).toBe(200);
  });

  it('an unreachable token webhook rejects its tokens; other authenticators are unaffected', async () => {
    await using service = await startJsonService(() => ({ status: 400, body: {} }));
    await writeFile(file('failing.json'), kubeconfigOf(service.url));
    await using cluster = await startTestCluster({ flags: [`--authentication-token-webhook-config-file=${file('failing.json')}`] });
    const asked = (token: string) => cluster.fetch('/api', { as: null, headers: { authorization: `Bearer ${token}` } });
    expect([(await asked('x')).status, (await asked(cluster.token('admin'))).status]).toEqual([401, 200]);
    service.answer = () => ({ body: { status: { authenticated: true, user: { username: 'x' }, audiences: [issuer] } } });
    expect((await asked('x')).status).toBe(200);
  });
});

describe('configuration files', () => {
  it('an AuthenticationConfiguration maps and validates claims by CEL', async () => {
    await writeFile(
      file('authentication.yaml'),
      JSON.stringify({
        apiVersion: 'apiserver.config.k8s.io/v1',
        kind: 'AuthenticationConfiguration',
        anonymous: { enabled: true, conditions: [{ path: '/healthz' }] },
        jwt: [
          {
            issuer: { url: oidc.issuer, audiences: ['client'], certificateAuthority: oidc.certificateAuthority },
            claimValidationRules: [{ expression: 'claims.tier in ["gold", "silver"]', message: 'no tier' }],
            claimMappings: {
              username: { expression: '"oidc:" + claims.name' },
              groups: { expression: 'claims.roles.split(",")' },
              uid: { claim: 'sub' },
              extra: [{ key: 'example.com/tier', valueExpression: 'claims.tier' }],
            },
            userValidationRules: [{ expression: '!user.groups.exists(g, g.startsWith("system:"))', message: 'system groups are reserved' }],
          },
        ],
      }),
    );
    await using cluster = await startTestCluster({
      flags: [`--authentication-config=${file('authentication.yaml')}`, '--authorization-mode=AlwaysAllow'],
    });
    const whoami = async (claims: object): Promise<unknown> => {
      const token = await oidc.token({ sub: 'u1', aud: 'client', name: 'jo', roles: 'a,b', tier: 'gold', ...claims });
      const response = await cluster.fetch('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
        as: null,
        headers: { authorization: `Bearer ${token}` },
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      });
      return response.status === 201 ? ((await response.json()) as { status: { userInfo: unknown } }).status.userInfo : response.status;
    };
    expect(await whoami({})).toEqual({
      username: 'oidc:jo',
      uid: 'u1',
      groups: ['a', 'b', 'system:authenticated'],
      extra: { 'example.com/tier': ['gold'] },
    });
    expect(await whoami({ tier: 'tin' })).toBe(401);
    expect(await whoami({ roles: 'system:masters' })).toBe(401);
    expect((await cluster.fetch('/healthz', { as: null })).status).toBe(200);
    expect((await cluster.fetch('/version', { as: null })).status).toBe(401);
  });

  it('an AuthorizationConfiguration calls webhooks only for requests that match their conditions', async () => {
    const webhook = {
      timeout: '1s',
      subjectAccessReviewVersion: 'v1',
      matchConditionSubjectAccessReviewVersion: 'v1',
      failurePolicy: 'Deny',
      connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: file('access-webhook.json') },
      matchConditions: [{ expression: 'has(request.resourceAttributes) && request.resourceAttributes.namespace == "default"' }],
    };
    await writeFile(
      file('authorization.yaml'),
      JSON.stringify({
        apiVersion: 'apiserver.config.k8s.io/v1',
        kind: 'AuthorizationConfiguration',
        authorizers: [
          { type: 'Webhook', name: 'access', webhook },
          { type: 'RBAC', name: 'rbac' },
        ],
      }),
    );
    await using cluster = await startTestCluster({
      users: [{ name: 'jane' }],
      flags: [`--authorization-config=${file('authorization.yaml')}`],
    });
    const before = accessWebhook.requests.length;
    const statuses = [list, '/api/v1/namespaces/other/configmaps'].map((path) =>
      cluster.fetch(path, { as: 'jane' }).then(({ status }) => status),
    );
    expect(await Promise.all(statuses)).toEqual([200, 403]);
    expect(accessWebhook.requests.length).toBe(before + 1);
  });
});
